// The windows of ATen's pools along one axis. Source: aten/src/ATen/native/Pool.h.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "eval/call.h"
#include "ir/status.h"

namespace tare {

// In elements along the axis.
struct PoolAxis {
  int64_t in = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
};

// How many windows there are; in ceil mode one that begins in the padding behind does not count. Nothing where kernels
// refuse the window: extents out of range, padding above half the kernel, a kernel beyond the padded input.
inline std::optional<int64_t> PoolExtent(const PoolAxis& axis, bool ceil) {
  for (const int64_t v : {axis.kernel, axis.stride, axis.dilation})
    if (v < 1 || v > INT32_MAX) return std::nullopt;
  if (axis.padding < 0 || axis.padding > axis.kernel / 2 || axis.in < 1) return std::nullopt;
  const int64_t span =
      axis.in + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1 + (ceil ? axis.stride - 1 : 0);
  if (span < 0) return std::nullopt;
  const int64_t out = span / axis.stride + 1;
  return ceil && (out - 1) * axis.stride >= axis.in + axis.padding ? out - 1 : out;
}

inline absl::Status WrongPool(const KernelCall& call, const Tensor& x) {
  return InvalidError("eval_c16", call.op_name(), " of ", Describe(x), ": window or extents are out of range");
}

}  // namespace tare
