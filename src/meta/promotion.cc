// Type promotion: how dtypes of tensors and numbers join, and what element-wise ops make of it.
#include <algorithm>
#include <array>
#include <optional>

#include "meta/functions.h"
#include "meta/rule_args.h"

namespace tare {
namespace {

// Level of a dtype in the order of promotion; two of one level join at the next one. -1 = no place.
int Level(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return 0;
    case DType::kU8:
    case DType::kI8:
      return 1;
    case DType::kI16:
      return 2;
    case DType::kI32:
      return 3;
    case DType::kI64:
      return 4;
    case DType::kF16:
    case DType::kBF16:
      return 5;
    case DType::kF32:
      return 6;
    case DType::kF64:
      return 7;
    case DType::kC32:
      return 8;
    case DType::kC64:
      return 9;
    case DType::kC128:
      return 10;
    default:
      return -1;
  }
}

std::optional<DTypeCategory> CategoryOfOperand(const Value& operand) {
  switch (operand.kind) {
    case ValueKind::kTensor:
      return CategoryOf(operand.tensor->dtype);
    case ValueKind::kDType:
      return CategoryOf(operand.dtype);
    case ValueKind::kBool:
    case ValueKind::kSymBool:
      return DTypeCategory::kBool;
    case ValueKind::kInt:
    case ValueKind::kInts:
      return DTypeCategory::kInteger;
    case ValueKind::kFloat:
    case ValueKind::kSymFloat:
      return DTypeCategory::kFloating;
    case ValueKind::kComplex:
      return DTypeCategory::kComplex;
    default:
      return std::nullopt;
  }
}

// A list of a rule's operands: `[self, other]`, or an argument that is a list of tensors. A list of
// whole numbers counts as one of them.
std::span<const Value> Operands(const Value& list) {
  if (list.kind == ValueKind::kList || list.kind == ValueKind::kTuple) return list.items();
  return {&list, 1};
}

absl::StatusOr<PromotionKind> KindByName(std::string_view name) {
  static constexpr std::pair<std::string_view, PromotionKind> kKinds[] = {
      {"default", PromotionKind::kDefault},
      {"int_to_float", PromotionKind::kIntToFloat},
      {"bool", PromotionKind::kAlwaysBool},
      {"complex_to_float", PromotionKind::kComplexToFloat},
      {"bool_to_long", PromotionKind::kBoolToLong}};
  for (const auto& [text, kind] : kKinds) {
    if (text == name) return kind;
  }
  return InvalidError("promote_c2", "no promotion kind is called '", name, "'");
}

absl::StatusOr<Value> PromoteFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::string_view name = args.Text(0);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const PromotionKind kind, KindByName(name));
  TARE_ASSIGN_OR_RETURN(const DType dtype, Promote(rc, kind, Operands(args.Any(1))));
  return Value::OfDType(dtype);
}

absl::StatusOr<Value> ResultTypeFunction(RuleContext& rc, std::span<const Value> values) {
  const bool is_list = values.size() == 1;
  TARE_ASSIGN_OR_RETURN(const DType dtype, ResultType(rc, is_list ? Operands(values[0]) : values));
  return Value::OfDType(dtype);
}

// Reductions that accumulate: bool and integers in i64.
absl::StatusOr<Value> AccumulateFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  TARE_RETURN_IF_ERROR(args.status());
  const bool exact = dtype == DType::kBool || IsInteger(dtype);
  return Value::OfDType(exact ? DType::kI64 : dtype);
}

absl::StatusOr<Value> RealFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::OfDType(ToReal(dtype));
}

absl::StatusOr<Value> ComplexFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::OfDType(ToComplex(rc, dtype));
}

// The computed type of half precision sums.
absl::StatusOr<Value> OpmathFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  TARE_RETURN_IF_ERROR(args.status());
  const bool half = dtype == DType::kF16 || dtype == DType::kBF16;
  return Value::OfDType(half ? DType::kF32 : dtype == DType::kC32 ? DType::kC64 : dtype);
}

absl::StatusOr<Value> CanCastFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType from = args.Type(0);
  const DType to = args.Type(1);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Bool(CanCast(from, to));
}

template <DTypeCategory kCategory>
absl::StatusOr<Value> CategoryFunction(RuleContext& rc, std::span<const Value> values) {
  const std::optional<DTypeCategory> category = CategoryOfOperand(values[0]);
  if (!category) {
    return InvalidError("promote_c3", rc.Print(values[0]), " is neither a dtype, a tensor nor a number");
  }
  return Value::Bool(*category == kCategory);
}

absl::StatusOr<Value> DefaultDTypeFunction(RuleContext& rc, std::span<const Value>) {
  return Value::OfDType(rc.default_dtype());
}

constexpr RuleFunctionRow kRows[] = {
    {"promote", "promote(kind, operands) -> dtype",
     "Result dtype of an elementwise op over tensors and numbers; kind is default, int_to_float, bool, "
     "complex_to_float or bool_to_long.",
     2, 2, PromoteFunction},
    {"result_type", "result_type(operand, …) -> dtype",
     "Common dtype of tensors and numbers, given singly or as a list; of one number: its own.", 1, -1,
     ResultTypeFunction},
    {"accumulate", "accumulate(dtype) -> dtype", "i64 for bool and integers, else the dtype itself.", 1, 1,
     AccumulateFunction},
    {"to_real", "to_real(dtype) -> dtype", "The real dtype of a complex one; others unchanged.", 1, 1, RealFunction},
    {"to_complex", "to_complex(dtype) -> dtype", "The complex dtype of a real one.", 1, 1, ComplexFunction},
    {"opmath", "opmath(dtype) -> dtype", "The dtype half precision is computed in.", 1, 1, OpmathFunction},
    {"can_cast", "can_cast(from, to) -> bool", "A result of one dtype may be written into the other.", 2, 2,
     CanCastFunction},
    {"is_bool", "is_bool(x) -> bool", "The dtype, tensor or number is boolean.", 1, 1,
     CategoryFunction<DTypeCategory::kBool>},
    {"is_integer", "is_integer(x) -> bool", "The dtype, tensor or number is an integer and not a bool.", 1, 1,
     CategoryFunction<DTypeCategory::kInteger>},
    {"is_floating", "is_floating(x) -> bool", "The dtype, tensor or number is real floating point.", 1, 1,
     CategoryFunction<DTypeCategory::kFloating>},
    {"is_complex", "is_complex(x) -> bool", "The dtype, tensor or number is complex.", 1, 1,
     CategoryFunction<DTypeCategory::kComplex>},
    {"default_dtype", "default_dtype() -> dtype", "The default floating dtype.", 0, 0, DefaultDTypeFunction},
};

}  // namespace

absl::StatusOr<DType> JoinDTypes(DType a, DType b) {
  static constexpr std::array kByLevel = {DType::kBool, DType::kU8,  DType::kI16, DType::kI32, DType::kI64, DType::kF16,
                                          DType::kF32,  DType::kF64, DType::kC32, DType::kC64, DType::kC128};
  if (a == b) return a;
  const int level_a = Level(a), level_b = Level(b);
  if (level_a < 0 && level_b < 0) {
    return InvalidError("promote_c1", "dtypes ", Name(a), " and ", Name(b), " have no common dtype");
  }
  if (level_a < 0) return a;
  if (level_b < 0) return b;
  if (level_a == level_b) return kByLevel[level_a + 1];
  return level_a < level_b ? b : a;
}

DType ToReal(DType dtype) {
  switch (dtype) {
    case DType::kC32:
      return DType::kF16;
    case DType::kC64:
      return DType::kF32;
    case DType::kC128:
      return DType::kF64;
    default:
      return dtype;
  }
}

DType ToComplex(RuleContext& rc, DType dtype) {
  if (IsComplex(dtype)) return dtype;
  switch (IsFloating(dtype) ? dtype : rc.default_dtype()) {
    case DType::kF16:
      return DType::kC32;
    case DType::kF64:
      return DType::kC128;
    default:
      return DType::kC64;
  }
}

bool CanCast(DType from, DType to) { return CategoryOf(from) <= CategoryOf(to); }

absl::StatusOr<DType> ResultType(RuleContext& rc, std::span<const Value> operands) {
  DTypeCategory highest = DTypeCategory::kBool;
  for (const Value& operand : operands) {
    const std::optional<DTypeCategory> category = CategoryOfOperand(operand);
    if (!category && !operand.is_none()) {
      return InvalidError("rule_args_c1", "expected tensors, dtypes or numbers, found ", rc.Print(operand));
    }
    if (category) highest = std::max(highest, *category);
  }
  if (highest == DTypeCategory::kBool) return DType::kBool;
  std::optional<DType> with_dims, without_dims;
  for (const Value& operand : operands) {
    DType dtype;
    bool has_dims = true;
    if (operand.kind == ValueKind::kTensor) {
      dtype = operand.tensor->dtype;
      has_dims = !operand.tensor->shape.empty();
    } else if (operand.kind == ValueKind::kDType) {
      dtype = operand.dtype;
    } else {
      continue;
    }
    if (highest == DTypeCategory::kComplex && IsFloating(dtype)) dtype = ToComplex(rc, dtype);
    if (CategoryOf(dtype) != highest) continue;
    std::optional<DType>& best = has_dims ? with_dims : without_dims;
    if (best) {
      TARE_ASSIGN_OR_RETURN(best, JoinDTypes(*best, dtype));
    } else {
      best = dtype;
    }
  }
  if (with_dims) return *with_dims;
  if (without_dims) return *without_dims;
  switch (highest) {
    case DTypeCategory::kComplex:
      return ToComplex(rc, rc.default_dtype());
    case DTypeCategory::kFloating:
      return rc.default_dtype();
    default:
      return DType::kI64;
  }
}

absl::StatusOr<DType> Promote(RuleContext& rc, PromotionKind kind, std::span<const Value> operands) {
  TARE_ASSIGN_OR_RETURN(const DType common, ResultType(rc, operands));
  switch (kind) {
    case PromotionKind::kDefault:
      return common;
    case PromotionKind::kAlwaysBool:
      return DType::kBool;
    case PromotionKind::kComplexToFloat:
      return ToReal(common);
    case PromotionKind::kBoolToLong:
      return common == DType::kBool ? DType::kI64 : common;
    case PromotionKind::kIntToFloat:
      return common == DType::kBool || IsInteger(common) ? rc.default_dtype() : common;
  }
  return common;
}

std::span<const RuleFunctionRow> PromotionFunctions() { return kRows; }

}  // namespace tare
