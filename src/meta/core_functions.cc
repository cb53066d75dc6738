// The functions of the language itself: lists, numbers, questions, tensors.
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/rule_args.h"
#include "meta/rule_context.h"
#include "meta/rule_operators.h"
#include "meta/rule_state.h"

namespace tare {
namespace {

using Args = std::span<const Value>;

absl::Status NoList(RuleContext& rc, const Value& value) {
  return InvalidError("rule_args_c1", "expected a list, found ", rc.Print(value));
}

absl::StatusOr<Value> Values(RuleContext& rc, Args args) {
  const Elements* elements = args[0].kind == ValueKind::kTensor ? rc.ElementsOf(args[0].tensor) : nullptr;
  if (elements == nullptr) return Value::None();
  if (!elements->is_real) {
    const std::span<Dim> dims = rc.NewDims(elements->integers.size());
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = rc.syms().Int(elements->integers[i]);
    return Value::Ints(dims);
  }
  const std::span<Value> items = rc.NewValues(elements->reals.size());
  for (size_t i = 0; i < items.size(); ++i) items[i] = Value::Float(elements->reals[i]);
  return Value::List(items);
}

absl::StatusOr<Value> Len(RuleContext& rc, Args args) { return LenOf(rc, args[0]); }
absl::StatusOr<Value> Rank(RuleContext& rc, Args args) { return RankOf(rc, args[0]); }

// The items of one list, or the arguments themselves.
llvm::SmallVector<Value, 8> Operands(Args args) {
  llvm::SmallVector<Value, 8> items;
  if (args.size() == 1 && IsList(args[0])) {
    for (size_t i = 0; i < LengthOf(args[0]); ++i) items.push_back(ItemOf(args[0], i));
  } else {
    items.append(args.begin(), args.end());
  }
  return items;
}

absl::StatusOr<Value> Fold(RuleContext& rc, Args args, RuleOp op, int64_t start) {
  Value total = Value::Int(Dim::Static(start));
  for (const Value& item : Operands(args)) {
    TARE_ASSIGN_OR_RETURN(total, ApplyBinary(rc, op, total, item));
  }
  return total;
}
absl::StatusOr<Value> Sum(RuleContext& rc, Args args) { return Fold(rc, args, RuleOp::kAdd, 0); }
absl::StatusOr<Value> Prod(RuleContext& rc, Args args) { return Fold(rc, args, RuleOp::kMul, 1); }

absl::StatusOr<Value> Extreme(RuleContext& rc, Args args, bool largest) {
  const auto items = Operands(args);
  if (items.empty()) return InvalidError("rule_args_c1", "min or max of nothing");
  Value best = items[0];
  for (const Value& item : std::span(items).subspan(1)) {
    const auto a = AsInt(best), b = AsInt(item);
    if (a && b) {
      best = Value::Int(largest ? rc.syms().Max(*a, *b) : rc.syms().Min(*a, *b));
      continue;
    }
    TARE_ASSIGN_OR_RETURN(const Value less, ApplyBinary(rc, RuleOp::kLt, best, item));
    TARE_ASSIGN_OR_RETURN(const bool item_is_larger, Truth(rc, less));
    if (item_is_larger == largest) best = item;
  }
  return best;
}
absl::StatusOr<Value> Min(RuleContext& rc, Args args) { return Extreme(rc, args, false); }
absl::StatusOr<Value> Max(RuleContext& rc, Args args) { return Extreme(rc, args, true); }

absl::StatusOr<Value> Abs(RuleContext& rc, Args args) {
  if (args[0].kind == ValueKind::kFloat) return Value::Float(std::fabs(args[0].real));
  TARE_ASSIGN_OR_RETURN(const Value negative, ApplyNeg(rc, args[0]));
  const Value both[] = {args[0], negative};
  return Extreme(rc, both, true);
}

absl::StatusOr<Value> CeilDiv(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  const Dim a = args.Int(0), b = args.Int(1);
  TARE_RETURN_IF_ERROR(args.status());
  if (b == 0) return InvalidError("division", "division by zero");
  return Value::Int(rc.syms().CeilDiv(a, b));
}

absl::StatusOr<Value> Pow(RuleContext& rc, Args values) {
  const auto a = AsInt(values[0]), b = AsInt(values[1]);
  if (a && b) {
    const auto exponent = rc.syms().Constant(*b);
    if (!exponent || *exponent >= 0) return Value::Int(rc.syms().Pow(*a, *b));
  }
  RuleArgs args(rc, values);
  const double x = args.Real(0), y = args.Real(1);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Float(std::pow(x, y));
}

absl::StatusOr<Value> Rounded(RuleContext& rc, Args args, double (*round)(double), ExprKind kind) {
  if (const auto dim = AsInt(args[0])) return Value::Int(*dim);
  if (args[0].kind == ValueKind::kSymFloat) {
    const ExprId exprs[] = {args[0].expr};
    return Value::Int(rc.syms().ToDim(rc.syms().Make(kind, exprs)));
  }
  if (args[0].kind != ValueKind::kFloat)
    return InvalidError("rule_args_c1", "expected a number, found ", rc.Print(args[0]));
  const double value = round(args[0].real);
  if (!(value > -9.2e18 && value < 9.2e18)) return InvalidError("overflow", "a number does not fit 64 bits");
  return Value::Int(rc.syms().Int(static_cast<int64_t>(value)));
}
absl::StatusOr<Value> Floor(RuleContext& rc, Args args) { return Rounded(rc, args, std::floor, ExprKind::kFloor); }
absl::StatusOr<Value> Ceil(RuleContext& rc, Args args) { return Rounded(rc, args, std::ceil, ExprKind::kCeil); }
absl::StatusOr<Value> Trunc(RuleContext& rc, Args args) { return Rounded(rc, args, std::trunc, ExprKind::kTrunc); }

absl::StatusOr<Value> ToFloat(RuleContext& rc, Args args) {
  if (args[0].kind == ValueKind::kFloat || args[0].kind == ValueKind::kSymFloat) return args[0];
  return ApplyBinary(rc, RuleOp::kDiv, args[0], Value::Float(1));
}

// --- lists

absl::StatusOr<int64_t> ListLength(RuleContext& rc, Dim n) {
  TARE_ASSIGN_OR_RETURN(const int64_t count, rc.Concrete(n));
  if (count > static_cast<int64_t>(kMaxRuleList))
    return InvalidError("rule_c9", "list of ", count, " items is too long");
  return std::max<int64_t>(count, 0);
}

absl::StatusOr<Value> RangeList(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  const bool one = values.size() == 1;
  const int64_t begin = one ? 0 : args.Constant(0);
  const int64_t end = args.Constant(one ? 0 : 1);
  const int64_t step = values.size() == 3 ? args.Constant(2) : 1;
  TARE_RETURN_IF_ERROR(args.status());
  if (step == 0) return InvalidError("rule_args_c1", "range with step 0");
  llvm::SmallVector<Dim, 16> items;
  for (__int128 i = begin; step > 0 ? i < end : i > end; i += step) {
    if (items.size() >= kMaxRuleList) return InvalidError("rule_c9", "range is too long");
    items.push_back(rc.syms().Int(static_cast<int64_t>(i)));
  }
  const std::span<Dim> dims = rc.NewDims(items.size());
  std::copy(items.begin(), items.end(), dims.begin());
  return Value::Ints(dims);
}

absl::StatusOr<Value> Copies(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  const Dim n = args.Int(1);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const int64_t count, ListLength(rc, n));
  const std::span<Value> items = rc.NewValues(static_cast<size_t>(count));
  std::fill(items.begin(), items.end(), values[0]);
  return MakeList(rc, items);
}
absl::StatusOr<Value> Zeros(RuleContext& rc, Args args) {
  const Value both[] = {Value::Int(Dim::Static(0)), args[0]};
  return Copies(rc, both);
}

absl::StatusOr<Value> Concat(RuleContext& rc, Args args) {
  Value all = Value::Ints({});
  const bool nested = args.size() == 1 && args[0].kind == ValueKind::kList;
  for (const Value& list : nested ? args[0].items() : args) {
    if (!IsList(list)) return NoList(rc, list);
    TARE_ASSIGN_OR_RETURN(all, ApplyBinary(rc, RuleOp::kAdd, all, list));
  }
  return all;
}

absl::StatusOr<Value> Reversed(RuleContext& rc, Args args) {
  if (!IsList(args[0])) return NoList(rc, args[0]);
  const size_t n = LengthOf(args[0]);
  const std::span<Value> items = rc.NewValues(n);
  for (size_t i = 0; i < n; ++i) items[i] = ItemOf(args[0], n - 1 - i);
  return MakeList(rc, items);
}

absl::StatusOr<Value> Sorted(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> list = args.Ints(0);
  TARE_RETURN_IF_ERROR(args.status());
  llvm::SmallVector<int64_t, 16> numbers;
  for (Dim dim : list) {
    TARE_ASSIGN_OR_RETURN(const int64_t number, rc.Concrete(dim));
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  const std::span<Dim> dims = rc.NewDims(numbers.size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = rc.syms().Int(numbers[i]);
  return Value::Ints(dims);
}

absl::StatusOr<Value> Distinct(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> list = args.Ints(0);
  TARE_RETURN_IF_ERROR(args.status());
  for (size_t i = 0; i < list.size(); ++i) {
    if (std::find(list.begin(), list.begin() + static_cast<ptrdiff_t>(i), list[i]) !=
        list.begin() + static_cast<ptrdiff_t>(i)) {
      return Value::Bool(false);
    }
  }
  return Value::Bool(true);
}

absl::StatusOr<Value> IndexOf(RuleContext& rc, Args args) {
  if (!IsList(args[0])) return NoList(rc, args[0]);
  for (size_t i = 0; i < LengthOf(args[0]); ++i) {
    TARE_ASSIGN_OR_RETURN(const Value equal, ApplyBinary(rc, RuleOp::kEq, ItemOf(args[0], i), args[1]));
    TARE_ASSIGN_OR_RETURN(const bool found, Truth(rc, equal));
    if (found) return Value::Int(Dim::Static(static_cast<int64_t>(i)));
  }
  return Value::Int(rc.syms().Int(-1));
}

absl::StatusOr<Value> Ints(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> list = args.Ints(0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Ints(list);
}

absl::StatusOr<Value> Combine(RuleContext& rc, Args args, RuleOp op) {
  Value all = Value::Bool(op == RuleOp::kAnd);
  for (const Value& item : Operands(args)) {
    TARE_ASSIGN_OR_RETURN(all, CombineConditions(rc, op, all, item));
  }
  return all;
}
absl::StatusOr<Value> All(RuleContext& rc, Args args) { return Combine(rc, args, RuleOp::kAnd); }
absl::StatusOr<Value> Any(RuleContext& rc, Args args) { return Combine(rc, args, RuleOp::kOr); }

// --- questions

absl::StatusOr<Value> Known(RuleContext& rc, Args args) {
  if (args[0].kind == ValueKind::kSymBool) return Value::Bool(rc.Known(args[0].expr));
  TARE_ASSIGN_OR_RETURN(const bool yes, Truth(rc, args[0]));
  return Value::Bool(yes);
}
absl::StatusOr<Value> Assumed(RuleContext& rc, Args args) {
  if (args[0].kind == ValueKind::kSymBool) return Value::Bool(rc.Assume(args[0].expr));
  return Known(rc, args);
}
absl::StatusOr<Value> OrFalse(RuleContext& rc, Args args) {
  if (args[0].kind == ValueKind::kSymBool) return Value::Bool(rc.OrFalse(args[0].expr));
  return Known(rc, args);
}
absl::StatusOr<Value> OrTrue(RuleContext& rc, Args args) {
  if (args[0].kind == ValueKind::kSymBool) return Value::Bool(rc.OrTrue(args[0].expr));
  return Known(rc, args);
}
absl::StatusOr<Value> Constant(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  const Dim dim = args.Int(0);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const int64_t value, rc.Concrete(dim));
  return Value::Int(rc.syms().Int(value));
}
absl::StatusOr<Value> IsStatic(RuleContext& rc, Args args) {
  for (const Value& item : Operands(args)) {
    const auto dim = AsInt(item);
    if (!dim) return InvalidError("rule_args_c1", "expected integers, found ", rc.Print(item));
    if (!rc.syms().Constant(*dim)) return Value::Bool(false);
  }
  return Value::Bool(true);
}

absl::StatusOr<Value> IsNone(RuleContext&, Args args) { return Value::Bool(args[0].is_none()); }
absl::StatusOr<Value> IsTensor(RuleContext&, Args args) { return Value::Bool(args[0].kind == ValueKind::kTensor); }
absl::StatusOr<Value> IsInt(RuleContext&, Args args) {
  if (args[0].kind == ValueKind::kDType) return Value::Bool(IsInteger(args[0].dtype));
  if (args[0].kind == ValueKind::kTensor) return Value::Bool(IsInteger(args[0].tensor->dtype));
  return Value::Bool(args[0].kind == ValueKind::kInt);
}
absl::StatusOr<Value> IsFloat(RuleContext&, Args args) {
  if (args[0].kind == ValueKind::kDType) return Value::Bool(IsFloating(args[0].dtype));
  if (args[0].kind == ValueKind::kTensor) return Value::Bool(IsFloating(args[0].tensor->dtype));
  return Value::Bool(args[0].kind == ValueKind::kFloat || args[0].kind == ValueKind::kSymFloat);
}

absl::StatusOr<Value> DTypeOf(RuleContext& rc, Args args) {
  switch (args[0].kind) {
    case ValueKind::kTensor:
      return Value::OfDType(args[0].tensor->dtype);
    case ValueKind::kBool:
    case ValueKind::kSymBool:
      return Value::OfDType(DType::kBool);
    case ValueKind::kInt:
      return Value::OfDType(DType::kI64);
    case ValueKind::kFloat:
    case ValueKind::kSymFloat:
      return Value::OfDType(rc.default_dtype());
    case ValueKind::kComplex:
      return Value::OfDType(DType::kC64);
    default:
      return InvalidError("rule_args_c1", "no dtype of ", rc.Print(args[0]));
  }
}

// --- tensors

absl::StatusOr<Value> MakeTensor(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  const std::span<const Dim> shape = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  TensorMeta tensor = *rc.Contiguous(dtype, shape);
  if (!args.IsNone(2)) tensor.strides = args.Ints(2);
  if (!args.IsNone(3)) tensor.offset = args.Int(3);
  TARE_RETURN_IF_ERROR(args.status());
  if (tensor.strides.size() != shape.size()) {
    return InvalidError("rule_args_c1", tensor.strides.size(), " strides for ", shape.size(), " dims");
  }
  return Value::Tensor(rc.NewTensor(tensor));
}
absl::StatusOr<Value> WithDType(RuleContext& rc, Args values) {
  RuleArgs args(rc, values);
  TensorMeta tensor = args.Tensor(0);
  tensor.dtype = args.Type(1);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Tensor(rc.NewTensor(tensor));
}

absl::StatusOr<Value> Fail(RuleContext&, Args args) {
  const bool texts = args[0].kind == ValueKind::kString && args[1].kind == ValueKind::kString;
  if (!texts) return InvalidError("rule_args_c1", "fail needs an id and a text");
  return InvalidError(args[0].text(), args[1].text());
}
absl::StatusOr<Value> Text(RuleContext& rc, Args args) {
  std::string text;
  for (const Value& item : args) text += rc.Print(item);
  return Value::String(rc.NewText(text));
}

constexpr RuleFunctionRow kRows[] = {
    {"len", "len(list) -> int", "Number of items, or of bytes of a text.", 1, 1, Len},
    {"rank", "rank(x) -> int", "Number of dims of a tensor or shape; 0 for a number.", 1, 1, Rank},
    {"sum", "sum(list) -> number", "Sum of the items; 0 for none.", 1, -1, Sum},
    {"prod", "prod(list) -> number", "Product of the items; 1 for none.", 1, -1, Prod},
    {"min", "min(a, b, …) -> number", "The least of the arguments, or of the items of one list.", 1, -1, Min},
    {"max", "max(a, b, …) -> number", "The greatest of the arguments, or of the items of one list.", 1, -1, Max},
    {"abs", "abs(x) -> number", "The value without its sign.", 1, 1, Abs},
    {"ceil_div", "ceil_div(a, b) -> int", "Quotient rounded up.", 2, 2, CeilDiv},
    {"pow", "pow(a, b) -> number", "a to the power of b.", 2, 2, Pow},
    {"floor", "floor(x) -> int", "Rounds down.", 1, 1, Floor},
    {"ceil", "ceil(x) -> int", "Rounds up.", 1, 1, Ceil},
    {"trunc", "trunc(x) -> int", "Rounds towards zero.", 1, 1, Trunc},
    {"float", "float(x) -> float", "The number as a float.", 1, 1, ToFloat},
    {"range", "range([begin, ]end[, step]) -> ints", "The integers from begin, or 0, up to but not including end.", 1,
     3, RangeList},
    {"copies", "copies(value, n) -> list", "A list of n times the value.", 2, 2, Copies},
    {"zeros", "zeros(n) -> ints", "A list of n zeros.", 1, 1, Zeros},
    {"concat", "concat(list, …) -> list", "The items of all lists, or of all lists in one list.", 0, -1, Concat},
    {"reversed", "reversed(list) -> list", "The items from last to first.", 1, 1, Reversed},
    {"sorted", "sorted(ints) -> ints", "The integers in ascending order.", 1, 1, Sorted},
    {"distinct", "distinct(ints) -> bool", "No integer occurs twice.", 1, 1, Distinct},
    {"index_of", "index_of(list, item) -> int", "Place of the first equal item, or -1.", 2, 2, IndexOf},
    {"ints", "ints(x) -> ints",
     "A list of integers as it is, a single integer as a list of one, none as the empty list.", 1, 1, Ints},
    {"all", "all(list) -> bool", "Every condition holds; true for none.", 1, -1, All},
    {"any", "any(list) -> bool", "Some condition holds; false for none.", 1, -1, Any},
    {"known", "known(condition) -> bool", "The condition follows from ranges and facts; records nothing.", 1, 1, Known},
    {"assumed", "assumed(condition) -> bool",
     "Not known to be false: then a guard, whatever the hints say, as torch checks nothing there.", 1, 1, Assumed},
    {"or_false", "or_false(condition) -> bool", "The condition decided; no where it depends on run-time values.", 1, 1,
     OrFalse},
    {"or_true", "or_true(condition) -> bool", "The condition decided; yes where it depends on run-time values.", 1, 1,
     OrTrue},
    {"constant", "constant(int) -> int", "The integer as a number, specialised by its hint with a guard.", 1, 1,
     Constant},
    {"is_static", "is_static(int or ints) -> bool", "No symbol occurs.", 1, 1, IsStatic},
    {"is_none", "is_none(x) -> bool", "The argument is absent.", 1, 1, IsNone},
    {"values", "values(x) -> list",
     "The elements of an operand that is a constant, in order; none where they are not known. Needs reads_values.", 1,
     1, Values},
    {"is_tensor", "is_tensor(x) -> bool", "A tensor, not a number.", 1, 1, IsTensor},
    {"is_int", "is_int(x) -> bool", "Of a number, tensor or dtype: an integer, not a bool.", 1, 1, IsInt},
    {"is_float", "is_float(x) -> bool", "Of a number, tensor or dtype: floating, not complex.", 1, 1, IsFloat},
    {"dtype_of", "dtype_of(x) -> dtype", "Of a tensor its dtype; of a number the dtype a tensor made of it has.", 1, 1,
     DTypeOf},
    {"tensor", "tensor(dtype, shape[, strides][, offset]) -> tensor", "A tensor, contiguous unless strides are given.",
     2, 4, MakeTensor},
    {"with_dtype", "with_dtype(x, dtype) -> tensor", "The tensor with another dtype.", 2, 2, WithDType},
    {"fail", "fail(id, text) -> never", "Refuses the call with that check id.", 2, 2, Fail},
    {"text", "text(a, b, …) -> text", "The values as messages show them, joined.", 1, -1, Text},
};

}  // namespace

std::span<const RuleFunctionRow> CoreFunctions() { return kRows; }

}  // namespace tare
