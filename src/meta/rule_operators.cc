#include "meta/rule_operators.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "meta/rule_state.h"

namespace tare {
namespace {

std::string_view Spelling(RuleOp op) {
  switch (op) {
    case RuleOp::kAdd:
      return "+";
    case RuleOp::kSub:
      return "-";
    case RuleOp::kMul:
      return "*";
    case RuleOp::kDiv:
      return "/";
    case RuleOp::kFloorDiv:
      return "//";
    case RuleOp::kMod:
      return "%";
    case RuleOp::kLt:
      return "<";
    case RuleOp::kLe:
      return "<=";
    case RuleOp::kGt:
      return ">";
    case RuleOp::kGe:
      return ">=";
    default:
      return "the operator";
  }
}

absl::Status WrongKinds(RuleContext& rc, RuleOp op, const Value& a, const Value& b) {
  return InvalidError("rule_c8", Spelling(op), " does not take ", rc.Print(a), " and ", rc.Print(b));
}

bool IsFloat(const Value& value) { return value.kind == ValueKind::kFloat || value.kind == ValueKind::kSymFloat; }

// A constant double, when the value is one.
std::optional<double> AsReal(RuleContext& rc, const Value& value) {
  if (value.kind == ValueKind::kFloat) return value.real;
  if (const auto dim = AsInt(value)) {
    if (const auto constant = rc.syms().Constant(*dim)) return static_cast<double>(*constant);
  }
  return std::nullopt;
}
std::optional<ExprId> AsFloatExpr(RuleContext& rc, const Value& value) {
  if (value.kind == ValueKind::kSymFloat) return value.expr;
  if (value.kind == ValueKind::kFloat) return rc.syms().Float(value.real);
  if (const auto dim = AsInt(value)) {
    const ExprId args[] = {rc.syms().OfDim(*dim)};
    return rc.syms().Make(ExprKind::kToFloat, args);
  }
  return std::nullopt;
}
Value FloatOf(RuleContext& rc, ExprId expr) {
  const bool constant = expr.has_value() && rc.syms().kind(expr) == ExprKind::kFloatConst;
  return constant ? Value::Float(rc.syms().float_value(expr)) : Value::SymFloat(expr);
}

absl::StatusOr<Value> IntArithmetic(RuleContext& rc, RuleOp op, Dim a, Dim b) {
  SymStore& syms = rc.syms();
  switch (op) {
    case RuleOp::kAdd:
      return Value::Int(syms.Add(a, b));
    case RuleOp::kSub:
      return Value::Int(syms.Sub(a, b));
    case RuleOp::kMul:
      return Value::Int(syms.Mul(a, b));
    case RuleOp::kFloorDiv:
    case RuleOp::kMod:
      if (b == 0) return InvalidError("division", "division by zero");
      return Value::Int(op == RuleOp::kMod ? syms.Mod(a, b) : syms.FloorDiv(a, b));
    default:
      return InvalidError("rule_c8", "not an operator of integers");
  }
}

absl::StatusOr<Value> FloatArithmetic(RuleContext& rc, RuleOp op, const Value& a, const Value& b) {
  const auto x = AsReal(rc, a), y = AsReal(rc, b);
  if (x && y) {
    switch (op) {
      case RuleOp::kAdd:
        return Value::Float(*x + *y);
      case RuleOp::kSub:
        return Value::Float(*x - *y);
      case RuleOp::kMul:
        return Value::Float(*x * *y);
      case RuleOp::kDiv:
        if (*y == 0) return InvalidError("division", "division by zero");
        return Value::Float(*x / *y);
      case RuleOp::kFloorDiv:
        if (*y == 0) return InvalidError("division", "division by zero");
        return Value::Float(std::floor(*x / *y));
      default: {
        if (*y == 0) return InvalidError("division", "division by zero");
        const double rest = std::fmod(*x, *y);
        return Value::Float(rest != 0 && (rest < 0) != (*y < 0) ? rest + *y : rest);
      }
    }
  }
  const auto left = AsFloatExpr(rc, a), right = AsFloatExpr(rc, b);
  if (!left || !right) return WrongKinds(rc, op, a, b);
  SymStore& syms = rc.syms();
  switch (op) {
    case RuleOp::kAdd: {
      const ExprId args[] = {*left, *right};
      return FloatOf(rc, syms.Make(ExprKind::kAdd, args));
    }
    case RuleOp::kSub: {
      const ExprId negated[] = {syms.Float(-1), *right};
      const ExprId args[] = {*left, syms.Make(ExprKind::kMul, negated)};
      return FloatOf(rc, syms.Make(ExprKind::kAdd, args));
    }
    case RuleOp::kMul: {
      const ExprId args[] = {*left, *right};
      return FloatOf(rc, syms.Make(ExprKind::kMul, args));
    }
    case RuleOp::kDiv: {
      const ExprId args[] = {*left, *right};
      return FloatOf(rc, syms.Make(ExprKind::kTrueDiv, args));
    }
    default:
      return WrongKinds(rc, op, a, b);
  }
}

absl::StatusOr<Value> Join(RuleContext& rc, const Value& a, const Value& b) {
  const size_t n = LengthOf(a), m = LengthOf(b);
  if (n == 0) return b;
  if (m == 0) return a;
  if (n + m > kMaxRuleList) return InvalidError("rule_c9", "list of ", n + m, " items is too long");
  if (a.kind == ValueKind::kInts && b.kind == ValueKind::kInts) {
    const std::span<Dim> dims = rc.NewDims(n + m);
    std::copy(a.dims().begin(), a.dims().end(), dims.begin());
    std::copy(b.dims().begin(), b.dims().end(), dims.begin() + static_cast<ptrdiff_t>(n));
    return Value::Ints(dims);
  }
  const std::span<Value> items = rc.NewValues(n + m);
  for (size_t i = 0; i < n; ++i) items[i] = ItemOf(a, i);
  for (size_t i = 0; i < m; ++i) items[n + i] = ItemOf(b, i);
  return MakeList(rc, items);
}

absl::StatusOr<Value> Arithmetic(RuleContext& rc, RuleOp op, const Value& a, const Value& b) {
  const auto x = AsInt(a), y = AsInt(b);
  if (x && y && op != RuleOp::kDiv) return IntArithmetic(rc, op, *x, *y);
  if (op == RuleOp::kAdd && IsList(a) && IsList(b)) return Join(rc, a, b);
  if (op == RuleOp::kAdd && a.kind == ValueKind::kString && b.kind == ValueKind::kString) {
    return Value::String(rc.NewText(absl::StrCat(TextPiece(a.text()), TextPiece(b.text()))));
  }
  if (op == RuleOp::kMul && IsList(a) && y) {
    const auto times = rc.syms().Constant(*y);
    if (!times) return WrongKinds(rc, op, a, b);
    const size_t n = LengthOf(a), m = *times < 0 ? 0 : static_cast<size_t>(*times);
    if (n > 0 && m > kMaxRuleList / n) return InvalidError("rule_c9", "list is too long");
    const std::span<Value> items = rc.NewValues(n * m);
    for (size_t i = 0; i < items.size(); ++i) items[i] = ItemOf(a, i % n);
    return MakeList(rc, items);
  }
  const bool numbers = (x || IsFloat(a)) && (y || IsFloat(b));
  if (!numbers) return WrongKinds(rc, op, a, b);
  return FloatArithmetic(rc, op, a, b);
}

absl::StatusOr<Value> Order(RuleContext& rc, RuleOp op, const Value& a, const Value& b) {
  if (op == RuleOp::kGt) return Order(rc, RuleOp::kLt, b, a);
  if (op == RuleOp::kGe) return Order(rc, RuleOp::kLe, b, a);
  const bool strict = op == RuleOp::kLt;
  const auto x = AsInt(a), y = AsInt(b);
  if (x && y) {
    if (x->is_static() && y->is_static())
      return Value::Bool(strict ? x->value() < y->value() : x->value() <= y->value());
    return BoolOf(rc, strict ? rc.syms().Lt(*x, *y) : rc.syms().Le(*x, *y));
  }
  if (!((x || IsFloat(a)) && (y || IsFloat(b)))) return WrongKinds(rc, op, a, b);
  const auto left = AsReal(rc, a), right = AsReal(rc, b);
  if (left && right) return Value::Bool(strict ? *left < *right : *left <= *right);
  const ExprId args[] = {*AsFloatExpr(rc, a), *AsFloatExpr(rc, b)};
  return BoolOf(rc, rc.syms().Make(strict ? ExprKind::kLt : ExprKind::kLe, args));
}

bool SameDims(std::span<const Dim> a, std::span<const Dim> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Equality as a condition; of different kinds: no.
absl::StatusOr<Value> Equality(RuleContext& rc, const Value& a, const Value& b) {
  const bool a_bool = a.kind == ValueKind::kBool, b_bool = b.kind == ValueKind::kBool;
  if (a_bool && b_bool) return Value::Bool(a.flag == b.flag);
  const auto x = AsInt(a), y = AsInt(b);
  if (x && y) {
    if (*x == *y) return Value::Bool(true);
    if (x->is_static() && y->is_static()) return Value::Bool(false);
    return BoolOf(rc, rc.syms().Eq(*x, *y));
  }
  if ((x || IsFloat(a)) && (y || IsFloat(b))) {
    const auto left = AsReal(rc, a), right = AsReal(rc, b);
    if (left && right) return Value::Bool(*left == *right);
    const ExprId args[] = {*AsFloatExpr(rc, a), *AsFloatExpr(rc, b)};
    return BoolOf(rc, rc.syms().Make(ExprKind::kEq, args));
  }
  if (IsList(a) && IsList(b)) {
    const size_t n = LengthOf(a);
    if (n != LengthOf(b)) return Value::Bool(false);
    if (a.kind == ValueKind::kInts && b.kind == ValueKind::kInts && SameDims(a.dims(), b.dims()))
      return Value::Bool(true);
    Value all = Value::Bool(true);
    for (size_t i = 0; i < n; ++i) {
      const auto one = Equality(rc, ItemOf(a, i), ItemOf(b, i));
      if (!one.ok()) return one;
      if (one->kind == ValueKind::kBool && !one->flag) return Value::Bool(false);
      const auto both = CombineConditions(rc, RuleOp::kAnd, all, *one);
      if (!both.ok()) return both;
      all = *both;
    }
    return all;
  }
  if (a.kind != b.kind) return Value::Bool(false);
  switch (a.kind) {
    case ValueKind::kNone:
    case ValueKind::kComplex:
      return Value::Bool(true);
    case ValueKind::kSymBool:
      return Value::Bool(a.expr == b.expr);
    case ValueKind::kString:
      return Value::Bool(a.text() == b.text());
    case ValueKind::kDType:
      return Value::Bool(a.dtype == b.dtype);
    case ValueKind::kMemoryFormat:
      return Value::Bool(a.memory_format == b.memory_format);
    case ValueKind::kLayout:
      return Value::Bool(a.layout == b.layout);
    case ValueKind::kDevice:
      return Value::Bool(a.device == b.device);
    case ValueKind::kGraph:
      return Value::Bool(a.graph == b.graph);
    default:
      return InvalidError("rule_c8", "tensors are not compared: compare their shapes or dtypes");
  }
}

absl::StatusOr<Value> Membership(RuleContext& rc, const Value& item, const Value& list) {
  if (item.kind == ValueKind::kString && list.kind == ValueKind::kString) {
    return Value::Bool(list.text().find(item.text()) != std::string_view::npos);
  }
  if (!IsList(list)) return InvalidError("rule_c8", "in needs a list, found ", rc.Print(list));
  Value any = Value::Bool(false);
  for (size_t i = 0; i < LengthOf(list); ++i) {
    const auto one = Equality(rc, item, ItemOf(list, i));
    if (!one.ok()) return one;
    if (one->kind == ValueKind::kBool && one->flag) return Value::Bool(true);
    const auto either = CombineConditions(rc, RuleOp::kOr, any, *one);
    if (!either.ok()) return either;
    any = *either;
  }
  return any;
}

}  // namespace

bool IsList(const Value& value) {
  return value.kind == ValueKind::kInts || value.kind == ValueKind::kList || value.kind == ValueKind::kTuple;
}
size_t LengthOf(const Value& list) {
  if (list.kind == ValueKind::kInts) return list.dims().size();
  return IsList(list) ? list.items().size() : 0;
}
Value ItemOf(const Value& list, size_t i) {
  return list.kind == ValueKind::kInts ? Value::Int(list.dims()[i]) : list.items()[i];
}
std::optional<Dim> AsInt(const Value& value) {
  if (value.kind == ValueKind::kInt) return value.dim;
  if (value.kind == ValueKind::kBool) return Dim::Static(value.flag ? 1 : 0);
  return std::nullopt;
}

Value MakeList(RuleContext& rc, std::span<const Value> items) {
  for (const Value& item : items) {
    if (item.kind != ValueKind::kInt) return Value::List(items);
  }
  const std::span<Dim> dims = rc.NewDims(items.size());
  for (size_t i = 0; i < items.size(); ++i) dims[i] = items[i].dim;
  return Value::Ints(dims);
}

Value BoolOf(RuleContext& rc, ExprId condition) {
  const bool constant = condition.has_value() && rc.syms().kind(condition) == ExprKind::kBoolConst;
  return constant ? Value::Bool(rc.syms().bool_value(condition)) : Value::SymBool(condition);
}
bool IsCondition(const Value& value) { return value.kind == ValueKind::kBool || value.kind == ValueKind::kSymBool; }
absl::StatusOr<bool> Truth(RuleContext& rc, const Value& value) {
  if (value.kind == ValueKind::kBool) return value.flag;
  if (value.kind == ValueKind::kSymBool) return rc.Decide(value.expr);
  return InvalidError("rule_c8", "expected a condition, found ", rc.Print(value));
}

absl::StatusOr<Value> CombineConditions(RuleContext& rc, RuleOp op, const Value& a, const Value& b) {
  if (!IsCondition(a) || !IsCondition(b)) return WrongKinds(rc, op, a, b);
  const bool absorbing = op == RuleOp::kOr;
  for (const Value* value : {&a, &b}) {
    if (value->kind == ValueKind::kBool && value->flag == absorbing) return *value;
  }
  if (a.kind == ValueKind::kBool) return b;
  if (b.kind == ValueKind::kBool) return a;
  const ExprId args[] = {a.expr, b.expr};
  return BoolOf(rc, rc.syms().Make(op == RuleOp::kOr ? ExprKind::kOr : ExprKind::kAnd, args));
}

absl::StatusOr<Value> ApplyNot(RuleContext& rc, const Value& a) {
  if (a.kind == ValueKind::kBool) return Value::Bool(!a.flag);
  if (a.kind == ValueKind::kSymBool) return BoolOf(rc, rc.syms().Not(a.expr));
  return InvalidError("rule_c8", "not takes a condition, found ", rc.Print(a));
}
absl::StatusOr<Value> ApplyNeg(RuleContext& rc, const Value& a) {
  if (a.kind == ValueKind::kFloat) return Value::Float(-a.real);
  if (const auto dim = AsInt(a)) return Value::Int(rc.syms().Neg(*dim));
  if (a.kind == ValueKind::kSymFloat) return FloatArithmetic(rc, RuleOp::kMul, Value::Float(-1), a);
  return InvalidError("rule_c8", "- does not take ", rc.Print(a));
}

absl::StatusOr<Value> ApplyBinary(RuleContext& rc, RuleOp op, const Value& a, const Value& b) {
  switch (op) {
    case RuleOp::kEq:
      return Equality(rc, a, b);
    case RuleOp::kIn:
      return Membership(rc, a, b);
    case RuleOp::kNe:
    case RuleOp::kNotIn: {
      const auto opposite = op == RuleOp::kNe ? Equality(rc, a, b) : Membership(rc, a, b);
      if (!opposite.ok()) return opposite;
      return ApplyNot(rc, *opposite);
    }
    case RuleOp::kLt:
    case RuleOp::kLe:
    case RuleOp::kGt:
    case RuleOp::kGe:
      return Order(rc, op, a, b);
    default:
      return Arithmetic(rc, op, a, b);
  }
}

absl::StatusOr<Value> ElementOf(RuleContext& rc, const Value& list, const Value& index) {
  const auto dim = AsInt(index);
  if (!IsList(list) || !dim)
    return InvalidError("rule_c8", "cannot take element ", rc.Print(index), " of ", rc.Print(list));
  TARE_ASSIGN_OR_RETURN(int64_t at, rc.Concrete(*dim));
  const auto n = static_cast<int64_t>(LengthOf(list));
  if (at < -n || at >= n) return InvalidError("index_range", "index ", at, " is outside a list of ", n);
  return ItemOf(list, static_cast<size_t>(at < 0 ? at + n : at));
}

absl::StatusOr<Value> SliceOf(RuleContext& rc, const Value& list, const Value& begin, const Value& end) {
  if (!IsList(list)) return InvalidError("rule_c8", "cannot slice ", rc.Print(list));
  const auto n = static_cast<int64_t>(LengthOf(list));
  int64_t bounds[2] = {0, n};
  for (int k = 0; k < 2; ++k) {
    const Value& bound = k == 0 ? begin : end;
    if (bound.is_none()) continue;
    const auto dim = AsInt(bound);
    if (!dim) return InvalidError("rule_c8", "a slice's bound is an integer, found ", rc.Print(bound));
    TARE_ASSIGN_OR_RETURN(const int64_t at, rc.Concrete(*dim));
    bounds[k] = std::clamp<int64_t>(at < -n ? 0 : at < 0 ? at + n : at, 0, n);
  }
  const size_t first = static_cast<size_t>(bounds[0]);
  const size_t count = bounds[1] > bounds[0] ? static_cast<size_t>(bounds[1] - bounds[0]) : 0;
  if (list.kind == ValueKind::kInts) return Value::Ints(list.dims().subspan(first, count));
  if (count == 0) return Value::Ints({});
  return MakeList(rc, list.items().subspan(first, count));
}

absl::StatusOr<Value> LenOf(RuleContext& rc, const Value& value) {
  if (value.kind == ValueKind::kString) return Value::Int(Dim::Static(static_cast<int64_t>(value.text().size())));
  if (!IsList(value)) return InvalidError("rule_args_c1", "expected a list, found ", rc.Print(value));
  return Value::Int(Dim::Static(static_cast<int64_t>(LengthOf(value))));
}

absl::StatusOr<Value> RankOf(RuleContext& rc, const Value& value) {
  if (value.kind == ValueKind::kTensor)
    return Value::Int(Dim::Static(static_cast<int64_t>(value.tensor->shape.size())));
  if (IsList(value)) return LenOf(rc, value);
  const bool number =
      AsInt(value) || IsFloat(value) || value.kind == ValueKind::kComplex || value.kind == ValueKind::kSymBool;
  if (number) return Value::Int(Dim::Static(0));
  return InvalidError("rule_args_c1", "rank of ", rc.Print(value));
}

absl::StatusOr<Value> FieldOf(RuleContext& rc, RuleField field, const Value& value) {
  if (value.kind != ValueKind::kTensor) {
    // A number where a tensor may stand has no dims.
    const bool number =
        AsInt(value) || IsFloat(value) || value.kind == ValueKind::kComplex || value.kind == ValueKind::kSymBool;
    if (number && (field == RuleField::kShape || field == RuleField::kStrides)) return Value::Ints({});
    if (number && field == RuleField::kOffset) return Value::Int(Dim::Static(0));
    return InvalidError("rule_c8", "expected a tensor, found ", rc.Print(value));
  }
  const TensorMeta& tensor = *value.tensor;
  switch (field) {
    case RuleField::kShape:
      return Value::Ints(tensor.shape);
    case RuleField::kDType:
      return Value::OfDType(tensor.dtype);
    case RuleField::kStrides:
      return Value::Ints(tensor.strides);
    case RuleField::kOffset:
      return Value::Int(tensor.offset);
    case RuleField::kDevice:
      return Value::OfDevice(tensor.device);
    case RuleField::kLayout:
      return Value::OfLayout(tensor.layout);
  }
  return Value::None();
}

}  // namespace tare
