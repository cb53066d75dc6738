#include "backends/tosa/table_functions.h"

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

// Evaluated in f64 and rounded once, but for the functions torch composes of f32 steps.
float Narrow(double x) { return static_cast<float>(x); }

float Gelu(float x, const TableArgs& args) {
  if (args.tanh_form) {
    const float inner = 0.7978845608028654f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + Narrow(std::tanh(static_cast<double>(inner))));
  }
  return x * 0.5f * (1.0f + Narrow(std::erf(static_cast<double>(x * 0.70710678118654752440f))));
}

float Sigmoid(float x) { return 1.0f / (1.0f + Narrow(std::exp(-static_cast<double>(x)))); }

float HardSigmoid(float x) { return std::min(std::max(x + 3.0f, 0.0f), 6.0f) / 6.0f; }

// Half to even, as nearbyint in the default mode.
float Round(float x) { return std::nearbyint(x); }

float Erfinv(float x) {
  const double y = static_cast<double>(x);
  if (std::abs(y) >= 1) return std::abs(y) == 1 ? std::copysign(INFINITY, x) : NAN;
  // Newton steps from Winitzki's approximation.
  const double a = 0.147, l = std::log(1 - y * y), t = 2 / (3.14159265358979323846 * a) + l / 2;
  double r = std::copysign(std::sqrt(std::sqrt(t * t - l / a) - t), y);
  for (int i = 0; i < 4; ++i) r -= (std::erf(r) - y) / (1.1283791670955126 * std::exp(-r * r));
  return Narrow(r);
}

constexpr TableFunction kFunctions[] = {
    {"aten.acos.default", [](float x, const TableArgs&) { return Narrow(std::acos(static_cast<double>(x))); }},
    {"aten.acosh.default", [](float x, const TableArgs&) { return Narrow(std::acosh(static_cast<double>(x))); }},
    {"aten.add.Scalar"},
    {"aten.add.Tensor"},
    {"aten.asin.default", [](float x, const TableArgs&) { return Narrow(std::asin(static_cast<double>(x))); }},
    {"aten.asinh.default", [](float x, const TableArgs&) { return Narrow(std::asinh(static_cast<double>(x))); }},
    {"aten.atan.default", [](float x, const TableArgs&) { return Narrow(std::atan(static_cast<double>(x))); }},
    {"aten.atanh.default", [](float x, const TableArgs&) { return Narrow(std::atanh(static_cast<double>(x))); }},
    {"aten.ceil.default", [](float x, const TableArgs&) { return std::ceil(x); }},
    {"aten.celu.default"},
    {"aten.cos.default", [](float x, const TableArgs&) { return Narrow(std::cos(static_cast<double>(x))); }},
    {"aten.cosh.default", [](float x, const TableArgs&) { return Narrow(std::cosh(static_cast<double>(x))); }},
    {"aten.deg2rad.default"},
    {"aten.div.Scalar"},
    {"aten.div.Scalar_mode"},
    {"aten.div.Tensor"},
    {"aten.div.Tensor_mode"},
    {"aten.elu.default",
     [](float x, const TableArgs& a) {
       const float alpha = Narrow(a.number[0]), scale = Narrow(a.number[1]), input = Narrow(a.number[2]);
       return x > 0 ? x * scale : Narrow(std::expm1(static_cast<double>(x * input))) * (alpha * scale);
     }},
    {"aten.erf.default", [](float x, const TableArgs&) { return Narrow(std::erf(static_cast<double>(x))); }},
    {"aten.erfc.default"},
    {"aten.erfinv.default", [](float x, const TableArgs&) { return Erfinv(x); }},
    {"aten.exp.default", [](float x, const TableArgs&) { return Narrow(std::exp(static_cast<double>(x))); }},
    {"aten.exp2.default"},
    {"aten.expm1.default", [](float x, const TableArgs&) { return Narrow(std::expm1(static_cast<double>(x))); }},
    {"aten.floor.default", [](float x, const TableArgs&) { return std::floor(x); }},
    {"aten.floor_divide.default"},
    {"aten.fmod.Scalar"},
    {"aten.frac.default"},
    {"aten.gelu.default", Gelu},
    {"aten.hardshrink.default"},
    {"aten.hardsigmoid.default", [](float x, const TableArgs&) { return HardSigmoid(x); }},
    {"aten.hardswish.default",
     [](float x, const TableArgs&) { return x * std::min(std::max(x + 3.0f, 0.0f), 6.0f) / 6.0f; }},
    {"aten.leaky_relu.default", [](float x, const TableArgs& a) { return x > 0 ? x : x * Narrow(a.number[0]); }},
    {"aten.log.default", [](float x, const TableArgs&) { return Narrow(std::log(static_cast<double>(x))); }},
    {"aten.log10.default", [](float x, const TableArgs&) { return Narrow(std::log10(static_cast<double>(x))); }},
    {"aten.log1p.default", [](float x, const TableArgs&) { return Narrow(std::log1p(static_cast<double>(x))); }},
    {"aten.log2.default"},
    {"aten.log_sigmoid.default"},
    {"aten.logit.default"},
    {"aten.mish.default"},
    {"aten.mul.Scalar"},
    {"aten.mul.Tensor"},
    {"aten.nan_to_num.default"},
    {"aten.neg.default", [](float x, const TableArgs&) { return -x; }},
    {"aten.pow.Scalar"},
    {"aten.pow.Tensor_Scalar",
     [](float x, const TableArgs& a) {
       if (a.number[0] == 2.0) return x * x;
       return Narrow(std::pow(static_cast<double>(x), a.number[0]));
     }},
    {"aten.rad2deg.default"},
    {"aten.reciprocal.default", [](float x, const TableArgs&) { return 1.0f / x; }},
    {"aten.relu6.default"},
    {"aten.remainder.Scalar",
     [](float x, const TableArgs& a) {
       const float divisor = Narrow(a.number[0]);
       const float rest = std::fmod(x, divisor);
       return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
     }},
    {"aten.round.default", [](float x, const TableArgs&) { return Round(x); }},
    {"aten.rsqrt.default", [](float x, const TableArgs&) { return 1.0f / std::sqrt(x); }},
    {"aten.rsub.Scalar"},
    {"aten.selu.default"},
    {"aten.sgn.default"},
    {"aten.sigmoid.default", [](float x, const TableArgs&) { return Sigmoid(x); }},
    {"aten.sign.default"},
    {"aten.silu.default", [](float x, const TableArgs&) { return x * Sigmoid(x); }},
    {"aten.sin.default", [](float x, const TableArgs&) { return Narrow(std::sin(static_cast<double>(x))); }},
    {"aten.sinh.default", [](float x, const TableArgs&) { return Narrow(std::sinh(static_cast<double>(x))); }},
    {"aten.softplus.default"},
    {"aten.softshrink.default"},
    {"aten.sqrt.default", [](float x, const TableArgs&) { return std::sqrt(x); }},
    {"aten.square.default"},
    {"aten.sub.Scalar"},
    {"aten.sub.Tensor"},
    {"aten.tan.default", [](float x, const TableArgs&) { return Narrow(std::tan(static_cast<double>(x))); }},
    {"aten.tanh.default", [](float x, const TableArgs&) { return Narrow(std::tanh(static_cast<double>(x))); }},
    {"aten.threshold.default"},
    {"aten.trunc.default"},
};

constexpr std::string_view kPairs[] = {
    "aten.atan2.default",    "aten.copysign.Tensor",   "aten.div.Tensor",         "aten.div.Tensor_mode",
    "aten.fmax.default",     "aten.fmin.default",      "aten.fmod.Tensor",        "aten.floor_divide.default",
    "aten.hypot.default",    "aten.logaddexp.default", "aten.logaddexp2.default", "aten.pow.Tensor_Tensor",
    "aten.remainder.Tensor", "aten.xlogy.Tensor",
};

}  // namespace

std::span<const TableFunction> TableFunctions() { return kFunctions; }
std::span<const std::string_view> PairFunctions() { return kPairs; }

TableArgs ReadTableArgs(Node node) {
  TableArgs args;
  args.tanh_form = node.attr("approximate").kind == AttrKind::kString && node.attr("approximate").text() == "tanh";
  for (const std::string_view name : {"exponent", "negative_slope", "other", "alpha"})
    if (const std::optional<double> number = node.number(name)) args.number[0] = *number;
  args.number[1] = node.number("scale").value_or(1.0);
  args.number[2] = node.number("input_scale").value_or(1.0);
  return args;
}

}  // namespace tare
