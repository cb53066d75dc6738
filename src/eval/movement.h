// Moving elements of any dtype without looking at them; shared by the dialects. Everything is a strided copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/call.h"
#include "eval/strided.h"
#include "eval/tensor.h"

namespace tare {

// Axis i of the result is axis perms[i]. Errors: InvalidArgument [eval_c18] no permutation.
absl::StatusOr<Tensor> Permuted(const KernelCall& call, const Tensor& x, std::span<const int64_t> perms);
// start[i], start[i] + step[i], … size[i] elements of each axis; steps may be negative.
// Errors: InvalidArgument [eval_c18] what does not lie within x.
absl::StatusOr<Tensor> Sliced(const KernelCall& call, const Tensor& x, std::span<const int64_t> start,
                              std::span<const int64_t> size, std::span<const int64_t> step);
// Extents of 1 repeat; axes are added in front. Errors: InvalidArgument [eval_c5].
absl::StatusOr<Tensor> Expanded(const KernelCall& call, const Tensor& x, std::span<const int64_t> shape);
// Axis i repeats multiples[i] times. Errors: [eval_c18].
absl::StatusOr<Tensor> Tiled(const KernelCall& call, const Tensor& x, std::span<const int64_t> multiples);
// Joined along `axis`; not empty. Errors: [eval_c18] dtypes or extents that differ.
absl::StatusOr<Tensor> Concatenated(const KernelCall& call, std::span<const Tensor* const> parts, int axis);
// x at `before` within a tensor of extents `shape`, the rest filled with the bytes of one element.
absl::StatusOr<Tensor> Padded(const KernelCall& call, const Tensor& x, std::span<const int64_t> before,
                              std::span<const int64_t> shape, std::span<const std::byte> fill);
// The same elements; one extent may be -1. Errors: InvalidArgument [eval_c18] another number of elements.
absl::StatusOr<Tensor> ReshapedTo(const KernelCall& call, const Tensor& x, std::vector<int64_t> shape);
// One element of `dtype` with the value of `number`, saturated to an integer's range.
std::vector<std::byte> ElementOf(DType dtype, const Number& number);

}  // namespace tare
