#include <cstring>

#include "eval/eval.h"
#include "eval/strided.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

// Extents, strides and offset as numbers; false when one is symbolic.
bool StaticView(const TensorMeta& tensor, Extents& shape, Extents& strides) {
  if (!tensor.offset.is_static()) return false;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (!tensor.shape[i].is_static() || !tensor.strides[i].is_static()) return false;
    shape.push_back(tensor.shape[i].value());
    strides.push_back(tensor.strides[i].value());
  }
  return true;
}

}  // namespace

absl::StatusOr<Tensor> ConstantTensor(const Context& context, const Constant& constant,
                                      const std::shared_ptr<MemoryBudget>& budget) {
  const Meta& meta = context.metas.Get(constant.meta);
  const auto bad = [&](std::string_view what) {
    return InvalidError("eval_c9", "constant ", constant.name, " ", what);
  };
  if (meta.kind != MetaKind::kTensor) return bad("is no tensor");
  Extents shape, strides;
  if (meta.tensor.layout != Layout::kStrided || !StaticView(meta.tensor, shape, strides))
    return bad("has no static dense layout");
  TARE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Make(meta.tensor.dtype, shape, budget));
  if (tensor.size() == 0) return tensor;
  if (constant.payload.missing) return bad("has no data: the program was exported without weights");

  const int element_bytes = ElementBytes(tensor.dtype());
  int64_t last = meta.tensor.offset.value();
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) || __builtin_add_overflow(last, reach, &last))
      return bad("reaches beyond its data");
  }
  const std::span<const std::byte> bytes = constant.payload.bytes;
  if (last >= static_cast<int64_t>(bytes.size()) / element_bytes) return bad("reaches beyond its data");
  CopyStrided(bytes, meta.tensor.offset.value(), strides, tensor.mutable_bytes(), 0, ContiguousStrides(shape), shape,
              element_bytes);
  ForgetPages(constant.payload);
  if (tensor.dtype() == DType::kBool) {
    for (std::byte& b : tensor.mutable_bytes()) b = std::byte{b != std::byte{0}};
  }
  return tensor;
}

}  // namespace tare
