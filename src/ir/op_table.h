// Names, schemas and traits of operators. Rules are `meta`'s; the IR needs names to print,
// schemas to order arguments and traits to keep order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/ids.h"
#include "ir/schema.h"
#include "ir/stores.h"

namespace tare {

enum OpTrait : uint16_t {
  kPure = 1,           // no effect; may be merged, moved, erased
  kView = 2,           // the result aliases an operand
  kMutates = 4,        // writes an operand's storage; never erased, merged or moved
  kMintsSymbols = 8,   // data-dependent result; not memoised
  kReadsValues = 16,   // the rule may read constant operands
  kReadsQuant = 32,    // the rule reads the quantisation column
  kEffect = 64,        // kept although unused: asserts, prints, tokens
  kRandom = 128,       // pure but not to be merged
  kHigherOrder = 256,  // has graph arguments
  kDeclared = 512,     // no rule: metadata is what the file states
  kPseudo = 1024,      // placeholder, output, getitem, constant
};

struct OpDef {
  std::string_view name;         // "aten.add.Tensor"
  std::string_view schema_text;  // "" = no schema: arguments keep their names and order
  uint16_t traits = 0;
  int32_t rule = -1;  // index of the rule set's rule; -1 = none
  std::string_view doc;
  std::string_view source;
};

// Pseudo-ops known to the IR itself, at fixed indices.
namespace op {
inline constexpr Op placeholder{0};  // () an input; its metadata is given
inline constexpr Op output{1};       // (args=[..]) last node: operands and constants returned; its metadata is none
inline constexpr Op getitem{2};      // (self=$0, index=k) element of a tuple or list
inline constexpr Op constant{3};     // (const=k) value of Program::constants[k]
}  // namespace op
inline constexpr int kNumPseudoOps = 4;
inline constexpr size_t kMaxOps = UINT16_MAX - 1;  // of one table; the last index marks erased nodes

std::span<const OpDef> PseudoOps();  // the first rows of every builtin table

// Append-only; thread-safe. Ops 0 … builtin_count()-1 come from the generated table in a fixed
// order; ops of `--ops` files and unknown ops of programs follow.
class OpTable {
 public:
  explicit OpTable(std::span<const OpDef> builtin, StringPool& pool);
  ~OpTable();

  Op Find(std::string_view name) const;  // no value when unknown
  // Adds an op; returns the one there is when name and schema are the same.
  // Errors: AlreadyExists [op_c1] when the schema differs.
  absl::StatusOr<Op> Add(const OpDef& def);
  // Finds `name` or adds it as a declared op without schema. No value when the table is full.
  Op FindOrDeclare(std::string_view name);

  const OpDef& Get(Op op) const;
  std::string_view Name(Op op) const { return Get(op).name; }
  bool Has(Op op, OpTrait trait) const { return (Get(op).traits & trait) != 0; }
  // Parsed on first use and kept. Null when the op has none.
  const Schema* schema(Op op) const;
  int size() const;
  int builtin_count() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare
