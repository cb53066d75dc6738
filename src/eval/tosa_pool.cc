// TOSA's pooling, NHWC. Source: TOSA 1.0, AVG_POOL2D, MAX_POOL2D.
#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/requantize.h"
#include "ir/status.h"

namespace tare {
namespace {

struct Pool {
  int64_t kernel[2], stride[2], before[2], out[2];
};

absl::StatusOr<Pool> PoolOf(KernelCall& call, const Tensor& input) {
  const std::vector<int64_t> kernel = call.ints("kernel", 2), stride = call.ints("stride", 2),
                             pad = call.ints("pad", 4);
  TARE_RETURN_IF_ERROR(call.status());
  const auto wrong = [&](std::string_view what) {
    return InvalidError("eval_c16", call.op_name(), " of ", Describe(input), ": ", what);
  };
  if (input.rank() != 4) return wrong("the input must have rank 4");
  Pool pool;
  for (int i = 0; i < 2; ++i) {
    pool.kernel[i] = kernel[i];
    pool.stride[i] = stride[i];
    pool.before[i] = pad[2 * i];
    const int64_t after = pad[2 * i + 1];
    if (kernel[i] < 1 || stride[i] < 1 || kernel[i] > INT32_MAX || pad[2 * i] < 0 || after < 0 ||
        pad[2 * i] >= kernel[i] || after >= kernel[i])
      return wrong("kernel, stride or padding is out of range");
    const int64_t span = input.extent(1 + i) + pad[2 * i] + after - kernel[i];
    if (span < 0 || span % stride[i] != 0) return wrong("the window does not divide the padded input");
    pool.out[i] = span / stride[i] + 1;
  }
  return pool;
}

// Calls visit(first element of the output position, y0, y1, x0, x1): the part of each window inside the input.
template <typename Visit>
void ForEachWindow(const Pool& pool, const Tensor& input, Visit visit) {
  int64_t to = 0;
  for (int64_t n = 0; n < input.extent(0); ++n) {
    for (int64_t oy = 0; oy < pool.out[0]; ++oy) {
      const int64_t y = oy * pool.stride[0] - pool.before[0];
      for (int64_t ox = 0; ox < pool.out[1]; ++ox, to += input.extent(3)) {
        const int64_t x = ox * pool.stride[1] - pool.before[1];
        visit(n, to, std::max<int64_t>(y, 0), std::min(y + pool.kernel[0], input.extent(1)), std::max<int64_t>(x, 0),
              std::min(x + pool.kernel[1], input.extent(2)));
      }
    }
  }
}

int64_t ElementAt(const Tensor& input, int64_t n, int64_t y, int64_t x) {
  return ((n * input.extent(1) + y) * input.extent(2) + x) * input.extent(3);
}

// Adds up each window channel by channel: finish(sum of what inside, elements inside) -> result.
template <typename T, typename Sum, typename Finish>
absl::StatusOr<Tensor> Average(const KernelCall& call, const Tensor& input, const Pool& pool, Sum zero_point,
                               Finish finish) {
  const int64_t channels = input.extent(3);
  TARE_ASSIGN_OR_RETURN(Tensor result,
                        call.Make(input.dtype(), Extents{input.extent(0), pool.out[0], pool.out[1], channels}));
  const T* in = input.data<T>().data();
  T* out = result.mutable_data<T>().data();
  std::vector<Sum> sums(channels);
  ForEachWindow(pool, input, [&](int64_t n, int64_t to, int64_t y0, int64_t y1, int64_t x0, int64_t x1) {
    std::fill(sums.begin(), sums.end(), Sum{0});
    for (int64_t y = y0; y < y1; ++y) {
      for (int64_t x = x0; x < x1; ++x) {
        const T* at = in + ElementAt(input, n, y, x);
        for (int64_t c = 0; c < channels; ++c) sums[c] += static_cast<Sum>(at[c]) - zero_point;
      }
    }
    const int64_t count = std::max<int64_t>(0, y1 - y0) * std::max<int64_t>(0, x1 - x0);
    for (int64_t c = 0; c < channels; ++c) out[to + c] = finish(sums[c], count);
  });
  return result;
}

absl::StatusOr<int64_t> ZeroPoint(KernelCall& call, std::string_view name) {
  if (!call.given(name)) return 0;
  const Tensor& zero_point = call.tensor(name);
  TARE_RETURN_IF_ERROR(call.status());
  if (zero_point.size() != 1) return InvalidError("eval_c16", call.op_name(), ": ", name, " has not one element");
  if (zero_point.dtype() == DType::kI8) return zero_point.data<int8_t>()[0];
  if (zero_point.dtype() == DType::kI16) return zero_point.data<int16_t>()[0];
  return 0;  // floating point: it must be 0
}

absl::StatusOr<Value> AvgPool(KernelCall& call) {
  const Tensor& input = call.tensor("input");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, input));
  TARE_ASSIGN_OR_RETURN(const int64_t in_zp, ZeroPoint(call, "input_zp"));
  TARE_ASSIGN_OR_RETURN(const int64_t out_zp, ZeroPoint(call, "output_zp"));
  absl::Status failed;
  absl::StatusOr<Value> result =
      AsValue(VisitElements(input.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>) {
          return Average<T, T>(call, input, pool, T{0},
                               [](T sum, int64_t count) { return sum / static_cast<T>(count); });
        } else {
          return Average<T, int64_t>(call, input, pool, in_zp, [&](int64_t sum, int64_t count) -> T {
            // Padding is smaller than the kernel, so every window has an element.
            const absl::StatusOr<int32_t> mean =
                ApplyScale32(sum, ReciprocalScaleOf(static_cast<int32_t>(count)), ScaleRounding::kSingle);
            if (!mean.ok()) {
              failed = mean.status();
              return 0;
            }
            return static_cast<T>(
                std::clamp<int64_t>(*mean + out_zp, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
          });
        }
      }));
  TARE_RETURN_IF_ERROR(failed);
  return result;
}

absl::StatusOr<Value> MaxPool(KernelCall& call) {
  const Tensor& input = call.tensor("input");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, input));
  const bool ignore_nan = call.given("nan_mode") && call.text("nan_mode") == "IGNORE";
  return AsValue(VisitElements(input.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    const int64_t channels = input.extent(3);
    TARE_ASSIGN_OR_RETURN(Tensor result,
                          call.Make(input.dtype(), Extents{input.extent(0), pool.out[0], pool.out[1], channels}));
    const T* in = input.data<T>().data();
    T* out = result.mutable_data<T>().data();
    ForEachWindow(pool, input, [&](int64_t n, int64_t to, int64_t y0, int64_t y1, int64_t x0, int64_t x1) {
      bool first = true;
      for (int64_t y = y0; y < y1; ++y) {
        for (int64_t x = x0; x < x1; ++x) {
          const T* at = in + ElementAt(input, n, y, x);
          for (int64_t c = 0; c < channels; ++c) {
            T& best = out[to + c];
            bool take = first || at[c] > best;
            if constexpr (std::is_floating_point_v<T>) {
              // A NaN is kept, or gives way to whatever comes.
              if (!first && std::isnan(best)) take = ignore_nan;
              if (std::isnan(at[c])) take = first || !ignore_nan;
            }
            if (take) best = at[c];
          }
          first = false;
        }
      }
    });
    return result;
  }));
}

constexpr KernelRow kRows[] = {
    {"tosa.AVG_POOL2D.default", AvgPool},
    {"tosa.AVG_POOL2D_ADAPTIVE.default", AvgPool},
    {"tosa.MAX_POOL2D.default", MaxPool},
    {"tosa.MAX_POOL2D_ADAPTIVE.default", MaxPool},
};

}  // namespace

std::span<const KernelRow> TosaPoolKernels() { return kRows; }

}  // namespace tare
