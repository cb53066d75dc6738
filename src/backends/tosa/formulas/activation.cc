// Functions of one tensor in its own dtype, as the operators SIGMOID, TANH and the like and formulas of them.
#include <cmath>

#include "backends/tosa/formulas/formula.h"

namespace tare {
namespace {

Node Gelu(FormulaCall& c) {
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const AttrValue& form = node.attr("approximate");
  if (form.kind == AttrKind::kString && form.text() == "tanh") {
    const Node cube = m.Mul(m.Mul(x, x), x);
    const Node inner = m.Mul(m.Add(x, m.Mul(cube, 0.044715)), 0.7978845608028654);
    const Node half = m.Mul(x, 0.5);
    return m.Mul(half, m.Add(m.Unary("TANH", inner), 1.0));
  }
  const Node half = m.Mul(x, 0.5);
  return m.Mul(half, m.Add(m.Unary("ERF", m.Mul(x, 0.7071067811865476)), 1.0));
}

Node HardSigmoid(TensorMath& m, Node x) { return m.Mul(m.Clamp(m.Add(x, 3.0), 0.0, 6.0), 1.0 / 6.0); }

// Up to a slope of 1 the larger of x and slope * x, from there the smaller.
Node LeakyRelu(TensorMath& m, Node x, double slope) {
  return m.Binary(slope <= 1 ? "MAXIMUM" : "MINIMUM", x, m.Mul(x, slope));
}

Node Elu(FormulaCall& c) {
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const double alpha = node.number("alpha").value_or(1.0), scale = node.number("scale").value_or(1.0),
               input = node.number("input_scale").value_or(1.0);
  const Node below = m.Mul(m.Add(m.Unary("EXP", m.Mul(m.Clamp(x, -INFINITY, 0.0), input)), -1.0), alpha * scale);
  const Node positive = m.Greater(x, 0.0), above = m.Mul(x, scale);
  return m.Select(positive, above, below);
}

// log(1 + exp(b*x)) / b without overflow: max(x, 0) + log(1 + exp(-|b*x|)) / b
Node Softplus(FormulaCall& c) {
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const double beta = node.number("beta").value_or(1.0);
  const Node decay = m.Unary("EXP", m.Mul(m.Unary("ABS", m.Mul(x, beta)), -1.0));
  const Node above = m.Clamp(x, 0.0, INFINITY);
  return m.Add(above, m.Mul(m.Unary("LOG", m.Add(decay, 1.0)), 1.0 / beta));
}

Node Power(FormulaCall& c) {
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const double exponent = node.number("exponent").value_or(1.0);
  if (exponent == 1.0) return m.Mul(x, 1.0);
  if (exponent > 1 && exponent <= 8 && exponent == std::floor(exponent)) {
    Node power = x;
    for (int i = 1; i < static_cast<int>(exponent); ++i) power = m.Mul(power, x);
    return power;
  }
  if (exponent == -1.0) return m.Unary("RECIPROCAL", x);
  if (exponent == -0.5) return m.Unary("RSQRT", x);
  if (exponent == std::floor(exponent)) {  // POW takes no negative base
    const Node size = m.Unary("ABS", x), power = m.Binary("POW", size, m.Number(x, exponent));
    if (std::fmod(exponent, 2) == 0) return power;
    const Node below = m.Less(x, 0), negative = m.Unary("NEGATE", power);
    return m.Select(below, negative, power);
  }
  return m.Binary("POW", x, m.Number(x, exponent));
}

Node Softsign(TensorMath& m, Node x) { return m.Mul(x, m.Unary("RECIPROCAL", m.Add(m.Unary("ABS", x), 1.0))); }

// x * tanh(log(1 + exp(x)))
Node Mish(TensorMath& m, Node x) {
  const Node decay = m.Unary("EXP", m.Mul(m.Unary("ABS", x), -1.0));
  const Node above = m.Clamp(x, 0.0, INFINITY), rest = m.Unary("LOG", m.Add(decay, 1.0));
  return m.Mul(x, m.Unary("TANH", m.Add(above, rest)));
}

// alpha * (exp(x) - 1) below 0, x above, times scale
Node Selu(TensorMath& m, Node x, double alpha, double scale) {
  const Node below = m.Mul(m.Add(m.Unary("EXP", m.Clamp(x, -INFINITY, 0.0)), -1.0), alpha);
  return m.Mul(m.Add(m.Clamp(x, 0.0, INFINITY), below), scale);
}

constexpr FormulaRow kRows[] = {
    {"aten.ceil.default", [](FormulaCall& c) { return c.m.Unary("CEIL", c.first); }},
    {"aten.cos.default", [](FormulaCall& c) { return c.m.Unary("COS", c.first); }},
    {"aten.elu.default", Elu},
    {"aten.erf.default", [](FormulaCall& c) { return c.m.Unary("ERF", c.first); }},
    {"aten.exp.default", [](FormulaCall& c) { return c.m.Unary("EXP", c.first); }},
    {"aten.exp2.default", [](FormulaCall& c) { return c.m.Unary("EXP", c.m.Mul(c.first, M_LN2)); }},
    {"aten.expm1.default", [](FormulaCall& c) { return c.m.Add(c.m.Unary("EXP", c.first), -1.0); }},
    {"aten.floor.default", [](FormulaCall& c) { return c.m.Unary("FLOOR", c.first); }},
    {"aten.gelu.default", Gelu},
    {"aten.hardsigmoid.default", [](FormulaCall& c) { return HardSigmoid(c.m, c.first); }},
    {"aten.hardswish.default", [](FormulaCall& c) { return c.m.Mul(c.first, HardSigmoid(c.m, c.first)); }},
    {"aten.leaky_relu.default",
     [](FormulaCall& c) { return LeakyRelu(c.m, c.first, c.node.number("negative_slope").value_or(0.01)); }},
    {"aten.log.default", [](FormulaCall& c) { return c.m.Unary("LOG", c.first); }},
    {"aten.log1p.default", [](FormulaCall& c) { return c.m.Unary("LOG", c.m.Add(c.first, 1.0)); }},
    {"aten.log10.default", [](FormulaCall& c) { return c.m.Mul(c.m.Unary("LOG", c.first), 1 / M_LN10); }},
    {"aten.log2.default", [](FormulaCall& c) { return c.m.Mul(c.m.Unary("LOG", c.first), 1 / M_LN2); }},
    {"aten.logical_not.default", [](FormulaCall& c) { return c.m.Unary("LOGICAL_NOT", c.first); }},
    {"aten.mish.default", [](FormulaCall& c) { return Mish(c.m, c.first); }},
    {"aten.neg.default", [](FormulaCall& c) { return c.m.Unary("NEGATE", c.first); }},
    {"aten.pow.Tensor_Scalar", Power},
    {"aten.reciprocal.default", [](FormulaCall& c) { return c.m.Unary("RECIPROCAL", c.first); }},
    {"aten.rsqrt.default", [](FormulaCall& c) { return c.m.Unary("RSQRT", c.first); }},
    {"aten.selu.default", [](FormulaCall& c) { return Selu(c.m, c.first, 1.6732632423543772, 1.0507009873554805); }},
    {"aten.sigmoid.default", [](FormulaCall& c) { return c.m.Unary("SIGMOID", c.first); }},
    {"aten.silu.default", [](FormulaCall& c) { return c.m.Mul(c.first, c.m.Unary("SIGMOID", c.first)); }},
    {"aten.sin.default", [](FormulaCall& c) { return c.m.Unary("SIN", c.first); }},
    {"aten.softplus.default", Softplus},
    {"aten.softsign.default", [](FormulaCall& c) { return Softsign(c.m, c.first); }},
    {"aten.sqrt.default", [](FormulaCall& c) { return c.m.Binary("POW", c.first, c.m.Number(c.first, 0.5)); }},
    {"aten.square.default", [](FormulaCall& c) { return c.m.Mul(c.first, c.first); }},
    {"aten.tanh.default", [](FormulaCall& c) { return c.m.Unary("TANH", c.first); }},
};

}  // namespace

std::span<const FormulaRow> ActivationFormulas() { return kRows; }

}  // namespace tare
