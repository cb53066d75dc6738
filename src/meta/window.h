// Windows that move over the spatial dims of a tensor: convolution, pooling, padding, resizing.
//
// Arguments per spatial dim come as lists; a list of one stands for all dims.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "ir/meta.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/rule_context.h"
#include "meta/view.h"

namespace tare {

using PerDim = llvm::SmallVector<Dim, 3>;

// `values` for n spatial dims; an empty list gives `otherwise`.
// Errors: [window_c1] the list has neither 1 nor n entries.
absl::StatusOr<PerDim> ForEachDim(RuleContext& rc, std::string_view name, std::span<const Dim> values, size_t n,
                                  std::span<const Dim> otherwise = {});
// Errors: [window_c2] with the name of the list.
absl::Status RequirePositive(RuleContext& rc, std::string_view name, std::span<const Dim> values);
absl::Status RequireNotNegative(RuleContext& rc, std::string_view name, std::span<const Dim> values);

// Extent after a convolution, in elements:
//   floor((in + 2 pad - dilation (kernel - 1) - 1) / stride) + 1
Dim ConvExtent(RuleContext& rc, Dim in, Dim kernel, Dim stride, Dim pad, Dim dilation);
// Extent after a transposed convolution:
//   (in - 1) stride - 2 pad + dilation (kernel - 1) + output_pad + 1
Dim ConvTransposeExtent(RuleContext& rc, Dim in, Dim kernel, Dim stride, Dim pad, Dim dilation, Dim output_pad);

enum class Rounding : bool { kFloor, kCeil };
// Extent after pooling with `before` and `after` padding. With kCeil the last window may reach beyond
// the padding, but it must start inside the input or the padding before it.
absl::StatusOr<Dim> PoolExtent(RuleContext& rc, Dim in, Dim kernel, Dim stride, Dim before, Dim after, Dim dilation,
                               Rounding rounding);

struct ConvParams {
  PerDim stride, padding, dilation, output_padding;
  Dim groups;
  bool transposed = false;
  bool same_bias = false;  // a bias of another dtype is refused
};
// `bias_length` for a bias; `bias` may be null. Errors: [conv_c1] … [conv_c14].
absl::StatusOr<std::span<const Dim>> ConvShape(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight,
                                               const TensorMeta* bias, const ConvParams& params);
// Memory format of a convolution's result on CPU: channels last where input or weight look like it;
// in three dims only where oneDNN would run it. Source: aten/src/ATen/native/Convolution.cpp.
absl::StatusOr<MemoryFormat> ConvFormat(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight,
                                        const ConvParams& params);

// Strides of the result, of that shape.
absl::StatusOr<std::span<const Dim>> ConvStrides(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight,
                                                 const ConvParams& params, std::span<const Dim> shape);

// Errors: [window_c3] the tensor has neither n + 1 nor n + 2 dims, [window_c4] a dim other than the
// batch has no elements.
absl::Status RequireSpatial(RuleContext& rc, const TensorMeta& tensor, size_t n);

}  // namespace tare
