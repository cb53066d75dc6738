// Cores of the shared rule functions, for other functions to call: promotion, broadcasting, axes,
// reduction, strides. The rule language reaches them through the rows of promotion.cc, layout.cc and
// shape_functions.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/attrs.h"
#include "ir/meta.h"
#include "meta/rule_context.h"
#include "meta/value.h"

namespace tare {

// --- promotion (promotion.cc)

// What becomes of the common dtype of an elementwise op's operands.
enum class PromotionKind : uint8_t {
  kDefault,         // as computed
  kIntToFloat,      // bool, int -> default float
  kAlwaysBool,      // bool
  kComplexToFloat,  // complex -> its real type
  kBoolToLong,      // bool -> i64
};

// The lowest dtype both can be converted to. u16, u32, u64 and float8 have no place in the order:
// mixed with an ordinary dtype they win, mixed with each other there is none [promote_c1].
absl::StatusOr<DType> JoinDTypes(DType a, DType b);

// Common dtype of tensors, numbers and absent operands. Numbers count with their category only;
// within the highest category tensors with dims beat those without, which beat numbers.
// Errors: InvalidArgument [promote_c1].
absl::StatusOr<DType> ResultType(RuleContext& rc, std::span<const Value> operands);
absl::StatusOr<DType> Promote(RuleContext& rc, PromotionKind kind, std::span<const Value> operands);
DType ToReal(DType dtype);  // of a complex dtype; others unchanged
// f16 -> c32; bf16, f32 -> c64; f64 -> c128; complex unchanged; others -> complex of the default float.
DType ToComplex(RuleContext& rc, DType dtype);
// A value may be written into a tensor of dtype `to`: its category does not fall.
bool CanCast(DType from, DType to);

// --- shapes and axes (shape_functions.cc)

Dim Numel(RuleContext& rc, std::span<const Dim> shape);

// Right-aligned common shape; 1 stretches. Symbolic extents are taken to differ from 1 unless known,
// and then must be equal. Errors: InvalidArgument [broadcast_c1] with both shapes.
absl::StatusOr<std::span<const Dim>> Broadcast(RuleContext& rc, std::span<const Dim> a, std::span<const Dim> b);
// Of all tensors (and shapes) among `operands`; numbers and absent ones are without dims.
absl::StatusOr<std::span<const Dim>> BroadcastOperands(RuleContext& rc, std::span<const Value> operands);
// `from` can be expanded to `to` without changing `to`. Errors: InvalidArgument [broadcast_c2].
absl::Status RequireExpandable(RuleContext& rc, std::span<const Dim> from, std::span<const Dim> to);

// Axis counted from the front. A rank of 0 counts as 1. Errors: InvalidArgument [axis_c1].
absl::StatusOr<int> WrapAxis(RuleContext& rc, Dim axis, int rank);
// Bit k set = axis k is named. Errors: [axis_c1], [axis_c2] for an axis named twice.
absl::StatusOr<uint64_t> WrapAxes(RuleContext& rc, std::span<const Dim> axes, int rank);
// Drops the axes of the set, or makes them 1.
enum class KeepDims : bool { kNo, kYes };
std::span<const Dim> ReduceShape(RuleContext& rc, std::span<const Dim> shape, uint64_t axes, KeepDims keep);

// --- strides (layout.cc)

// Innermost 1, each next the inner one times max(extent, 1).
std::span<const Dim> ContiguousStrides(RuleContext& rc, std::span<const Dim> shape);
// Contiguous in the order of `dims`, outermost first.
std::span<const Dim> StridesInOrder(RuleContext& rc, std::span<const Dim> shape, std::span<const int> dims);
// Errors: InvalidArgument [format_c1] when channels_last meets another rank than 4 (3d: 5),
// [format_c2] for preserve, which needs a tensor to preserve.
absl::StatusOr<std::span<const Dim>> FormatStrides(RuleContext& rc, std::span<const Dim> shape, MemoryFormat format);
// Strides of a new tensor like `tensor`: `none` and preserve keep its order of dims.
absl::StatusOr<std::span<const Dim>> LikeStrides(RuleContext& rc, const TensorMeta& tensor,
                                                 std::optional<MemoryFormat> format);
// `tensor`'s strides where it is dense, else dense strides in its order of dims.
std::span<const Dim> PreserveStrides(RuleContext& rc, const TensorMeta& tensor);
bool IsContiguous(RuleContext& rc, const TensorMeta& tensor, MemoryFormat format = MemoryFormat::kContiguous);
// Some order of the dims makes it contiguous.
bool IsDense(RuleContext& rc, const TensorMeta& tensor);
// channels_last (3d) where the strides look like it, else contiguous.
MemoryFormat SuggestMemoryFormat(RuleContext& rc, const TensorMeta& tensor);
// Strides torch's elementwise ops give a new result of that (broadcast) shape. The order of the
// tensors matters. Source: torch/_prims_common, compute_elementwise_output_logical_to_physical_perm.
std::span<const Dim> ElementwiseStrides(RuleContext& rc, std::span<const Dim> shape,
                                        std::span<const TensorMeta* const> tensors);

}  // namespace tare
