// Calls made of bytes: every byte chooses among what the op's schema allows, so that small changes of
// the bytes are small changes of the call, and any bytes are some call.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "ir/notation.h"

namespace tare {

// One byte after the other; zeros after the end.
class ByteSource {
 public:
  explicit ByteSource(std::string_view bytes) : bytes_(bytes) {}
  uint32_t Next() { return at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_++]) : 0; }
  uint32_t Below(size_t bound) { return Next() % static_cast<uint32_t>(bound); }
  bool OneIn(uint32_t n) { return Next() % n == n - 1; }  // false at the end
  template <typename T, size_t kCount>
  const T& Of(const T (&table)[kCount]) {
    return table[Below(kCount)];
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

// The symbols of generated calls: backed ones with hints, and an unbacked one.
struct CallSymbols {
  explicit CallSymbols(SymStore& syms);
  std::vector<ExprId> symbols;
  std::vector<std::vector<int64_t>> samples;  // values of all symbols, within their ranges
};

// Makes calls of the ops that have rules.
class CallGrammar {
 public:
  CallGrammar(Context& context, const CallSymbols& symbols);
  const std::vector<Op>& ops() const { return ops_; }
  // A call in normal form, or the reason why the arguments do not fit the schema.
  absl::StatusOr<Call> Make(ByteSource& bytes);

 private:
  void BeginCall(ByteSource& bytes);
  Dim Extent(ByteSource& bytes);
  std::vector<Dim> Shape(ByteSource& bytes);
  MetaId Tensor(ByteSource& bytes);
  AttrValue Operand(MetaId meta);
  AttrValue Number(ByteSource& bytes, bool symbolic);
  AttrValue One(const SchemaArg& arg, ByteSource& bytes);
  AttrValue List(const SchemaArg& arg, ByteSource& bytes);
  AttrValue Of(const SchemaArg& arg, ByteSource& bytes);

  Context& context_;
  std::vector<Op> ops_;
  std::vector<Dim> extents_;
  // Of the call being made.
  std::vector<MetaId> operands_;
  std::vector<Dim> base_shape_;
  DType base_dtype_ = DType::kF32;
};

}  // namespace tare
