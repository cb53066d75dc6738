// TOSA's RESCALE. Source: TOSA 1.0, RESCALE; requantize.h has the arithmetic.
#include <limits>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/requantize.h"
#include "ir/status.h"

namespace tare {
namespace {

// The element's value as RESCALE reads it.
template <typename T>
int64_t Extend(T value, bool is_unsigned) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < 8) {
    if (is_unsigned) return static_cast<int64_t>(static_cast<std::make_unsigned_t<T>>(value));
  }
  return static_cast<int64_t>(value);
}

template <typename To>
void SetBounds(bool is_unsigned, RescaleElement& element) {
  if constexpr (sizeof(To) < 4) {
    using U = std::make_unsigned_t<To>;
    element.min = is_unsigned ? 0 : std::numeric_limits<To>::min();
    element.max = is_unsigned ? std::numeric_limits<U>::max() : std::numeric_limits<To>::max();
  } else {
    element.min = INT32_MIN;
    element.max = INT32_MAX;
  }
}

template <typename From, typename To>
absl::Status RescaleAll(const Tensor& from, std::span<const FixedScale> scales, bool input_unsigned,
                        const RescaleElement& element, Tensor& to) {
  const std::span<const From> in = from.data<From>();
  const std::span<To> out = to.mutable_data<To>();
  size_t channel = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    TARE_ASSIGN_OR_RETURN(const int32_t value, Rescale(Extend(in[i], input_unsigned), scales[channel], element));
    out[i] = static_cast<To>(value);
    if (++channel == scales.size()) channel = 0;
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> RescaleTensor(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  const std::optional<DType> dtype = call.dtype("dtype");
  const std::vector<double> real_scales = call.reals("scale");
  const int64_t in_zp = call.integer("in_zp"), out_zp = call.integer("out_zp");
  const bool input_unsigned = call.flag("input_unsigned") || x.dtype() == DType::kU8;
  const bool output_unsigned = call.flag("output_unsigned") || dtype == DType::kU8;
  const std::string_view rounding = call.text("rounding_mode");  // INEXACT_ROUND permits what SINGLE_ROUND gives
  const bool wide = call.given("scale32") ? call.flag("scale32") : x.dtype() != DType::kI48;
  TARE_RETURN_IF_ERROR(call.status());

  RescaleElement element;
  element.width = wide ? ScaleWidth::k32 : ScaleWidth::k16;
  element.rounding = rounding == "DOUBLE_ROUND" ? ScaleRounding::kDouble : ScaleRounding::kSingle;
  if (wide ? x.dtype() == DType::kI48 : element.rounding == ScaleRounding::kDouble)
    return InvalidError("eval_c16", call.op_name(), ": a scale of this width does not go with ", Describe(x), " and ",
                        rounding);
  TARE_ASSIGN_OR_RETURN(const std::vector<FixedScale> scales, FixedScalesOf(real_scales, element.width));
  const int64_t channels = x.rank() == 0 ? 1 : x.extent(x.rank() - 1);
  if (scales.empty() || (scales.size() > 1 && static_cast<int64_t>(scales.size()) != channels)) {
    return InvalidError("eval_c16", "tosa.RESCALE.default: ", scales.size(), " scales for ", channels, " channels of ",
                        Describe(x));
  }
  if (!dtype || !IsInteger(*dtype)) return InvalidError("eval_c16", "tosa.RESCALE.default: the result is no integer");
  for (const int64_t zp : {in_zp, out_zp}) {
    if (zp < INT16_MIN || zp > UINT16_MAX)
      return InvalidError("eval_c16", "tosa.RESCALE.default: zero point ", zp, " is out of range");
  }
  element.input_zp = static_cast<int32_t>(in_zp);
  element.output_zp = static_cast<int32_t>(out_zp);
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto from_tag) {
    return VisitElements(*dtype, call.op_name(), [&](auto to_tag) -> absl::StatusOr<Tensor> {
      using From = typename decltype(from_tag)::type;
      using To = typename decltype(to_tag)::type;
      if constexpr (std::is_floating_point_v<From> || std::is_floating_point_v<To>) {
        return InvalidError("eval_c14", "tosa.RESCALE.default: ", Describe(x), " to ", Name(*dtype), " is not defined");
      } else {
        SetBounds<To>(output_unsigned, element);
        TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(*dtype, x.shape()));
        TARE_RETURN_IF_ERROR((RescaleAll<From, To>(x, scales, input_unsigned, element, result)));
        return result;
      }
    });
  }));
}

constexpr KernelRow kRows[] = {{"tosa.RESCALE.default", RescaleTensor}};

}  // namespace

std::span<const KernelRow> TosaRescaleKernels() { return kRows; }

}  // namespace tare
