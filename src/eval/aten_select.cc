#include "eval/aten_select.h"

#include <algorithm>
#include <optional>

#include "eval/convert.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

// A mask stands for the positions where it is true: one index per axis of it.
absl::Status AppendIndices(const KernelCall& call, const Tensor& index, std::vector<std::optional<Tensor>>& list) {
  if (index.dtype() != DType::kBool) {
    TARE_ASSIGN_OR_RETURN(Tensor wide, Converted(call, index, DType::kI64));
    list.emplace_back(std::move(wide));
    return absl::OkStatus();
  }
  const std::span<const uint8_t> mask = index.data<uint8_t>();
  const int64_t count = std::count_if(mask.begin(), mask.end(), [](uint8_t v) { return v != 0; });
  const Extents strides = ContiguousStrides(index.shape());
  for (int axis = 0; axis < index.rank(); ++axis) {
    TARE_ASSIGN_OR_RETURN(Tensor positions, call.Make(DType::kI64, Extents{count}));
    int64_t to = 0;
    for (size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] != 0)
        positions.mutable_data<int64_t>()[to++] = static_cast<int64_t>(i) / strides[axis] % index.extent(axis);
    }
    list.emplace_back(std::move(positions));
  }
  return absl::OkStatus();
}

// Axes of the rows in the order of the result: [before, common, after] of [common, before, after].
Extents ResultOrder(const Selection& s) {
  Extents perms;
  for (size_t i = 0; i < s.front; ++i) perms.push_back(static_cast<int64_t>(s.broadcast_rank + i));
  for (size_t i = 0; i < s.broadcast_rank; ++i) perms.push_back(static_cast<int64_t>(i));
  for (size_t i = s.broadcast_rank + s.front; i < s.shape.size(); ++i) perms.push_back(static_cast<int64_t>(i));
  return perms;
}

Extents Inverse(const Extents& perms) {
  Extents inverse(perms.size());
  for (size_t i = 0; i < perms.size(); ++i) inverse[perms[i]] = static_cast<int64_t>(i);
  return inverse;
}

}  // namespace

Extents Selection::ResultShape() const {
  Extents result;
  for (const int64_t axis : ResultOrder(*this)) result.push_back(shape[axis]);
  return result;
}

absl::StatusOr<Tensor> Selection::FromRows(const KernelCall& call, const Tensor& rows) const {
  return Permuted(call, rows, ResultOrder(*this));
}
absl::StatusOr<Tensor> Selection::ToRows(const KernelCall& call, const Tensor& result) const {
  return Permuted(call, result, Inverse(ResultOrder(*this)));
}
absl::StatusOr<Tensor> Selection::FromIndexedFirst(const KernelCall& call, const Tensor& changed) const {
  return Permuted(call, changed, Inverse(order));
}

absl::StatusOr<Selection> SelectByIndices(KernelCall& call, const Tensor& x) {
  std::vector<std::optional<Tensor>> list;
  for (const Tensor* index : call.tensors("indices")) {
    if (index == nullptr) {
      list.emplace_back(std::nullopt);
    } else {
      TARE_RETURN_IF_ERROR(AppendIndices(call, *index, list));
    }
  }
  TARE_RETURN_IF_ERROR(call.status());
  if (list.size() > x.shape().size())
    return InvalidError("eval_c16", call.op_name(), ": ", list.size(), " indices for ", Describe(x));
  list.resize(x.shape().size());
  Extents kept, indexed;
  Extents common;
  for (size_t i = 0; i < list.size(); ++i) {
    (list[i] ? indexed : kept).push_back(static_cast<int64_t>(i));
    if (!list[i]) continue;
    TARE_ASSIGN_OR_RETURN(common, BroadcastShape(common, list[i]->shape()));
  }
  Selection s;
  if (indexed.empty()) return InvalidError("eval_c16", call.op_name(), ": there is no index");
  const bool adjacent = indexed.back() - indexed.front() + 1 == static_cast<int64_t>(indexed.size());
  s.front = adjacent ? static_cast<size_t>(indexed.front()) : 0;
  s.broadcast_rank = common.size();
  s.order = indexed;
  s.order.insert(s.order.end(), kept.begin(), kept.end());
  TARE_ASSIGN_OR_RETURN(s.x, Permuted(call, x, s.order));
  for (const int64_t axis : kept) s.row *= x.extent(static_cast<int>(axis));
  TARE_ASSIGN_OR_RETURN(const int64_t count, CountElements(common));
  // As many offsets as the result has rows: counted like a tensor of them.
  TARE_ASSIGN_OR_RETURN(Tensor offsets, call.Make(DType::kI64, common));
  const Extents strides = ContiguousStrides(s.x.shape());
  for (size_t k = 0; k < indexed.size(); ++k) {
    TARE_ASSIGN_OR_RETURN(const Tensor expanded, Expanded(call, *list[indexed[k]], common));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t extent = s.x.extent(static_cast<int>(k));
      const int64_t index = expanded.data<int64_t>()[i], at = index < 0 ? index + extent : index;
      if (at < 0 || at >= extent)
        return InvalidError("eval_c15", call.op_name(), ": index ", index, " is outside 0 ... ", extent - 1);
      offsets.mutable_data<int64_t>()[i] += at * strides[k];
    }
  }
  s.offsets.assign(offsets.data<int64_t>().begin(), offsets.data<int64_t>().end());
  s.shape = common;
  for (const int64_t axis : kept) s.shape.push_back(x.extent(static_cast<int>(axis)));
  return s;
}

}  // namespace tare
