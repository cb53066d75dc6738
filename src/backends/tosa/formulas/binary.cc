#include <cmath>

#include "backends/tosa/formulas/formula.h"

namespace tare {
namespace {

// What two operands are compared in: the dtype both promote to, bools as they are.
std::optional<DType> Common(FormulaCall& c) {
  const Node a = c.node.arg("self"), b = c.node.arg("other");
  const DType left = a.tensor().dtype;
  if (b.has_value() && b.is_tensor()) {
    const DType right = b.tensor().dtype;
    if (left == right) return left;
    // A tensor without dims only lifts the category.
    const bool no_dims_a = a.tensor().shape.empty(), no_dims_b = b.tensor().shape.empty();
    if (CategoryOf(left) != CategoryOf(right)) return CategoryOf(left) > CategoryOf(right) ? left : right;
    if (no_dims_a != no_dims_b) return no_dims_a ? right : left;
    if (BitsOf(left) == BitsOf(right)) return std::nullopt;
    return BitsOf(left) > BitsOf(right) ? left : right;
  }
  const AttrValue& number = c.node.attr("other");
  if (number.kind == AttrKind::kFloat && !IsFloating(left)) return DType::kF32;
  if (number.kind == AttrKind::kInt && left == DType::kBool) return DType::kI32;
  return left;
}

// GREATER and the like of both as one dtype; 8- and 16-bit integers as what holds them.
template <bool kSwapped, bool kNegated>
Node Compare(FormulaCall& c, std::string_view tosa_op) {
  std::optional<DType> dtype = Common(c);
  if (!dtype.has_value()) return c.Refuse("operands without a common dtype");
  if (IsInteger(*dtype)) dtype = c.Holding(*dtype == DType::kI64 ? DType::kI32 : *dtype, c.node.arg("self"));
  if (*dtype == DType::kBool) {
    if (tosa_op != "EQUAL") return c.Refuse("an order of bools");
    const Node left = c.In("self", *dtype), right = c.In("other", *dtype);
    const Node differ = c.m.Binary("LOGICAL_XOR", left, right);
    return kNegated ? differ : c.m.Not(differ);
  }
  const Node a = c.In("self", *dtype), b = c.In("other", *dtype);
  const Node made = kSwapped ? c.m.Binary(tosa_op, b, a) : c.m.Binary(tosa_op, a, b);
  return kNegated ? c.m.Not(made) : made;
}
Node Equal(FormulaCall& c) { return Compare<false, false>(c, "EQUAL"); }
Node NotEqual(FormulaCall& c) { return Compare<false, true>(c, "EQUAL"); }
Node Greater(FormulaCall& c) { return Compare<false, false>(c, "GREATER"); }
Node GreaterEqual(FormulaCall& c) { return Compare<false, false>(c, "GREATER_EQUAL"); }
Node Less(FormulaCall& c) { return Compare<true, false>(c, "GREATER"); }
Node LessEqual(FormulaCall& c) { return Compare<true, false>(c, "GREATER_EQUAL"); }

Node Scaled(FormulaCall& c, Node x) { return c.m.Mul(x, c.node.number("alpha").value_or(1)); }
Node Add(FormulaCall& c) {
  const Node a = c.In("self"), b = c.In("other");
  return c.dtype() == DType::kBool ? c.m.Binary("LOGICAL_OR", a, b) : c.m.Add(a, Scaled(c, b));
}
Node Sub(FormulaCall& c) {
  const Node a = c.In("self"), b = Scaled(c, c.In("other"));
  return c.m.Sub(a, b);
}
Node ReverseSub(FormulaCall& c) {
  const Node a = c.In("other"), b = Scaled(c, c.In("self"));
  return c.m.Sub(a, b);
}
Node Mul(FormulaCall& c) {
  const Node a = c.In("self"), b = c.In("other");
  return c.dtype() == DType::kBool ? c.m.Binary("LOGICAL_AND", a, b) : c.m.Mul(a, b);
}

Node Inverse(TensorMath& m, Node x) { return m.Unary("RECIPROCAL", x); }
Node Div(FormulaCall& c) {
  const Node a = c.In("self"), b = c.In("other");
  return c.m.Mul(a, Inverse(c.m, b));
}

Node Negative(TensorMath& m, Node x) { return m.Unary("NEGATE", x); }

// 1 and 0 of the dtype of `like`.
Node AsNumber(TensorMath& m, Node condition, Node like) {
  const Node one = m.Number(like, 1), zero = m.Number(like, 0);
  return m.Select(condition, one, zero);
}

// floor(a / b). The product with a reciprocal may be one off: the rest says so.
Node FloorQuotient(TensorMath& m, Node a, Node b) {
  if (!a.has_value() || !b.has_value()) return Node();  // refused before
  if (!IsFloating(a.tensor().dtype)) {
    const Node cut = m.Binary("INTDIV", a, b), zero = m.Number(a, 0);
    const Node exact = m.Binary("EQUAL", m.Mul(cut, b), a);
    const Node a_below = m.Less(a, zero), b_below = m.Less(b, zero), rounded = m.Not(exact);
    const Node opposite = m.Binary("LOGICAL_XOR", a_below, b_below);
    return m.Sub(cut, AsNumber(m, m.Binary("LOGICAL_AND", rounded, opposite), a));
  }
  const Node guess = m.Unary("FLOOR", m.Mul(a, Inverse(m, b)));
  const Node rest = m.Sub(a, m.Mul(guess, b)), size = m.Unary("ABS", b);
  const Node below = m.Less(b, 0), opposite = Negative(m, rest), along = m.Select(below, opposite, rest);
  const Node lower = m.Sub(guess, AsNumber(m, m.Less(along, 0), guess));
  return m.Add(lower, AsNumber(m, m.Binary("GREATER_EQUAL", along, size), guess));
}

Node CutQuotient(TensorMath& m, Node a, Node b) {
  if (!a.has_value() || !b.has_value()) return Node();
  if (!IsFloating(a.tensor().dtype)) return m.Binary("INTDIV", a, b);
  const Node a_size = m.Unary("ABS", a), b_size = m.Unary("ABS", b), size = FloorQuotient(m, a_size, b_size);
  const Node a_below = m.Less(a, 0), b_below = m.Less(b, 0), negative = Negative(m, size);
  return m.Select(m.Binary("LOGICAL_XOR", a_below, b_below), negative, size);
}

// Both operands, integers as what holds them.
std::pair<Node, Node> Held(FormulaCall& c) {
  const DType dtype = c.Holding(c.dtype(), c.node.arg("self"));
  const Node a = c.In("self", dtype), b = c.In("other", dtype);
  return {a, b};
}
// The least integer divided by -1 is itself: it wraps.
Node Wrapped(FormulaCall& c, Node quotient) {
  if (!c.emit.ok() || !IsInteger(c.dtype()) || !IsFloating(quotient.tensor().dtype)) return quotient;
  const auto [low, high] = RangeOf(c.dtype());
  const Node beyond = c.m.Greater(quotient, static_cast<double>(high));
  const Node least = c.m.Number(quotient, static_cast<double>(low));
  return c.Whole(c.m.Select(beyond, least, quotient));
}

Node DivMode(FormulaCall& c) {
  const AttrValue& mode = c.node.attr("rounding_mode");
  if (mode.kind != AttrKind::kString) return Div(c);
  const auto [a, b] = Held(c);
  if (!c.emit.ok()) return Node();
  return Wrapped(c, mode.text() == "floor" ? FloorQuotient(c.m, a, b) : CutQuotient(c.m, a, b));
}
Node FloorDivide(FormulaCall& c) {
  const auto [a, b] = Held(c);
  return c.emit.ok() ? Wrapped(c, FloorQuotient(c.m, a, b)) : Node();
}
Node Remainder(FormulaCall& c) {
  const auto [a, b] = Held(c);
  return c.emit.ok() ? c.Whole(c.m.Sub(a, c.m.Mul(FloorQuotient(c.m, a, b), b))) : Node();
}
Node Fmod(FormulaCall& c) {
  const auto [a, b] = Held(c);
  return c.emit.ok() ? c.Whole(c.m.Sub(a, c.m.Mul(CutQuotient(c.m, a, b), b))) : Node();
}

Node Pow(FormulaCall& c) {
  if (!IsFloating(c.dtype())) return c.Refuse("a power of integers");
  const Node a = c.In("self"), b = c.In("exponent");
  return c.m.Binary("POW", a, b);
}

Node Clamp(FormulaCall& c) {
  const DType dtype = c.Holding(c.dtype(), c.node.arg("self"));
  Node x = c.In("self", dtype);
  if (c.Given("min")) x = c.m.Binary("MAXIMUM", x, c.In("min", dtype));
  if (c.Given("max")) x = c.m.Binary("MINIMUM", x, c.In("max", dtype));
  return c.Whole(x);
}
Node Maximum(FormulaCall& c) {
  const auto [a, b] = Held(c);
  return c.Whole(c.m.Binary("MAXIMUM", a, b));
}
Node Minimum(FormulaCall& c) {
  const auto [a, b] = Held(c);
  return c.Whole(c.m.Binary("MINIMUM", a, b));
}

// What is no number loses against a number.
template <bool kLargest>
Node IgnoringNan(FormulaCall& c) {
  const Node a = c.In("self"), b = c.In("other");
  if (!IsFloating(c.dtype())) return c.m.Binary(kLargest ? "MAXIMUM" : "MINIMUM", a, b);
  const Node first = c.m.Binary("GREATER", kLargest ? a : b, kLargest ? b : a);
  const Node b_is_nan = c.m.Not(c.m.Binary("EQUAL", b, b));
  return c.m.Select(c.m.Binary("LOGICAL_OR", first, b_is_nan), a, b);
}

Node Where(FormulaCall& c) {
  const Node condition = c.In("condition", DType::kBool), a = c.In("self", c.dtype()), b = c.In("other", c.dtype());
  return c.m.Select(condition, a, b);
}
Node MaskedFill(FormulaCall& c) {
  const Node mask = c.In("mask", DType::kBool), value = c.In("value", c.dtype()), x = c.In("self", c.dtype());
  return c.m.Select(mask, value, x);
}

Node AddCMul(FormulaCall& c) {
  const Node x = c.In("self"), a = c.In("tensor1"), b = c.In("tensor2");
  return c.m.Add(x, c.m.Mul(c.m.Mul(a, b), c.node.number("value").value_or(1)));
}
Node AddCDiv(FormulaCall& c) {
  const Node x = c.In("self"), a = c.In("tensor1"), b = c.In("tensor2");
  return c.m.Add(x, c.m.Mul(c.m.Mul(a, Inverse(c.m, b)), c.node.number("value").value_or(1)));
}
Node Lerp(FormulaCall& c) {
  const Node start = c.In("self"), end = c.In("end"), weight = c.In("weight");
  return c.m.Add(start, c.m.Mul(weight, c.m.Sub(end, start)));
}
Node Hypot(FormulaCall& c) {
  const Node a = c.In("self"), b = c.In("other");
  const Node a_square = c.m.Mul(a, a), b_square = c.m.Mul(b, b);
  return c.m.Sqrt(c.m.Add(a_square, b_square));
}
// max + log(1 + base^-|a - b|) / log(base)
Node LogAdd(FormulaCall& c, double log_base) {
  const Node a = c.In("self"), b = c.In("other");
  const Node distance = c.m.Mul(c.m.Unary("ABS", c.m.Sub(a, b)), -log_base);
  const Node rest = c.m.Mul(c.m.Unary("LOG", c.m.Add(c.m.Unary("EXP", distance), 1)), 1 / log_base);
  return c.m.Add(c.m.Binary("MAXIMUM", a, b), rest);
}
// 0 where x is 0, whatever number y is
Node XLogY(FormulaCall& c) {
  const Node x = c.In("self"), y = c.In("other");
  const Node none = c.m.Equal(x, 0), number = c.m.Binary("EQUAL", y, y), zero = c.m.Number(x, 0);
  const Node product = c.m.Mul(x, c.m.Unary("LOG", y));
  return c.m.Select(c.m.Binary("LOGICAL_AND", none, number), zero, product);
}
Node CopySign(FormulaCall& c) {
  const Node size = c.m.Unary("ABS", c.In("self")), sign = c.In("other");
  // 0 has a sign too, which its reciprocal shows.
  const Node below = c.m.Less(sign, 0), beyond = c.m.Less(Inverse(c.m, sign), 0), opposite = Negative(c.m, size);
  return c.m.Select(c.m.Binary("LOGICAL_OR", below, beyond), opposite, size);
}
Node Heaviside(FormulaCall& c) {
  const Node x = c.In("self"), values = c.In("values");
  const Node step = AsNumber(c.m, c.m.Greater(x, 0), x), none = c.m.Equal(x, 0);
  return c.m.Select(none, values, step);
}
Node IsClose(FormulaCall& c) {
  const Node a = c.node.arg("self"), b = c.node.arg("other");
  if (!IsFloating(a.tensor().dtype) || c.node.flag("equal_nan").value_or(false))
    return c.Refuse("closeness of integers, or of what is no number");
  const Node limit =
      c.m.Add(c.m.Mul(c.m.Unary("ABS", b), c.node.number("rtol").value_or(1e-5)), c.node.number("atol").value_or(1e-8));
  const Node near = c.m.Binary("GREATER_EQUAL", limit, c.m.Unary("ABS", c.m.Sub(a, b)));
  // Infinities are close to themselves alone.
  const Node finite = c.m.Less(c.m.Unary("ABS", b), INFINITY);
  const Node same = c.m.Binary("EQUAL", a, b), both = c.m.Binary("LOGICAL_AND", near, finite);
  return c.m.Binary("LOGICAL_OR", same, both);
}

template <bool kAnd>
Node Logical(FormulaCall& c) {
  const Node a = c.In("self", DType::kBool), b = c.In("other", DType::kBool);
  return c.m.Binary(kAnd ? "LOGICAL_AND" : "LOGICAL_OR", a, b);
}
Node LogicalXor(FormulaCall& c) {
  const Node a = c.In("self", DType::kBool), b = c.In("other", DType::kBool);
  return c.m.Binary("LOGICAL_XOR", a, b);
}

Node Shift(FormulaCall& c, std::string_view tosa_op) {
  if (!IsInteger(c.dtype())) return c.Refuse("a shift of floats");
  const Node a = c.In("self"), b = c.In("other");
  return c.m.Binary(tosa_op, a, b);
}
Node ShiftLeft(FormulaCall& c) { return Shift(c, "LOGICAL_LEFT_SHIFT"); }
Node ShiftRight(FormulaCall& c) { return Shift(c, "ARITHMETIC_RIGHT_SHIFT"); }

// Losses: element by element, then the mean or the sum.
Node Reduced(FormulaCall& c, Node loss) {
  const int64_t how = c.node.integer("reduction").value_or(1);
  if (how == 0 || !c.emit.ok()) return loss;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < loss.tensor().shape.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  return how == 1 ? c.m.Mean(loss, axes) : c.m.Reduce("REDUCE_SUM", loss, axes);
}
Node Distance(FormulaCall& c) {
  const Node x = c.In("self"), target = c.In("target");
  return c.m.Sub(x, target);
}
Node SquaredLoss(FormulaCall& c) {
  const Node distance = Distance(c);
  return Reduced(c, c.m.Mul(distance, distance));
}
Node AbsoluteLoss(FormulaCall& c) { return Reduced(c, c.m.Unary("ABS", Distance(c))); }
// Squares up to `at`, lines beyond, which meet there.
Node BentLoss(FormulaCall& c, double at, double scale) {
  const Node size = c.m.Unary("ABS", Distance(c));
  const Node square = c.m.Mul(c.m.Mul(size, size), 0.5), line = c.m.Mul(c.m.Add(size, -0.5 * at), at);
  return Reduced(c, c.m.Mul(c.m.Select(c.m.Less(size, at), square, line), scale));
}
Node HuberLoss(FormulaCall& c) { return BentLoss(c, c.node.number("delta").value_or(1), 1); }
Node SmoothLoss(FormulaCall& c) {
  const double beta = c.node.number("beta").value_or(1);
  return beta == 0 ? AbsoluteLoss(c) : BentLoss(c, beta, 1 / beta);
}

constexpr FormulaRow kRows[] = {
    {"aten.__lshift__.Scalar", ShiftLeft},
    {"aten.__lshift__.Tensor", ShiftLeft},
    {"aten.__rshift__.Scalar", ShiftRight},
    {"aten.__rshift__.Tensor", ShiftRight},
    {"aten.add.Scalar", Add},
    {"aten.add.Tensor", Add},
    {"aten.addcdiv.default", AddCDiv},
    {"aten.addcmul.default", AddCMul},
    {"aten.bitwise_left_shift.Tensor", ShiftLeft},
    {"aten.bitwise_left_shift.Tensor_Scalar", ShiftLeft},
    {"aten.bitwise_right_shift.Tensor", ShiftRight},
    {"aten.bitwise_right_shift.Tensor_Scalar", ShiftRight},
    {"aten.clamp.Tensor", Clamp},
    {"aten.clamp_max.Tensor", Clamp},
    {"aten.clamp_min.Tensor", Clamp},
    {"aten.clamp.default", Clamp},
    {"aten.copysign.Scalar", CopySign},
    {"aten.copysign.Tensor", CopySign},
    {"aten.div.Scalar", Div},
    {"aten.div.Scalar_mode", DivMode},
    {"aten.div.Tensor", Div},
    {"aten.div.Tensor_mode", DivMode},
    {"aten.eq.Scalar", Equal},
    {"aten.eq.Tensor", Equal},
    {"aten.floor_divide.Scalar", FloorDivide},
    {"aten.floor_divide.default", FloorDivide},
    {"aten.fmax.default", IgnoringNan<true>},
    {"aten.fmin.default", IgnoringNan<false>},
    {"aten.fmod.Scalar", Fmod},
    {"aten.fmod.Tensor", Fmod},
    {"aten.ge.Scalar", GreaterEqual},
    {"aten.ge.Tensor", GreaterEqual},
    {"aten.gt.Scalar", Greater},
    {"aten.gt.Tensor", Greater},
    {"aten.heaviside.default", Heaviside},
    {"aten.huber_loss.default", HuberLoss},
    {"aten.hypot.default", Hypot},
    {"aten.isclose.default", IsClose},
    {"aten.l1_loss.default", AbsoluteLoss},
    {"aten.le.Scalar", LessEqual},
    {"aten.le.Tensor", LessEqual},
    {"aten.lerp.Scalar", Lerp},
    {"aten.lerp.Tensor", Lerp},
    {"aten.logaddexp.default", [](FormulaCall& c) { return LogAdd(c, 1); }},
    {"aten.logaddexp2.default", [](FormulaCall& c) { return LogAdd(c, M_LN2); }},
    {"aten.logical_and.default", Logical<true>},
    {"aten.logical_or.default", Logical<false>},
    {"aten.logical_xor.default", LogicalXor},
    {"aten.lt.Scalar", Less},
    {"aten.lt.Tensor", Less},
    {"aten.masked_fill.Scalar", MaskedFill},
    {"aten.masked_fill.Tensor", MaskedFill},
    {"aten.max.other", Maximum},
    {"aten.maximum.default", Maximum},
    {"aten.min.other", Minimum},
    {"aten.minimum.default", Minimum},
    {"aten.mse_loss.default", SquaredLoss},
    {"aten.mul.Scalar", Mul},
    {"aten.mul.Tensor", Mul},
    {"aten.multiply.Tensor", Mul},
    {"aten.ne.Scalar", NotEqual},
    {"aten.ne.Tensor", NotEqual},
    {"aten.pow.Scalar", Pow},
    {"aten.pow.Tensor_Scalar", Pow},
    {"aten.pow.Tensor_Tensor", Pow},
    {"aten.remainder.Scalar", Remainder},
    {"aten.remainder.Scalar_Tensor", Remainder},
    {"aten.remainder.Tensor", Remainder},
    {"aten.rsub.Scalar", ReverseSub},
    {"aten.rsub.Tensor", ReverseSub},
    {"aten.smooth_l1_loss.default", SmoothLoss},
    {"aten.sub.Scalar", Sub},
    {"aten.sub.Tensor", Sub},
    {"aten.true_divide.Tensor", Div},
    {"aten.where.Scalar", Where},
    {"aten.where.ScalarOther", Where},
    {"aten.where.ScalarSelf", Where},
    {"aten.where.self", Where},
    {"aten.xlogy.Scalar_Other", XLogY},
    {"aten.xlogy.Tensor", XLogY},
};

}  // namespace

std::span<const FormulaRow> BinaryFormulas() { return kRows; }

}  // namespace tare
