// Views: the shape, strides and offset of another look at the same storage.
//
// Sources of the rules: torch/_refs/__init__.py, torch/_prims/__init__.py, aten/src/ATen/TensorUtils.cpp
// (computeStride), aten/src/ATen/native/TensorShape.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "ir/meta.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/functions.h"
#include "meta/rule_context.h"
#include "meta/value.h"

namespace tare {

// `dim` counted from the front. A rank of 0 accepts 0 and -1. Errors: [dim_c1] out of range.
absl::StatusOr<int64_t> WrapDim(int64_t dim, size_t rank);
// As WrapDim, but a tensor without dims has none to name. Errors: [dim_c1], [dim_c2] rank 0.
absl::StatusOr<int64_t> WrapDimOfShaped(int64_t dim, size_t rank);
// Every entry wrapped and specialised. Errors: [dim_c1], [dim_c3] an axis twice.
absl::StatusOr<llvm::SmallVector<int64_t, 8>> WrapDims(RuleContext& rc, std::span<const Dim> dims, size_t rank);

// `size` with its -1, if any, replaced so that the product is `numel`.
// Errors: [size_c1] two -1, [size_c2] below -1, [size_c3] numel differs, [size_c4] -1 has no single answer.
absl::StatusOr<std::span<const Dim>> InferSize(RuleContext& rc, Dim numel, std::span<const Dim> size);

// Strides of `self` seen as `shape` (same numel), or nothing when its storage does not allow it.
absl::StatusOr<std::optional<std::span<const Dim>>> ViewStrides(RuleContext& rc, const TensorMeta& self,
                                                                std::span<const Dim> shape);

inline constexpr int64_t kMaxParts = 65536;  // tensors of one split

using TensorOr = absl::StatusOr<const TensorMeta*>;
using TensorsOr = absl::StatusOr<Value>;  // a list of tensors

// self[start:end:step] along `dim`; negative bounds count from the end, both are clamped.
// Errors: [slice_c1] step < 1, [dim_c1], [dim_c2].
TensorOr Slice(RuleContext& rc, const TensorMeta& self, int64_t dim, std::optional<Dim> start, std::optional<Dim> end,
               Dim step);
// Errors: [select_c1] index out of range.
TensorOr Select(RuleContext& rc, const TensorMeta& self, int64_t dim, Dim index);
TensorOr Permute(RuleContext& rc, const TensorMeta& self, std::span<const int64_t> order);
TensorOr Narrow(RuleContext& rc, const TensorMeta& self, int64_t dim, Dim start, Dim length);
TensorOr Expand(RuleContext& rc, const TensorMeta& self, std::span<const Dim> size);
TensorOr Unsqueeze(RuleContext& rc, const TensorMeta& self, int64_t dim);
// View of that size, or a contiguous copy where the storage does not allow a view.
TensorOr Reshape(RuleContext& rc, const TensorMeta& self, std::span<const Dim> size);
TensorsOr SplitWithSizes(RuleContext& rc, const TensorMeta& self, std::span<const Dim> sizes, int64_t dim);

std::span<const Dim> WithoutAxis(RuleContext& rc, std::span<const Dim> dims, int64_t axis);
std::span<const Dim> WithAxis(RuleContext& rc, std::span<const Dim> dims, int64_t axis, Dim value);
std::span<const Dim> WithExtent(RuleContext& rc, std::span<const Dim> dims, int64_t axis, Dim value);

// The same element type and device with another shape, strides and offset.
const TensorMeta* Restrided(RuleContext& rc, const TensorMeta& self, std::span<const Dim> shape,
                            std::span<const Dim> strides, Dim offset);

}  // namespace tare
