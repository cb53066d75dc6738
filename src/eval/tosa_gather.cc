// TOSA's GATHER and SCATTER. Source: TOSA 1.0, scatter/gather operators.
#include <cstring>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

// values [N, K, C] and indices [N, W], each index in [0, K).
absl::Status CheckOperands(const KernelCall& call, const Tensor& values, const Tensor& indices) {
  if (values.rank() != 3 || indices.rank() != 2 || values.extent(0) != indices.extent(0) ||
      indices.dtype() != DType::kI32) {
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(values), " and ", Describe(indices),
                        " do not go together");
  }
  for (const int32_t index : indices.data<int32_t>()) {
    if (index < 0 || index >= values.extent(1))
      return InvalidError("eval_c15", call.op_name(), ": index ", index, " is outside 0 ... ", values.extent(1) - 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Gather(KernelCall& call) {
  const Tensor& values = call.tensor("values");
  const Tensor& indices = call.tensor("indices");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_RETURN_IF_ERROR(CheckOperands(call, values, indices));
  const int64_t rows = values.extent(1), picks = indices.extent(1);
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(values.dtype(), Extents{values.extent(0), picks, values.extent(2)}));
  const size_t row_bytes = static_cast<size_t>(values.extent(2)) * ElementBytes(values.dtype());
  const std::span<const int32_t> index = indices.data<int32_t>();
  for (size_t i = 0; i < index.size(); ++i) {
    const int64_t from = static_cast<int64_t>(i) / picks * rows + index[i];
    std::memcpy(result.mutable_bytes().data() + i * row_bytes, values.bytes().data() + from * row_bytes, row_bytes);
  }
  return Value(std::move(result));
}

absl::StatusOr<Value> Scatter(KernelCall& call) {
  const Tensor& values = call.tensor("values_in");
  const Tensor& indices = call.tensor("indices");
  const Tensor& input = call.tensor("input");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_RETURN_IF_ERROR(CheckOperands(call, values, indices));
  const int64_t rows = values.extent(1), picks = indices.extent(1);
  if (input.rank() != 3 || input.dtype() != values.dtype() || input.extent(0) != values.extent(0) ||
      input.extent(1) != picks || input.extent(2) != values.extent(2)) {
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(input), " does not go with ", Describe(values));
  }
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(values.dtype(), values.shape()));
  if (values.size() > 0) std::memcpy(result.mutable_bytes().data(), values.bytes().data(), values.bytes().size());
  std::vector<bool> written(values.extent(0) * rows, false);
  const size_t row_bytes = static_cast<size_t>(values.extent(2)) * ElementBytes(values.dtype());
  const std::span<const int32_t> index = indices.data<int32_t>();
  for (size_t i = 0; i < index.size(); ++i) {
    const int64_t to = static_cast<int64_t>(i) / picks * rows + index[i];
    if (written[to]) return InvalidError("eval_c15", call.op_name(), ": index ", index[i], " is written twice");
    written[to] = true;
    std::memcpy(result.mutable_bytes().data() + to * row_bytes, input.bytes().data() + i * row_bytes, row_bytes);
  }
  return Value(std::move(result));
}

constexpr KernelRow kRows[] = {
    {"tosa.GATHER.default", Gather},
    {"tosa.SCATTER.default", Scatter},
};

}  // namespace

std::span<const KernelRow> TosaGatherKernels() { return kRows; }

}  // namespace tare
