// Schemas of operators, in the notation of torch: `(Tensor self, int dim, *, Scalar alpha=1) -> Tensor`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attrs.h"

namespace tare {

enum class SchemaType : uint8_t {
  kTensor,
  kInt,
  kSymInt,
  kFloat,
  kBool,
  kScalar,
  kString,
  kDType,
  kMemoryFormat,
  kLayout,
  kDevice,
  kGenerator,
  kAny,
  kGraph,
};

// A formal argument or a return. `Tensor?[]` has list and element_optional; `int[2]?` has
// list_size 2, list and optional; a bare int given to `int[2]` fills the list.
struct SchemaArg {
  std::string name;
  SchemaType type = SchemaType::kTensor;
  bool list = false;
  bool optional = false;          // T? or T[]?
  bool element_optional = false;  // T?[]
  bool keyword_only = false;
  bool writes = false;  // Tensor(a!)
  char alias = 0;       // 'a' of Tensor(a); 0 = none
  int list_size = -1;   // T[n]
  bool has_default = false;
  AttrValue default_value;  // its text and lists live in the StringPool
};

struct Schema {
  std::vector<SchemaArg> args;
  std::vector<SchemaArg> returns;
  bool variadic = false;                     // `...`: any further arguments (higher-order ops)
  int IndexOf(std::string_view name) const;  // -1 = none
};

// True where golden lines write the argument positionally: Tensor, Tensor?, Tensor[], Tensor?[].
bool IsTensorLike(const SchemaArg& arg);

// Parses one schema; names interned strings into `pool` which must outlive the schema.
// Errors: InvalidArgument [schema_c1] with the column.
absl::StatusOr<Schema> ParseSchema(std::string_view text, class StringPool& pool);
std::string Print(const Schema& schema);

}  // namespace tare
