// Interning stores: each distinct structural value once, named by a 4-byte id.
//
// Thread-safe; one of each per Context, shared by all sessions. Records are immutable, keep their
// address and live as long as the store. Intern of a known record costs one hash and no lock, of a
// new one the lock of a shard; Get takes no lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "ir/attrs.h"
#include "ir/ids.h"
#include "ir/meta.h"

namespace tare {

struct StoreStats {
  int64_t entries = 0, bytes = 0, hits = 0, misses = 0;
};

// Interned strings: names, paths, texts. The view returned lives as long as the pool.
class StringPool {
 public:
  StringPool();
  ~StringPool();
  std::string_view Intern(std::string_view text);
  // Copies (does not deduplicate) lists that strings or attributes point into.
  std::span<const int64_t> Copy(std::span<const int64_t> values);
  std::span<const AttrValue> Copy(std::span<const AttrValue> values);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A list in normal form: kInts when all items are constant ints (an empty list too), else kList.
AttrValue MakeList(StringPool& pool, std::span<const AttrValue> items);

class MetaStore {
 public:
  MetaStore();
  ~MetaStore();
  MetaId Intern(const Meta& meta);  // spans are copied
  const Meta& Get(MetaId id) const;

  MetaId Tensor(const TensorMeta& tensor);
  MetaId Tuple(std::span<const MetaId> items);
  MetaId List(std::span<const MetaId> items);
  MetaId Int(Dim value);
  MetaId Float(ExprId expr);
  MetaId Bool(ExprId expr);
  MetaId String(std::string_view text);
  MetaId None() const;   // index 0
  MetaId Token() const;  // index 1
  StoreStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class AttrsStore {
 public:
  AttrsStore();
  ~AttrsStore();
  AttrsId Intern(std::span<const NamedAttr> attrs);  // everything pointed to is copied
  std::span<const NamedAttr> Get(AttrsId id) const;
  AttrsId Empty() const;  // index 0
  StoreStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Affine quantisation of one value: real = scale[c] * (q - zero_point[c]).
struct QuantParams {
  DType storage = DType::kI8;
  int32_t axis = -1;                     // -1 = per tensor
  std::span<const double> scales;        // one, or one per channel
  std::span<const int64_t> zero_points;  // same length
  int64_t qmin = 0, qmax = 0;
};
// Quantisation of a node: one entry per operand (storage kBool = not quantised) and one for the result.
struct QuantRecord {
  std::span<const QuantParams> operands;
  QuantParams result;
  bool has_result = false;
};

class QuantStore {
 public:
  QuantStore();
  ~QuantStore();
  QuantId Intern(const QuantRecord& record);
  const QuantRecord& Get(QuantId id) const;
  StoreStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare
