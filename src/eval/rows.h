// Tensors seen as rows along some axes: how reductions, softmax and norms of ATen walk them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/call.h"
#include "eval/strided.h"
#include "eval/tensor.h"

namespace tare {

// Axes as they are named: negative ones counted from the end, none meaning all. Sorted, once each.
// Errors: InvalidArgument [eval_c7].
absl::StatusOr<std::vector<int>> AxesOf(const KernelCall& call, std::span<const int64_t> dims, int rank);

// x with the axes moved to the end: `count` rows of `length` elements.
struct Rows {
  Tensor elements;
  int64_t count = 0, length = 0;
  Extents kept, kept_ones;  // shape without the axes, and with 1 in their place
};
absl::StatusOr<Rows> RowsOf(const KernelCall& call, const Tensor& x, std::span<const int> axes);

// A tensor of the rows' order brought back to the order of `shape`, whose axes had been moved to the end.
absl::StatusOr<Tensor> FromRows(const KernelCall& call, const Tensor& rows, std::span<const int64_t> shape,
                                std::span<const int> axes);

}  // namespace tare
