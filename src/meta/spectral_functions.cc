// Rule functions of Fourier transforms: where a result lies in storage.
#include <algorithm>

#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/view.h"

namespace tare {
namespace {

// Sorts dims by falling stride; equal ones keep their order.
absl::Status SortByStride(RuleContext& rc, const TensorMeta& tensor, std::span<int64_t> dims) {
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t k = i; k > 0; --k) {
      TARE_ASSIGN_OR_RETURN(const bool smaller, rc.Less(tensor.strides[dims[k - 1]], tensor.strides[dims[k]]));
      if (!smaller) break;
      std::swap(dims[k - 1], dims[k]);
    }
  }
  return absl::OkStatus();
}

// fft_strides(x, shape, dims, keep_last): dense, transformed dims innermost and sorted by stride (but for
// the last one, where it is to be kept), the others outside in the order of x.
// Source: torch/_meta_registrations.py, _exec_fft; aten/src/ATen/native/mkl/SpectralOps.cpp.
absl::StatusOr<Value> FftStrides(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> shape = args.Ints(1), dims = args.Ints(2);
  TARE_RETURN_IF_ERROR(args.status());
  // Elsewhere -1 and 0 name an axis of a tensor without dims; here there is none to transform.
  if (self.shape.empty() && !dims.empty()) {
    return InvalidError("fft_strides_c1", "dim ", rc.Print(Value::Int(dims[0])), " of a tensor without dims");
  }
  TARE_ASSIGN_OR_RETURN(auto transformed, WrapDims(rc, dims, self.shape.size()));
  const std::span<int64_t> inner(transformed);
  const bool keeps_last = args.Flag(3) && !inner.empty();
  TARE_RETURN_IF_ERROR(SortByStride(rc, self, inner.first(inner.size() - (keeps_last ? 1 : 0))));
  llvm::SmallVector<int64_t, 8> outer;
  for (int64_t dim = 0; dim < static_cast<int64_t>(self.shape.size()); ++dim) {
    if (std::find(inner.begin(), inner.end(), dim) == inner.end()) outer.push_back(dim);
  }
  TARE_RETURN_IF_ERROR(SortByStride(rc, self, outer));
  llvm::SmallVector<int, 8> order;
  for (int64_t dim : outer) order.push_back(static_cast<int>(dim));
  for (int64_t dim : inner) order.push_back(static_cast<int>(dim));
  return Value::Ints(StridesInOrder(rc, shape, order));
}

constexpr RuleFunctionRow kRows[] = {
    {"fft_strides", "fft_strides(x, shape, dims, keep_last) -> strides",
     "Strides of a Fourier transform of x over dims.", 4, 4, FftStrides},
};

}  // namespace

std::span<const RuleFunctionRow> SpectralFunctions() { return kRows; }

}  // namespace tare
