// Arrays in NumPy's `.npy` files: the inputs and outputs of `tare run`.
//
// Source: numpy/lib/format.py, the format description in its documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/dtype.h"

namespace tare {

// Row-major, little-endian, no gaps. Dtypes: bool, integers of 8 to 64 bits, f16, f32, f64, c64, c128.
struct NpyArray {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

inline constexpr int kMaxNpyRank = 64;
inline constexpr size_t kMaxNpyBytes = size_t{1} << 34;  // of one file

// Versions 1 to 3; big-endian and column-major arrays are brought into our order.
// Errors: InvalidArgument [npy_c1] no .npy, [npy_c2] header, [npy_c3] shape, [npy_c4] too few or too many
// bytes; Unimplemented [npy_c5] an element type we have no dtype for.
absl::StatusOr<NpyArray> ParseNpy(std::string_view file);
// Version 1, aligned as NumPy aligns it. Errors: Unimplemented [npy_c5].
absl::StatusOr<std::string> FormatNpy(const NpyArray& array);

// Errors: those above; NotFound, PermissionDenied, ResourceExhausted of the system.
absl::StatusOr<NpyArray> ReadNpyFile(std::string_view path);
// Written under a temporary name and renamed.
absl::Status WriteNpyFile(const NpyArray& array, std::string_view path);

}  // namespace tare
