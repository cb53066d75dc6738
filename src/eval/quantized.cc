// quantized_decomposed: between real and stored numbers. Source: torch/ao/quantization/fx/_decomposed.py.
#include <vector>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/quantize.h"
#include "ir/status.h"

namespace tare {
namespace {

// One scale and zero point, or one per index of an axis.
struct Params {
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  int64_t inner = 1;  // elements per step of the axis
  int64_t min = 0, max = 0;
  size_t IndexOf(int64_t element) const { return scales.size() == 1 ? 0 : element / inner % scales.size(); }
};

absl::StatusOr<std::vector<double>> Reals(const KernelCall& call, const Tensor& x) {
  TARE_ASSIGN_OR_RETURN(const Tensor wide, Converted(call, x, DType::kF64));
  return std::vector<double>(wide.data<double>().begin(), wide.data<double>().end());
}

absl::StatusOr<std::vector<int64_t>> Integers(const KernelCall& call, const Tensor& x) {
  TARE_ASSIGN_OR_RETURN(const Tensor wide, Converted(call, x, DType::kI64));
  return std::vector<int64_t>(wide.data<int64_t>().begin(), wide.data<int64_t>().end());
}

// Rows call them scale or scales, numbers or tensors.
absl::StatusOr<Params> ParamsOf(KernelCall& call, const Tensor& x) {
  Params params;
  const bool per_channel = call.given("scales");
  TARE_ASSIGN_OR_RETURN(params.scales, Reals(call, call.tensor_or_number(per_channel ? "scales" : "scale")));
  const std::string_view zero_points = per_channel ? "zero_points" : "zero_point";
  if (call.given(zero_points)) {
    TARE_ASSIGN_OR_RETURN(params.zero_points, Integers(call, call.tensor_or_number(zero_points)));
  } else {
    params.zero_points.assign(params.scales.size(), 0);
  }
  params.min = call.integer("quant_min");
  params.max = call.integer("quant_max");
  const int axis = per_channel ? call.axis("axis", x.rank()) : 0;
  TARE_RETURN_IF_ERROR(call.status());
  const size_t expected = per_channel && x.rank() > 0 ? static_cast<size_t>(x.extent(axis)) : 1;
  if (params.scales.size() != expected || params.zero_points.size() != expected || params.min > params.max)
    return InvalidError("eval_c16", call.op_name(), ": scales and zero points do not go with ", Describe(x));
  if (per_channel) {
    for (int i = axis + 1; i < x.rank(); ++i) params.inner *= x.extent(i);
  }
  return params;
}

absl::StatusOr<Value> Quantize(KernelCall& call) {
  const Tensor& input = call.tensor("input");
  const std::optional<DType> dtype = call.dtype("dtype");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Params params, ParamsOf(call, input));
  TARE_ASSIGN_OR_RETURN(const Tensor x, Converted(call, input, DType::kF32));
  if (!dtype || !IsInteger(*dtype)) return InvalidError("eval_c16", call.op_name(), ": the result is no integer");
  return AsValue(VisitElements(*dtype, call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(*dtype, x.shape()));
    for (int64_t i = 0; i < x.size(); ++i) {
      const size_t c = params.IndexOf(i);
      result.mutable_data<T>()[i] = static_cast<T>(
          QuantizeElement(x.data<float>()[i], params.scales[c], params.zero_points[c], params.min, params.max));
    }
    return result;
  }));
}

absl::StatusOr<Value> Dequantize(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Params params, ParamsOf(call, x));
  TARE_ASSIGN_OR_RETURN(
      Tensor result, VisitElements(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
        using T = typename decltype(tag)::type;
        TARE_ASSIGN_OR_RETURN(Tensor real, call.Make(DType::kF32, x.shape()));
        for (int64_t i = 0; i < x.size(); ++i) {
          const size_t c = params.IndexOf(i);
          real.mutable_data<float>()[i] =
              DequantizeElement(static_cast<int64_t>(x.data<T>()[i]), params.scales[c], params.zero_points[c]);
        }
        return real;
      }));
  return AsValue(Converted(call, result, call.result_dtype().value_or(DType::kF32)));
}

constexpr KernelRow kRows[] = {
    {"quantized_decomposed.dequantize_per_channel.default", Dequantize},
    {"quantized_decomposed.dequantize_per_tensor.default", Dequantize},
    {"quantized_decomposed.dequantize_per_tensor.tensor", Dequantize},
    {"quantized_decomposed.quantize_per_channel.default", Quantize},
    {"quantized_decomposed.quantize_per_tensor.default", Quantize},
    {"quantized_decomposed.quantize_per_tensor.tensor", Quantize},
};

}  // namespace

std::span<const KernelRow> QuantizedKernels() { return kRows; }

}  // namespace tare
