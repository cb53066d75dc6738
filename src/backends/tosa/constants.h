// Bytes of constants: dense copies, numbers out of them, numbers into them.
//
// In memory an int48 element is 8 bytes and an int4 element 1 byte, both sign-extended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "ir/program.h"
#include "passes/rewriter.h"

namespace tare {

// Bytes per element in memory: of a constant's payload. 0 for shape.
int StoredBytesOf(DType dtype);

// Static shape as numbers; nothing when an extent is symbolic.
std::optional<std::vector<int64_t>> StaticShape(const TensorMeta& meta);
// Product of extents; nothing when it is symbolic or does not fit.
std::optional<int64_t> ElementCount(const TensorMeta& meta);
// Of a tensor that is there, or the same elements in other dims.
inline int64_t CountOf(std::span<const int64_t> extents) {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  return count;
}

// Row-major elements, whatever the strides. Nothing when bytes are missing or too few, or the shape is symbolic.
std::optional<std::vector<std::byte>> DenseBytes(const Context& context, const Constant& constant);

// Elements as numbers. Nothing for other dtypes and as DenseBytes.
std::optional<std::vector<int64_t>> ReadIntegers(const Context& context, const Constant& constant);  // integers, bool
std::optional<std::vector<double>> ReadNumbers(const Context& context, const Constant& constant);    // also f16 … f64

// Elements of `dtype`, an integer one or bool, cut to its width.
std::vector<std::byte> IntegerBytes(DType dtype, std::span<const int64_t> values);

// Metadata of a dense tensor; spans point into the store of `context`.
const TensorMeta& DenseMeta(Context& context, DType dtype, std::span<const int64_t> shape);

// A constant of the program under edit.
absl::StatusOr<Node> AddIntegers(Rewriter& rw, std::string_view name, DType dtype, std::span<const int64_t> shape,
                                 std::span<const int64_t> values);
// f32, f16 or bf16, to which the values are rounded.
absl::StatusOr<Node> AddFloats(Rewriter& rw, std::string_view name, DType dtype, std::span<const int64_t> shape,
                               std::span<const float> values);

}  // namespace tare
