#include "eval/half.h"

#include <Eigen/Core>
#include <utility>

#include "ir/status.h"

namespace tare {
namespace {

template <typename Half>
void Widen(const Tensor& from, Tensor& to) {
  const std::span<const Half> in = from.data<Half>();
  const std::span<float> out = to.mutable_data<float>();
  for (size_t i = 0; i < in.size(); ++i) out[i] = static_cast<float>(in[i]);
}

template <typename Half>
void Narrow(const Tensor& from, Tensor& to) {
  const std::span<const float> in = from.data<float>();
  const std::span<Half> out = to.mutable_data<Half>();
  for (size_t i = 0; i < in.size(); ++i) out[i] = static_cast<Half>(in[i]);
}

absl::Status WidenOne(Value& value, const std::shared_ptr<MemoryBudget>& budget) {
  if (value.kind != ValueKind::kTensor) return absl::OkStatus();
  const DType dtype = value.tensor.dtype();
  if (WidenedDType(dtype) == dtype) return absl::OkStatus();
  TARE_ASSIGN_OR_RETURN(Tensor wide, Tensor::Make(DType::kF32, value.tensor.shape(), budget));
  if (dtype == DType::kF16) {
    Widen<Eigen::half>(value.tensor, wide);
  } else {
    Widen<Eigen::bfloat16>(value.tensor, wide);
  }
  value.tensor = std::move(wide);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Value>> WidenHalves(std::span<const Value> values,
                                               const std::shared_ptr<MemoryBudget>& budget) {
  std::vector<Value> widened(values.begin(), values.end());
  for (Value& value : widened) {
    TARE_RETURN_IF_ERROR(WidenOne(value, budget));
    for (Value& item : value.items) TARE_RETURN_IF_ERROR(WidenOne(item, budget));
  }
  return widened;
}

absl::Status NarrowHalves(const Context& context, const Meta& meta, Value& value,
                          const std::shared_ptr<MemoryBudget>& budget) {
  if (value.kind == ValueKind::kList && value.items.size() == meta.items.size()) {
    for (size_t i = 0; i < value.items.size(); ++i) {
      const Meta& item = context.metas.Get(meta.items[i]);
      if (item.kind == MetaKind::kTensor) TARE_RETURN_IF_ERROR(NarrowHalves(context, item, value.items[i], budget));
    }
    return absl::OkStatus();
  }
  if (meta.kind != MetaKind::kTensor || value.kind != ValueKind::kTensor || value.tensor.dtype() != DType::kF32)
    return absl::OkStatus();
  const DType dtype = meta.tensor.dtype;
  if (WidenedDType(dtype) == dtype) return absl::OkStatus();
  TARE_ASSIGN_OR_RETURN(Tensor narrow, Tensor::Make(dtype, value.tensor.shape(), budget));
  if (dtype == DType::kF16) {
    Narrow<Eigen::half>(value.tensor, narrow);
  } else {
    Narrow<Eigen::bfloat16>(value.tensor, narrow);
  }
  value.tensor = std::move(narrow);
  return absl::OkStatus();
}

}  // namespace tare
