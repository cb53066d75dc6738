#include "eval/rows.h"

#include <algorithm>

#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

bool Contains(std::span<const int> axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

// Kept axes first, then the others.
Extents Order(int rank, std::span<const int> axes) {
  Extents order;
  for (int i = 0; i < rank; ++i) {
    if (!Contains(axes, i)) order.push_back(i);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  return order;
}

}  // namespace

absl::StatusOr<std::vector<int>> AxesOf(const KernelCall& call, std::span<const int64_t> dims, int rank) {
  std::vector<int> axes;
  for (const int64_t dim : dims) {
    const int64_t axis = dim < 0 ? dim + std::max(rank, 1) : dim;
    if (axis < 0 || axis >= std::max(rank, 1))
      return InvalidError("eval_c7", call.op_name(), ": dim ", dim, " is outside rank ", rank);
    if (rank > 0) axes.push_back(static_cast<int>(axis));
  }
  if (dims.empty()) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

absl::StatusOr<Rows> RowsOf(const KernelCall& call, const Tensor& x, std::span<const int> axes) {
  Rows rows;
  rows.count = rows.length = 1;
  for (int i = 0; i < x.rank(); ++i) {
    const bool reduced = Contains(axes, i);
    (reduced ? rows.length : rows.count) *= x.extent(i);
    if (!reduced) rows.kept.push_back(x.extent(i));
    rows.kept_ones.push_back(reduced ? 1 : x.extent(i));
  }
  const Extents order = Order(x.rank(), axes);
  if (std::is_sorted(order.begin(), order.end())) {
    rows.elements = x;
  } else {
    TARE_ASSIGN_OR_RETURN(rows.elements, Permuted(call, x, order));
  }
  return rows;
}

absl::StatusOr<Tensor> FromRows(const KernelCall& call, const Tensor& rows, std::span<const int64_t> shape,
                                std::span<const int> axes) {
  const Extents order = Order(static_cast<int>(shape.size()), axes);
  Extents moved, back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    moved.push_back(shape[order[i]]);
    back[order[i]] = static_cast<int64_t>(i);
  }
  return Permuted(call, rows.Reshaped(moved), back);
}

}  // namespace tare
