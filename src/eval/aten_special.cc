// ATen's rarer functions of one to three elements, and losses. Source: torch/_refs/__init__.py, torch/_decomp.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

// f in double on tensors or numbers, broadcast, in the floating dtype of the result.
template <typename F>
absl::StatusOr<Value> Real1(KernelCall& call, std::string_view name, F f) {
  const Tensor x = call.tensor_or_number(name);
  TARE_RETURN_IF_ERROR(call.status());
  const DType dtype = call.result_dtype().value_or(x.dtype());
  TARE_ASSIGN_OR_RETURN(const Tensor in, Converted(call, x, dtype));
  return AsValue(VisitFloats(dtype, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map<T, T>(call, in, dtype, [f](T v) { return static_cast<T>(f(static_cast<double>(v))); });
  }));
}
template <typename F>
absl::StatusOr<Tensor> Real2(KernelCall& call, const Tensor& x, const Tensor& y, F f) {
  const DType dtype = call.result_dtype().value_or(x.dtype());
  TARE_ASSIGN_OR_RETURN(const Tensor a, Converted(call, x, dtype));
  TARE_ASSIGN_OR_RETURN(const Tensor b, Converted(call, y, dtype));
  return VisitFloats(dtype, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map2<T, T>(call, a, b, dtype,
                      [f](T u, T v) { return static_cast<T>(f(static_cast<double>(u), static_cast<double>(v))); });
  });
}
template <double (*kFunction)(double)>
absl::StatusOr<Value> One(KernelCall& call) {
  return Real1(call, "self", kFunction);
}
template <double (*kFunction)(double, double)>
absl::StatusOr<Value> Two(KernelCall& call) {
  const Tensor a = call.tensor_or_number("self"), b = call.tensor_or_number("other");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(Real2(call, a, b, kFunction));
}

double Erfinv(double y) {
  if (!(std::abs(y) < 1)) return std::abs(y) == 1 ? std::copysign(INFINITY, y) : NAN;
  // Newton steps from Winitzki's approximation.
  const double a = 0.147, l = std::log(1 - y * y), t = 2 / (std::numbers::pi * a) + l / 2;
  double r = std::copysign(std::sqrt(std::sqrt(t * t - l / a) - t), y);
  for (int i = 0; i < 4; ++i) r -= (std::erf(r) - y) / (2 / std::sqrt(std::numbers::pi) * std::exp(-r * r));
  return r;
}
double Sgn(double v) { return std::isnan(v) ? 0 : (v > 0) - (v < 0); }
double Expm1(double v) { return std::expm1(v); }
double Degrees(double v) { return v * 180 / std::numbers::pi; }
double Radians(double v) { return v * std::numbers::pi / 180; }
double Selu(double v) {
  constexpr double kAlpha = 1.6732632423543772, kScale = 1.0507009873554805;
  return v > 0 ? kScale * v : kScale * kAlpha * std::expm1(v);
}
double FMax(double a, double b) { return std::fmax(a, b); }
double FMin(double a, double b) { return std::fmin(a, b); }
double Hypot(double a, double b) { return std::hypot(a, b); }
double CopySign(double a, double b) { return std::copysign(a, b); }
double XLogY(double a, double b) { return std::isnan(b) ? b : a == 0 ? 0 : a * std::log(b); }
double LogAdd(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}
double LogAdd2(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  return std::max(a, b) + std::log1p(std::exp2(-std::abs(a - b))) / std::numbers::ln2;
}

absl::StatusOr<Value> Celu(KernelCall& call) {
  const double alpha = call.real("alpha");
  return Real1(call, "self", [alpha](double v) { return v > 0 ? v : alpha * std::expm1(v / alpha); });
}
absl::StatusOr<Value> Logit(KernelCall& call) {
  const bool clamps = call.given("eps");
  const double eps = clamps ? call.real("eps") : 0;
  return Real1(call, "self", [=](double v) {
    if (clamps) v = v < eps ? eps : v > 1 - eps ? 1 - eps : v;
    return std::log(v / (1 - v));
  });
}
absl::StatusOr<Value> Threshold(KernelCall& call) {
  const double threshold = call.real("threshold"), value = call.real("value");
  return Real1(call, "self", [=](double v) { return v <= threshold ? value : v; });
}

// Tests of floats; integers are all finite.
template <bool (*kTest)(double)>
absl::StatusOr<Value> Test(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor in, Converted(call, x, DType::kF64));
  return AsValue(Map<double, uint8_t>(call, in, DType::kBool, [](double v) -> uint8_t { return kTest(v); }));
}
bool IsFinite(double v) { return std::isfinite(v); }
bool IsPositive(double v) { return std::isinf(v) && v > 0; }
bool IsNegative(double v) { return std::isinf(v) && v < 0; }

// Bounds are tensors; the upper one wins, what is no number stays.
template <typename T>
T Bound(T v, T bound, bool lower) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) return v;
    if (std::isnan(bound)) return bound;
  }
  return lower ? std::max(v, bound) : std::min(v, bound);
}
absl::StatusOr<Value> Clamp(KernelCall& call) {
  Tensor x = call.tensor("self");
  const std::string_view op = call.op_name();
  for (const std::string_view name : {"min", "max"}) {
    const bool other = op.find(name == "min" ? "clamp_max" : "clamp_min") != std::string_view::npos;
    if (other || !call.given(name)) continue;
    const Tensor& given = call.tensor(name);
    TARE_RETURN_IF_ERROR(call.status());
    const DType dtype = call.result_dtype().value_or(x.dtype());
    TARE_ASSIGN_OR_RETURN(const Tensor a, Converted(call, x, dtype));
    TARE_ASSIGN_OR_RETURN(const Tensor b, Converted(call, given, dtype));
    const bool lower = name == "min";
    TARE_ASSIGN_OR_RETURN(x, VisitElements(dtype, op, [&](auto tag) {
                            using T = typename decltype(tag)::type;
                            return Map2<T, T>(call, a, b, dtype, [lower](T v, T w) { return Bound(v, w, lower); });
                          }));
  }
  TARE_RETURN_IF_ERROR(call.status());
  return Value(std::move(x));
}

// start + weight * (end - start), from the nearer end
absl::StatusOr<Value> Lerp(KernelCall& call) {
  const Tensor& start = call.tensor("self");
  const Tensor& end = call.tensor("end");
  const Tensor weight = call.tensor_or_number("weight");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor distance, Real2(call, end, start, [](double a, double b) { return a - b; }));
  TARE_ASSIGN_OR_RETURN(const Tensor part, Real2(call, distance, weight, [](double a, double b) { return a * b; }));
  return AsValue(Real2(call, start, part, [](double a, double b) { return a + b; }));
}

// A shift by a negative amount or by all bits is not defined.
template <bool kLeft>
absl::StatusOr<Value> Shift(KernelCall& call) {
  const Tensor a = call.tensor_or_number("self"), b = call.tensor_or_number("other");
  TARE_RETURN_IF_ERROR(call.status());
  const DType dtype = call.result_dtype().value_or(a.dtype());
  TARE_ASSIGN_OR_RETURN(const Tensor x, Converted(call, a, dtype));
  TARE_ASSIGN_OR_RETURN(const Tensor y, Converted(call, b, dtype));
  bool bad = false;
  TARE_ASSIGN_OR_RETURN(
      Tensor result, VisitElements(dtype, call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>) {
          return UnimplementedError("eval_c13", call.op_name(), " on ", Name(dtype), " cannot be evaluated");
        } else {
          return Map2<T, T>(call, x, y, dtype, [&bad](T v, T by) {
            const auto n = static_cast<int64_t>(by);
            bad |= n < 0 || n >= static_cast<int64_t>(8 * sizeof(T));
            if (bad) return T{0};
            return static_cast<T>(kLeft ? static_cast<uint64_t>(v) << n : static_cast<uint64_t>(v >> n));
          });
        }
      }));
  if (bad) return InvalidError("eval_c15", call.op_name(), ": a shift beyond the bits has no defined result");
  return Value(std::move(result));
}

// Element by element, then all of it summed or averaged: 0 none, 1 mean, 2 sum.
template <typename F>
absl::StatusOr<Value> Loss(KernelCall& call, F f) {
  const Tensor& a = call.tensor("self");
  const Tensor& b = call.tensor("target");
  const int64_t reduction = call.integer("reduction");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor loss, Real2(call, a, b, f));
  if (reduction == 0) return Value(loss);
  return AsValue(VisitFloats(loss.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    double sum = 0;
    for (const T v : loss.data<T>()) sum += static_cast<double>(v);
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(loss.dtype(), {}));
    result.mutable_data<T>()[0] = static_cast<T>(reduction == 1 ? sum / static_cast<double>(loss.size()) : sum);
    return result;
  }));
}
absl::StatusOr<Value> SquaredLoss(KernelCall& call) {
  return Loss(call, [](double a, double b) { return (a - b) * (a - b); });
}
absl::StatusOr<Value> AbsoluteLoss(KernelCall& call) {
  return Loss(call, [](double a, double b) { return std::abs(a - b); });
}
absl::StatusOr<Value> HuberLoss(KernelCall& call) {
  const double delta = call.real("delta");
  return Loss(call, [delta](double a, double b) {
    const double size = std::abs(a - b);
    return size < delta ? 0.5 * size * size : delta * (size - 0.5 * delta);
  });
}
absl::StatusOr<Value> SmoothLoss(KernelCall& call) {
  const double beta = call.real("beta");
  return Loss(call, [beta](double a, double b) {
    const double size = std::abs(a - b);
    return size < beta ? 0.5 * size * size / beta : size - 0.5 * beta;
  });
}

constexpr KernelRow kRows[] = {
    {"aten.bitwise_left_shift.Tensor", Shift<true>},
    {"aten.bitwise_left_shift.Tensor_Scalar", Shift<true>},
    {"aten.bitwise_right_shift.Tensor", Shift<false>},
    {"aten.bitwise_right_shift.Tensor_Scalar", Shift<false>},
    {"aten.celu.default", Celu},
    {"aten.clamp.Tensor", Clamp},
    {"aten.clamp_max.Tensor", Clamp},
    {"aten.clamp_min.Tensor", Clamp},
    {"aten.copysign.Scalar", Two<CopySign>},
    {"aten.copysign.Tensor", Two<CopySign>},
    {"aten.deg2rad.default", One<Radians>},
    {"aten.erfinv.default", One<Erfinv>},
    {"aten.fmax.default", Two<FMax>},
    {"aten.fmin.default", Two<FMin>},
    {"aten.huber_loss.default", HuberLoss},
    {"aten.hypot.default", Two<Hypot>},
    {"aten.isfinite.default", Test<IsFinite>},
    {"aten.isneginf.default", Test<IsNegative>},
    {"aten.isposinf.default", Test<IsPositive>},
    {"aten.l1_loss.default", AbsoluteLoss},
    {"aten.lerp.Scalar", Lerp},
    {"aten.lerp.Tensor", Lerp},
    {"aten.logaddexp.default", Two<LogAdd>},
    {"aten.logaddexp2.default", Two<LogAdd2>},
    {"aten.logit.default", Logit},
    {"aten.mse_loss.default", SquaredLoss},
    {"aten.rad2deg.default", One<Degrees>},
    {"aten.selu.default", One<Selu>},
    {"aten.sgn.default", One<Sgn>},
    {"aten.smooth_l1_loss.default", SmoothLoss},
    {"aten.special_expm1.default", One<Expm1>},
    {"aten.threshold.default", Threshold},
    {"aten.xlogy.Scalar_Other", Two<XLogY>},
    {"aten.xlogy.Tensor", Two<XLogY>},
};

}  // namespace

std::span<const KernelRow> AtenSpecialKernels() { return kRows; }

}  // namespace tare
