// ATen's functions of one element. Source: torch/_refs/__init__.py, torch/_decomp/decompositions.py.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

// f in double on `self` converted to the result's floating dtype, rounded once.
template <typename F>
absl::StatusOr<Value> MapReal(KernelCall& call, F f) {
  const Tensor& self = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor x, Converted(call, self, call.result_dtype().value_or(self.dtype())));
  return AsValue(VisitFloats(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map<T, T>(call, x, x.dtype(), [f](T v) { return static_cast<T>(f(static_cast<double>(v))); });
  }));
}

template <auto kFunction>
absl::StatusOr<Value> Real(KernelCall& call) {
  return MapReal(call, kFunction);
}

// F::Of<T> on elements of the dtype as it is.
template <typename F>
absl::StatusOr<Value> Any(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map<T, T>(call, x, x.dtype(), [](T v) { return F::template Of<T>(v); });
  }));
}

template <typename F>
absl::StatusOr<Value> Test(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map<T, uint8_t>(call, x, DType::kBool, [](T v) -> uint8_t { return F::template Of<T>(v); });
  }));
}

struct Abs {
  template <typename T>
  static T Of(T v) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(v);
    } else if constexpr (std::is_signed_v<T>) {
      return v < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(v)) : v;
    } else {
      return v;
    }
  }
};
struct Neg {
  template <typename T>
  static T Of(T v) {
    if constexpr (std::is_floating_point_v<T>) {
      return -v;
    } else {
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(v));
    }
  }
};
struct Sign {
  template <typename T>
  static T Of(T v) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(v)) return 0;
    }
    return static_cast<T>((v > 0) - (v < 0));
  }
};
struct Square {
  template <typename T>
  static T Of(T v) {
    return static_cast<T>(v * v);
  }
};
struct Relu {
  template <typename T>
  static T Of(T v) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(v)) return v;
    }
    return v > T{0} ? v : T{0};
  }
};
template <auto kRound>
struct Rounded {
  template <typename T>
  static T Of(T v) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(kRound(static_cast<double>(v)));
    return v;
  }
};
struct IsNan {
  template <typename T>
  static bool Of(T v) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(v);
    return false;
  }
};
struct IsInf {
  template <typename T>
  static bool Of(T v) {
    if constexpr (std::is_floating_point_v<T>) return std::isinf(v);
    return false;
  }
};
struct IsZero {
  template <typename T>
  static bool Of(T v) {
    return v == 0;
  }
};

double Acos(double v) { return std::acos(v); }
double Acosh(double v) { return std::acosh(v); }
double Asin(double v) { return std::asin(v); }
double Asinh(double v) { return std::asinh(v); }
double Atan(double v) { return std::atan(v); }
double Atanh(double v) { return std::atanh(v); }
double Ceil(double v) { return std::ceil(v); }
double Cos(double v) { return std::cos(v); }
double Cosh(double v) { return std::cosh(v); }
double Erf(double v) { return std::erf(v); }
double Erfc(double v) { return std::erfc(v); }
double Exp(double v) { return std::exp(v); }
double Exp2(double v) { return std::exp2(v); }
double Expm1(double v) { return std::expm1(v); }
double Floor(double v) { return std::floor(v); }
double Frac(double v) { return v - std::trunc(v); }
double Log(double v) { return std::log(v); }
double Log10(double v) { return std::log10(v); }
double Log1p(double v) { return std::log1p(v); }
double Log2(double v) { return std::log2(v); }
double Reciprocal(double v) { return 1 / v; }
double RoundEven(double v) { return std::nearbyint(v); }
double Rsqrt(double v) { return 1 / std::sqrt(v); }
double Sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
double Sin(double v) { return std::sin(v); }
double Sinh(double v) { return std::sinh(v); }
double Sqrt(double v) { return std::sqrt(v); }
double Tan(double v) { return std::tan(v); }
double Tanh(double v) { return std::tanh(v); }
double Trunc(double v) { return std::trunc(v); }
double Silu(double v) { return v * Sigmoid(v); }
double Mish(double v) { return v * std::tanh(std::log1p(std::exp(v))); }
double LogSigmoid(double v) { return std::min(v, 0.0) - std::log1p(std::exp(-std::abs(v))); }
double Clip(double v, double low, double high) { return v < low ? low : v > high ? high : v; }  // NaN stays
double Hardsigmoid(double v) { return Clip(v + 3, 0, 6) / 6; }
double Hardswish(double v) { return v * Clip(v + 3, 0, 6) / 6; }
double Relu6(double v) { return Clip(v, 0, 6); }

absl::StatusOr<Value> Gelu(KernelCall& call) {
  if (call.text("approximate") != "tanh")
    return MapReal(call, [](double v) { return 0.5 * v * std::erfc(-v * std::numbers::sqrt2 / 2); });
  return MapReal(call, [](double v) {
    const double inner = std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v);
    return 0.5 * v * (1 + std::tanh(inner));
  });
}

absl::StatusOr<Value> LeakyRelu(KernelCall& call) {
  const double slope = call.real("negative_slope");
  return MapReal(call, [slope](double v) { return v > 0 ? v : v * slope; });
}

absl::StatusOr<Value> Elu(KernelCall& call) {
  const double alpha = call.real("alpha"), scale = call.real("scale"), input_scale = call.real("input_scale");
  return MapReal(call, [=](double v) { return v > 0 ? v * scale : std::expm1(v * input_scale) * alpha * scale; });
}

absl::StatusOr<Value> Softplus(KernelCall& call) {
  const double beta = call.real("beta"), threshold = call.real("threshold");
  return MapReal(call, [=](double v) { return v * beta > threshold ? v : std::log1p(std::exp(v * beta)) / beta; });
}

template <bool kSoft>
absl::StatusOr<Value> Shrink(KernelCall& call) {
  const double lambda = call.real("lambd");
  return MapReal(call, [lambda](double v) {
    if (std::isnan(v)) return v;
    if (v > lambda) return kSoft ? v - lambda : v;
    if (v < -lambda) return kSoft ? v + lambda : v;
    return 0.0;
  });
}

// hardtanh and clamp with numbers: bounds in the result's type; a clamp of NaN is NaN; the upper bound wins.
absl::StatusOr<Value> Bounded(KernelCall& call, std::string_view low_name, std::string_view high_name) {
  const Tensor& self = call.tensor("self");
  const bool has_low = !low_name.empty() && call.given(low_name),
             has_high = !high_name.empty() && call.given(high_name);
  const Number low = has_low ? call.number(low_name) : Number(), high = has_high ? call.number(high_name) : Number();
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor x, Converted(call, self, call.result_dtype().value_or(self.dtype())));
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto as = [](const Number& n) {
      return std::is_floating_point_v<T> ? static_cast<T>(n.as_real()) : static_cast<T>(n.integer);
    };
    const T floor = as(low), ceiling = as(high);
    return Map<T, T>(call, x, x.dtype(), [=](T v) {
      if (has_low && v < floor) v = floor;
      if (has_high && v > ceiling) v = ceiling;
      return v;
    });
  }));
}

absl::StatusOr<Value> Clamp(KernelCall& call) { return Bounded(call, "min", "max"); }
absl::StatusOr<Value> ClampMin(KernelCall& call) { return Bounded(call, "min", ""); }
absl::StatusOr<Value> ClampMax(KernelCall& call) { return Bounded(call, "", "max"); }
absl::StatusOr<Value> Hardtanh(KernelCall& call) { return Bounded(call, "min_val", "max_val"); }

absl::StatusOr<Value> BitwiseNot(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      return UnimplementedError("eval_c13", call.op_name(), " on ", Name(x.dtype()), " cannot be evaluated");
    } else {
      const bool truth = x.dtype() == DType::kBool;
      return Map<T, T>(call, x, x.dtype(),
                       [truth](T v) { return truth ? static_cast<T>(v == 0) : static_cast<T>(~v); });
    }
  }));
}

// Only in inference: nothing is dropped.
absl::StatusOr<Value> Dropout(KernelCall& call) {
  const Tensor& x = call.tensor(call.given("input") ? "input" : "self");
  const bool train = call.flag("train");
  TARE_RETURN_IF_ERROR(call.status());
  if (train) return UnimplementedError("eval_c19", call.op_name(), " in training is random");
  return Value(x);
}

constexpr KernelRow kRows[] = {
    {"aten.abs.default", Any<Abs>},
    {"aten.acos.default", Real<Acos>},
    {"aten.acosh.default", Real<Acosh>},
    {"aten.asin.default", Real<Asin>},
    {"aten.asinh.default", Real<Asinh>},
    {"aten.atan.default", Real<Atan>},
    {"aten.atanh.default", Real<Atanh>},
    {"aten.bitwise_not.default", BitwiseNot},
    {"aten.ceil.default", Any<Rounded<Ceil>>},
    {"aten.clamp.default", Clamp},
    {"aten.clamp_max.default", ClampMax},
    {"aten.clamp_min.default", ClampMin},
    {"aten.cos.default", Real<Cos>},
    {"aten.cosh.default", Real<Cosh>},
    {"aten.dropout.default", Dropout},
    {"aten.elu.default", Elu},
    {"aten.erf.default", Real<Erf>},
    {"aten.erfc.default", Real<Erfc>},
    {"aten.exp.default", Real<Exp>},
    {"aten.exp2.default", Real<Exp2>},
    {"aten.expm1.default", Real<Expm1>},
    {"aten.feature_dropout.default", Dropout},
    {"aten.floor.default", Any<Rounded<Floor>>},
    {"aten.frac.default", Real<Frac>},
    {"aten.gelu.default", Gelu},
    {"aten.hardshrink.default", Shrink<false>},
    {"aten.hardsigmoid.default", Real<Hardsigmoid>},
    {"aten.hardswish.default", Real<Hardswish>},
    {"aten.hardtanh.default", Hardtanh},
    {"aten.isinf.default", Test<IsInf>},
    {"aten.isnan.default", Test<IsNan>},
    {"aten.leaky_relu.default", LeakyRelu},
    {"aten.log.default", Real<Log>},
    {"aten.log10.default", Real<Log10>},
    {"aten.log1p.default", Real<Log1p>},
    {"aten.log2.default", Real<Log2>},
    {"aten.log_sigmoid.default", Real<LogSigmoid>},
    {"aten.logical_not.default", Test<IsZero>},
    {"aten.mish.default", Real<Mish>},
    {"aten.neg.default", Any<Neg>},
    {"aten.reciprocal.default", Real<Reciprocal>},
    {"aten.relu.default", Any<Relu>},
    {"aten.relu6.default", Real<Relu6>},
    {"aten.round.default", Any<Rounded<RoundEven>>},
    {"aten.rsqrt.default", Real<Rsqrt>},
    {"aten.sigmoid.default", Real<Sigmoid>},
    {"aten.sign.default", Any<Sign>},
    {"aten.silu.default", Real<Silu>},
    {"aten.sin.default", Real<Sin>},
    {"aten.sinh.default", Real<Sinh>},
    {"aten.softplus.default", Softplus},
    {"aten.softshrink.default", Shrink<true>},
    {"aten.sqrt.default", Real<Sqrt>},
    {"aten.square.default", Any<Square>},
    {"aten.tan.default", Real<Tan>},
    {"aten.tanh.default", Real<Tanh>},
    {"aten.trunc.default", Any<Rounded<Trunc>>},
};

}  // namespace

std::span<const KernelRow> AtenUnaryKernels() { return kRows; }

}  // namespace tare
