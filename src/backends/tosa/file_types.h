// Element types and constants of .tosa files, and what they are in memory.
//
// In memory an element has BytesOf(dtype) bytes, little endian: i4 one, i48 eight, both sign-extended. In
// the file i4 is packed two to a byte, the first in the low half, and i48 has six bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/tosa/tosa_generated.h"
#include "ir/attrs.h"
#include "ir/context.h"
#include "ir/meta.h"
#include "ir/program.h"

namespace tare::tosa {

inline constexpr size_t kMaxFileRank = 32;              // of the level "none"
inline constexpr size_t kMaxFileShape = 64;             // values of a shape: padding needs two for each axis
inline constexpr int64_t kMaxFileElements = INT32_MAX;  // of a tensor of the level 8K

// u8 is INT8 there: that values are unsigned is said by flags of RESCALE. Nothing for a dtype TOSA has no
// name for, or not in 1.`minor`.
std::optional<tosafile::DType> FileTypeOf(DType dtype, int minor);
// Nothing for what has no DType: the sub-byte and block formats of 1.1, and SHAPE.
std::optional<DType> DTypeOfFile(tosafile::DType type);

// Bytes in the file of `count` elements.
size_t FileBytes(DType dtype, size_t count);
// Elements as the file holds them, from memory and back; `bytes` has at least as many as needed.
std::string PackElements(DType dtype, std::span<const std::byte> bytes);
std::vector<std::byte> UnpackElements(DType dtype, size_t count, std::span<const std::byte> bytes);
// Whether memory and file hold elements alike, so that nothing needs to be packed.
bool IsPlain(DType dtype);

// One element as memory holds it. Errors: InvalidArgument [tosa_value_c1] when `value` is no number of the
// dtype; floats are rounded to it, integers must fit.
absl::StatusOr<std::string> EncodeElement(DType dtype, const AttrValue& value);
// The number an element is: bool, int or float.
AttrValue DecodeElement(DType dtype, std::span<const std::byte> bytes);
// Int of an integer element.
int64_t DecodeInt(DType dtype, std::span<const std::byte> bytes);

// The elements of a constant in row-major order, contiguous, in memory's form. A view into the payload
// where it is contiguous, else gathered into `room`.
// Errors: InvalidArgument [tosa_const_c1] no bytes (a weight-less export), [tosa_const_c2] not a strided
// tensor with static extents, [tosa_const_c3] fewer bytes than the tensor needs.
absl::StatusOr<std::span<const std::byte>> ContiguousBytes(const Context& context, const Constant& constant,
                                                           std::vector<std::byte>& room);

}  // namespace tare::tosa
