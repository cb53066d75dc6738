// Advanced indexing: which elements of a tensor a list of index tensors names.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/call.h"
#include "eval/strided.h"
#include "eval/tensor.h"

namespace tare {

// Rows of a tensor whose indexed axes were moved to the front.
struct Selection {
  Tensor x;                      // indexed axes first
  Extents order;                 // axis i of x is axis order[i] of the tensor
  std::vector<int64_t> offsets;  // of each row, in elements of x
  int64_t row = 1;               // elements of a row
  Extents shape;                 // of the rows: common extents of the indices, then the kept axes
  size_t broadcast_rank = 0;     // of the common extents
  size_t front = 0;              // kept axes that come before them in the result

  Extents ResultShape() const;
  // Between the order of the rows and the order of the result; from x back to the order of the tensor.
  absl::StatusOr<Tensor> FromRows(const KernelCall& call, const Tensor& rows) const;
  absl::StatusOr<Tensor> ToRows(const KernelCall& call, const Tensor& result) const;
  absl::StatusOr<Tensor> FromIndexedFirst(const KernelCall& call, const Tensor& changed) const;
};

// The argument `indices` of a call applied to x. Errors: InvalidArgument [eval_c15] an index outside,
// [eval_c16] too many indices.
absl::StatusOr<Selection> SelectByIndices(KernelCall& call, const Tensor& x);

}  // namespace tare
