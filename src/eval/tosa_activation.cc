// TOSA's CLAMP, TABLE, CAST and functions of floating point. Source: TOSA 1.0, activation functions,
// elementwise unary operators, type conversion.
#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

template <auto kFunction>
absl::StatusOr<Value> FloatFunction(KernelCall& call) {
  // Activation functions call their operand `input`, unary operators `input1`.
  const Tensor& x = call.tensor(call.given("input") ? "input" : "input1");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(VisitFloats(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map<T, T>(call, x, x.dtype(), [](T v) { return static_cast<T>(kFunction(v)); });
  }));
}

// Written for f32 in double: each is rounded once.
double Ceil(double x) { return std::ceil(x); }
double Cos(double x) { return std::cos(x); }
double Erf(double x) { return std::erf(x); }
double Exp(double x) { return std::exp(x); }
double Floor(double x) { return std::floor(x); }
double Log(double x) { return std::log(x); }
double Reciprocal(double x) { return 1 / x; }
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Sin(double x) { return std::sin(x); }
double Tanh(double x) { return std::tanh(x); }

template <typename T>
T Bound(const Number& number) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number.as_real());
  } else {
    const int64_t value =
        number.kind == ValueKind::kFloat ? static_cast<int64_t>(std::clamp(number.real, -1e18, 1e18)) : number.integer;
    return static_cast<T>(std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
}

absl::StatusOr<Value> Clamp(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const Number min = call.number("min_val"), max = call.number("max_val");
  const bool ignore = call.text("nan_mode") == "IGNORE";
  TARE_RETURN_IF_ERROR(call.status());
  if (!(min.as_real() <= max.as_real()))
    return InvalidError("eval_c16", "tosa.CLAMP.default: bounds ", min.as_real(), " and ", max.as_real(),
                        " are no range");
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T low = Bound<T>(min), high = Bound<T>(max);
    return Map<T, T>(call, x, x.dtype(), [=](T v) {
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(v)) return ignore ? low : v;
      }
      return std::min(std::max(v, low), high);
    });
  }));
}

// i8: entry value + 128. i16: 513 entries, 7 bits of interpolation, a result of 23 bits.
absl::StatusOr<Value> Table(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  const Tensor& table = call.tensor("table");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.dtype() != table.dtype() || table.rank() != 1)
    return InvalidError("eval_c14", "tosa.TABLE.default: ", Describe(x), " and ", Describe(table),
                        " do not go together");
  if (x.dtype() == DType::kI8 && table.size() == 256) {
    const std::span<const int8_t> entries = table.data<int8_t>();
    return AsValue(Map<int8_t, int8_t>(call, x, DType::kI8, [&](int8_t v) { return entries[v + 128]; }));
  }
  if (x.dtype() != DType::kI16 || table.size() != 513)
    return InvalidError("eval_c14", "tosa.TABLE.default: ", Describe(x), " and ", Describe(table),
                        " do not go together");
  const std::span<const int16_t> entries = table.data<int16_t>();
  for (const int16_t v : x.data<int16_t>()) {  // only those between which an element lies
    const int32_t i = (v + 32768) >> 7, slope = entries[i + 1] - entries[i];
    if (slope < INT16_MIN || slope > INT16_MAX)
      return InvalidError("eval_c16", "tosa.TABLE.default: entries ", i, " and ", i + 1,
                          " are more than 16 bits apart");
  }
  return AsValue(Map<int16_t, int32_t>(call, x, DType::kI32, [&](int16_t v) {
    const int32_t index = (v + 32768) >> 7, fraction = v & 127;
    const int32_t base = entries[index], next = entries[index + 1];
    return base * 128 + (next - base) * fraction;
  }));
}

// Float to integer rounds to nearest even and saturates, NaN gives 0; integers lose their high bits; bool is
// "not zero".
template <typename From, typename To>
To CastElement(From v) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) return 0;
    const double rounded = std::nearbyint(static_cast<double>(v));
    if (rounded <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (rounded >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(rounded);
  } else {
    return static_cast<To>(v);
  }
}

absl::StatusOr<Value> Cast(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const DType to = call.dtype("dtype").value_or(x.dtype());
  TARE_RETURN_IF_ERROR(call.status());
  if (to == x.dtype()) return Value(x);
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    return VisitElements(to, call.op_name(), [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      if (to == DType::kBool) return Map<From, To>(call, x, to, [](From v) { return static_cast<To>(v != 0); });
      return Map<From, To>(call, x, to, CastElement<From, To>);
    });
  }));
}

constexpr KernelRow kRows[] = {
    {"tosa.CAST.default", Cast},
    {"tosa.CEIL.default", FloatFunction<Ceil>},
    {"tosa.CLAMP.default", Clamp},
    {"tosa.COS.default", FloatFunction<Cos>},
    {"tosa.ERF.default", FloatFunction<Erf>},
    {"tosa.EXP.default", FloatFunction<Exp>},
    {"tosa.FLOOR.default", FloatFunction<Floor>},
    {"tosa.LOG.default", FloatFunction<Log>},
    {"tosa.RECIPROCAL.default", FloatFunction<Reciprocal>},
    {"tosa.RSQRT.default", FloatFunction<Rsqrt>},
    {"tosa.SIGMOID.default", FloatFunction<Sigmoid>},
    {"tosa.SIN.default", FloatFunction<Sin>},
    {"tosa.TABLE.default", Table},
    {"tosa.TANH.default", FloatFunction<Tanh>},
};

}  // namespace

std::span<const KernelRow> TosaActivationKernels() { return kRows; }

}  // namespace tare
