#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/math.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

using Formula = Node (*)(TensorMath& m, Node x, Node node);

Node Gelu(TensorMath& m, Node x, Node node) {
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

Node Elu(TensorMath& m, Node x, Node node) {
  const double alpha = node.number("alpha").value_or(1.0), scale = node.number("scale").value_or(1.0),
               input = node.number("input_scale").value_or(1.0);
  const Node below = m.Mul(m.Add(m.Unary("EXP", m.Mul(m.Clamp(x, -INFINITY, 0.0), input)), -1.0), alpha * scale);
  const Node positive = m.Greater(x, 0.0), above = m.Mul(x, scale);
  return m.Select(positive, above, below);
}

// log(1 + exp(b*x)) / b without overflow: max(x, 0) + log(1 + exp(-|b*x|)) / b
Node Softplus(TensorMath& m, Node x, Node node) {
  const double beta = node.number("beta").value_or(1.0);
  const Node decay = m.Unary("EXP", m.Mul(m.Unary("ABS", m.Mul(x, beta)), -1.0));
  const Node above = m.Clamp(x, 0.0, INFINITY);
  return m.Add(above, m.Mul(m.Unary("LOG", m.Add(decay, 1.0)), 1.0 / beta));
}

Node Power(TensorMath& m, Node x, Node node) {
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

struct FunctionRow {
  std::string_view aten;
  Formula formula;
};

constexpr FunctionRow kRows[] = {
    {"aten.ceil.default", [](TensorMath& m, Node x, Node) { return m.Unary("CEIL", x); }},
    {"aten.cos.default", [](TensorMath& m, Node x, Node) { return m.Unary("COS", x); }},
    {"aten.elu.default", Elu},
    {"aten.erf.default", [](TensorMath& m, Node x, Node) { return m.Unary("ERF", x); }},
    {"aten.exp.default", [](TensorMath& m, Node x, Node) { return m.Unary("EXP", x); }},
    {"aten.exp2.default", [](TensorMath& m, Node x, Node) { return m.Unary("EXP", m.Mul(x, M_LN2)); }},
    {"aten.expm1.default", [](TensorMath& m, Node x, Node) { return m.Add(m.Unary("EXP", x), -1.0); }},
    {"aten.floor.default", [](TensorMath& m, Node x, Node) { return m.Unary("FLOOR", x); }},
    {"aten.gelu.default", Gelu},
    {"aten.hardsigmoid.default", [](TensorMath& m, Node x, Node) { return HardSigmoid(m, x); }},
    {"aten.hardswish.default", [](TensorMath& m, Node x, Node) { return m.Mul(x, HardSigmoid(m, x)); }},
    {"aten.leaky_relu.default",
     [](TensorMath& m, Node x, Node node) { return LeakyRelu(m, x, node.number("negative_slope").value_or(0.01)); }},
    {"aten.log.default", [](TensorMath& m, Node x, Node) { return m.Unary("LOG", x); }},
    {"aten.log1p.default", [](TensorMath& m, Node x, Node) { return m.Unary("LOG", m.Add(x, 1.0)); }},
    {"aten.log10.default", [](TensorMath& m, Node x, Node) { return m.Mul(m.Unary("LOG", x), 1 / M_LN10); }},
    {"aten.log2.default", [](TensorMath& m, Node x, Node) { return m.Mul(m.Unary("LOG", x), 1 / M_LN2); }},
    {"aten.logical_not.default", [](TensorMath& m, Node x, Node) { return m.Unary("LOGICAL_NOT", x); }},
    {"aten.mish.default", [](TensorMath& m, Node x, Node) { return Mish(m, x); }},
    {"aten.neg.default", [](TensorMath& m, Node x, Node) { return m.Unary("NEGATE", x); }},
    {"aten.pow.Tensor_Scalar", Power},
    {"aten.reciprocal.default", [](TensorMath& m, Node x, Node) { return m.Unary("RECIPROCAL", x); }},
    {"aten.rsqrt.default", [](TensorMath& m, Node x, Node) { return m.Unary("RSQRT", x); }},
    {"aten.selu.default",
     [](TensorMath& m, Node x, Node) { return Selu(m, x, 1.6732632423543772, 1.0507009873554805); }},
    {"aten.sigmoid.default", [](TensorMath& m, Node x, Node) { return m.Unary("SIGMOID", x); }},
    {"aten.silu.default", [](TensorMath& m, Node x, Node) { return m.Mul(x, m.Unary("SIGMOID", x)); }},
    {"aten.sin.default", [](TensorMath& m, Node x, Node) { return m.Unary("SIN", x); }},
    {"aten.softplus.default", Softplus},
    {"aten.softsign.default", [](TensorMath& m, Node x, Node) { return Softsign(m, x); }},
    {"aten.sqrt.default", [](TensorMath& m, Node x, Node) { return m.Binary("POW", x, m.Number(x, 0.5)); }},
    {"aten.square.default", [](TensorMath& m, Node x, Node) { return m.Mul(x, x); }},
    {"aten.tanh.default", [](TensorMath& m, Node x, Node) { return m.Unary("TANH", x); }},
};

// Writes functions of one plain tensor: SIGMOID, TANH and the like, and formulas of them.
//
//   silu(%x)  =>  MUL(%x, SIGMOID(%x))
class LowerFunction final : public TosaTableRewrite<Formula> {
 public:
  explicit LowerFunction(const Context& context) : TosaTableRewrite("lower-function", context) {
    for (const FunctionRow& row : kRows) Add(context.ops.Find(row.aten), row.formula);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node arguments[] = {node.arg("self")};
    if (!arguments[0].has_value() || !arguments[0].is_tensor() || !node.is_tensor()) return absl::OkStatus();
    if (arguments[0].tensor().dtype != node.tensor().dtype) return absl::OkStatus();
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || site->quantised) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    TensorMath math(emit);
    const Formula formula = RowOf(node);
    emit.Replace(node, formula(math, arguments[0], node));
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerFunction(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerFunction>(context, options);
}

}  // namespace tare
