// ATen's pooling and resizing of [.., H, W], plane by plane. Source: torch/_decomp/decompositions.py,
// aten/src/ATen/native (Pool.h, UpSample.h) for extents and coordinates.
#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/pool_window.h"
#include "ir/status.h"

namespace tare {
namespace {

// Windows over the last two axes; one axis is the second of two, the first 1.
struct Pool {
  int64_t in[2] = {1, 1}, kernel[2] = {1, 1}, stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1};
  int64_t out[2] = {1, 1};
  int64_t planes = 0;
  Extents shape;  // of the result
};

int64_t PlanesOf(const Tensor& x, int spatial) {
  int64_t planes = 1;
  for (int i = 0; i < x.rank() - spatial; ++i) planes *= x.extent(i);
  return planes;
}

absl::StatusOr<Pool> PoolOf(KernelCall& call, const Tensor& x, int spatial) {
  const auto read = [&](std::string_view name, int64_t(&to)[2], bool kernel_when_empty, const Pool& pool) {
    std::vector<int64_t> values = call.ints(name);
    if (values.empty() && kernel_when_empty) values = {pool.kernel[0], pool.kernel[1]};
    if (values.size() == 1) values = {spatial == 1 ? to[0] : values[0], values[0]};
    if (values.size() != 2) call.Fail(WrongPool(call, x));
    values.resize(2);
    to[0] = values[0];
    to[1] = values[1];
  };
  Pool pool;
  read("kernel_size", pool.kernel, false, pool);
  if (spatial == 1) pool.kernel[0] = 1;
  read("stride", pool.stride, true, pool);
  read("padding", pool.padding, false, pool);
  if (call.given("dilation")) read("dilation", pool.dilation, false, pool);
  const bool ceil = call.flag("ceil_mode");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < spatial + 1) return WrongPool(call, x);
  pool.shape.assign(x.shape().begin(), x.shape().end());
  pool.planes = PlanesOf(x, spatial);
  for (int i = 2 - spatial; i < 2; ++i) {
    const int axis = x.rank() - 2 + i;
    pool.in[i] = x.extent(axis);
    const auto out = PoolExtent({pool.in[i], pool.kernel[i], pool.stride[i], pool.padding[i], pool.dilation[i]}, ceil);
    if (!out.has_value()) return WrongPool(call, x);
    pool.shape[axis] = pool.out[i] = *out;
  }
  return pool;
}

template <int kSpatial>
absl::StatusOr<Value> AvgPool(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, x, kSpatial));
  const bool with_padding = call.flag("count_include_pad");
  const int64_t divisor = call.given("divisor_override") ? call.integer("divisor_override") : 0;
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(VisitFloats(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), pool.shape));
    T* out = result.mutable_data<T>().data();
    for (int64_t plane = 0; plane < pool.planes; ++plane) {
      const T* in = x.data<T>().data() + plane * pool.in[0] * pool.in[1];
      for (int64_t oy = 0; oy < pool.out[0]; ++oy) {
        const int64_t top = oy * pool.stride[0] - pool.padding[0];
        const int64_t bottom = std::min(top + pool.kernel[0], pool.in[0] + pool.padding[0]);
        for (int64_t ox = 0; ox < pool.out[1]; ++ox) {
          const int64_t left = ox * pool.stride[1] - pool.padding[1];
          const int64_t right = std::min(left + pool.kernel[1], pool.in[1] + pool.padding[1]);
          const int64_t y0 = std::max<int64_t>(top, 0), y1 = std::min(bottom, pool.in[0]);
          const int64_t x0 = std::max<int64_t>(left, 0), x1 = std::min(right, pool.in[1]);
          T sum = 0;
          for (int64_t y = y0; y < y1; ++y) {
            for (int64_t at = x0; at < x1; ++at) sum += in[y * pool.in[1] + at];
          }
          const int64_t count = divisor != 0   ? divisor
                                : with_padding ? (bottom - top) * (right - left)
                                               : std::max<int64_t>(y1 - y0, 0) * std::max<int64_t>(x1 - x0, 0);
          *out++ = sum / static_cast<T>(count);
        }
      }
    }
    return result;
  }));
}

// The largest and where it is in its plane.
template <int kSpatial, bool kIndices>
absl::StatusOr<Value> MaxPool(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, x, kSpatial));
  TARE_ASSIGN_OR_RETURN(Tensor indices, call.Make(DType::kI64, pool.shape));
  TARE_ASSIGN_OR_RETURN(Tensor values,
                        VisitElements(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
                          using T = typename decltype(tag)::type;
                          TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), pool.shape));
                          int64_t to = 0;
                          for (int64_t plane = 0; plane < pool.planes; ++plane) {
                            const T* in = x.data<T>().data() + plane * pool.in[0] * pool.in[1];
                            for (int64_t oy = 0; oy < pool.out[0]; ++oy) {
                              for (int64_t ox = 0; ox < pool.out[1]; ++ox, ++to) {
                                int64_t best = -1;
                                for (int64_t ky = 0; ky < pool.kernel[0]; ++ky) {
                                  const int64_t y = oy * pool.stride[0] - pool.padding[0] + ky * pool.dilation[0];
                                  if (y < 0 || y >= pool.in[0]) continue;
                                  for (int64_t kx = 0; kx < pool.kernel[1]; ++kx) {
                                    const int64_t at = ox * pool.stride[1] - pool.padding[1] + kx * pool.dilation[1];
                                    if (at < 0 || at >= pool.in[1]) continue;
                                    const int64_t from = y * pool.in[1] + at;
                                    bool better = best < 0 || in[from] > in[best];
                                    if constexpr (std::is_floating_point_v<T>) better |= std::isnan(in[from]);
                                    if (better) best = from;
                                  }
                                }
                                if (best < 0) return WrongPool(call, x);
                                result.mutable_data<T>()[to] = in[best];
                                indices.mutable_data<int64_t>()[to] = best;
                              }
                            }
                          }
                          return result;
                        }));
  if constexpr (!kIndices) return Value(std::move(values));
  return Value::List({Value(std::move(values)), Value(std::move(indices))});
}

// Window o of `out` over `in`: [floor(o in / out), ceil((o + 1) in / out)).
template <int kSpatial>
absl::StatusOr<Value> AdaptiveAvgPool(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  std::vector<int64_t> size = call.ints("output_size");
  TARE_RETURN_IF_ERROR(call.status());
  if (size.size() == 1 && kSpatial == 2) size.push_back(size[0]);
  if (size.size() != kSpatial || x.rank() < kSpatial + 1) return WrongPool(call, x);
  Extents shape(x.shape().begin(), x.shape().end());
  int64_t in[2] = {1, 1}, out[2] = {1, 1};
  for (int i = 0; i < kSpatial; ++i) {
    const int axis = x.rank() - kSpatial + i;
    in[2 - kSpatial + i] = x.extent(axis);
    out[2 - kSpatial + i] = shape[axis] = size[i];
    if (size[i] < 0 || size[i] > INT32_MAX || x.extent(axis) < 1 || x.extent(axis) > INT32_MAX)
      return WrongPool(call, x);
  }
  const int64_t planes = PlanesOf(x, kSpatial);
  return AsValue(VisitFloats(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
    T* to = result.mutable_data<T>().data();
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T* from = x.data<T>().data() + plane * in[0] * in[1];
      for (int64_t oy = 0; oy < out[0]; ++oy) {
        const int64_t y0 = oy * in[0] / out[0], y1 = ((oy + 1) * in[0] + out[0] - 1) / out[0];
        for (int64_t ox = 0; ox < out[1]; ++ox) {
          const int64_t x0 = ox * in[1] / out[1], x1 = ((ox + 1) * in[1] + out[1] - 1) / out[1];
          T sum = 0;
          for (int64_t y = y0; y < y1; ++y) {
            for (int64_t at = x0; at < x1; ++at) sum += from[y * in[1] + at];
          }
          *to++ = sum / static_cast<T>((y1 - y0) * (x1 - x0));
        }
      }
    }
    return result;
  }));
}

// --- resizing

// Positions of one output axis between two input ones, `part` of the way.
struct Tap {
  int64_t low, high;
  double part;
};

struct Resizing {
  int64_t in[2], out[2];
  double scale[2];  // input positions per output position
  Extents shape;
};

absl::StatusOr<Resizing> ResizingOf(KernelCall& call, const Tensor& x, bool align_corners) {
  if (x.rank() != 4) return WrongPool(call, x);
  const std::vector<int64_t> size = call.given("output_size") ? call.ints("output_size") : std::vector<int64_t>();
  std::vector<double> factors;
  if (call.given("scale_factors")) factors = call.reals("scale_factors");
  if (call.given("scales_h") && call.given("scales_w")) factors = {call.real("scales_h"), call.real("scales_w")};
  TARE_RETURN_IF_ERROR(call.status());
  if ((size.empty() ? factors.size() : size.size()) != 2) return WrongPool(call, x);
  Resizing r;
  r.shape.assign(x.shape().begin(), x.shape().end());
  for (int i = 0; i < 2; ++i) {
    r.in[i] = x.extent(2 + i);
    const double wanted =
        size.empty() ? std::floor(static_cast<double>(r.in[i]) * factors[i]) : static_cast<double>(size[i]);
    if (r.in[i] < 1 || r.in[i] > INT32_MAX || !(wanted >= 1 && wanted <= INT32_MAX)) return WrongPool(call, x);
    r.out[i] = static_cast<int64_t>(wanted);
    r.shape[2 + i] = r.out[i];
    if (align_corners) {
      r.scale[i] = r.out[i] > 1 ? static_cast<double>(r.in[i] - 1) / static_cast<double>(r.out[i] - 1) : 0;
    } else if (factors.size() == 2 && factors[i] > 0) {
      r.scale[i] = 1 / factors[i];
    } else {
      r.scale[i] = static_cast<double>(r.in[i]) / static_cast<double>(r.out[i]);
    }
  }
  return r;
}

absl::StatusOr<Tensor> Blended(const KernelCall& call, const Tensor& x, const Resizing& r,
                               const std::vector<Tap> (&taps)[2]) {
  return VisitFloats(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), r.shape));
    T* to = result.mutable_data<T>().data();
    for (int64_t plane = 0; plane < x.extent(0) * x.extent(1); ++plane) {
      const T* in = x.data<T>().data() + plane * r.in[0] * r.in[1];
      for (const Tap& y : taps[0]) {
        const T *top = in + y.low * r.in[1], *bottom = in + y.high * r.in[1];
        const T dy = static_cast<T>(y.part);
        for (const Tap& tap : taps[1]) {
          const T dx = static_cast<T>(tap.part);
          if (dx == 0 && dy == 0) {
            *to++ = top[tap.low];
            continue;
          }
          *to++ = (1 - dy) * ((1 - dx) * top[tap.low] + dx * top[tap.high]) +
                  dy * ((1 - dx) * bottom[tap.low] + dx * bottom[tap.high]);
        }
      }
    }
    return result;
  });
}

absl::StatusOr<Value> Bilinear(KernelCall& call) {
  const Tensor& x = call.tensor(call.given("input") ? "input" : "self");
  const bool align_corners = call.flag("align_corners");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Resizing r, ResizingOf(call, x, align_corners));
  std::vector<Tap> taps[2];
  for (int i = 0; i < 2; ++i) {
    for (int64_t o = 0; o < r.out[i]; ++o) {
      const double at = align_corners ? static_cast<double>(o) * r.scale[i]
                                      : std::max(0.0, (static_cast<double>(o) + 0.5) * r.scale[i] - 0.5);
      const int64_t low = std::min(static_cast<int64_t>(at), r.in[i] - 1);
      taps[i].push_back({low, std::min(low + 1, r.in[i] - 1), std::clamp(at - static_cast<double>(low), 0.0, 1.0)});
    }
  }
  return AsValue(Blended(call, x, r, taps));
}

absl::StatusOr<Value> Nearest(KernelCall& call) {
  const Tensor& x = call.tensor(call.given("input") ? "input" : "self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Resizing r, ResizingOf(call, x, false));
  std::vector<Tap> taps[2];
  for (int i = 0; i < 2; ++i) {
    for (int64_t o = 0; o < r.out[i]; ++o) {
      const auto at = static_cast<int64_t>(std::floor(static_cast<float>(o) * static_cast<float>(r.scale[i])));
      taps[i].push_back({std::min(at, r.in[i] - 1), std::min(at, r.in[i] - 1), 0});
    }
  }
  return AsValue(Blended(call, x, r, taps));
}

constexpr KernelRow kRows[] = {
    {"aten._adaptive_avg_pool2d.default", AdaptiveAvgPool<2>},
    {"aten.adaptive_avg_pool1d.default", AdaptiveAvgPool<1>},
    {"aten.adaptive_avg_pool2d.default", AdaptiveAvgPool<2>},
    {"aten.avg_pool1d.default", AvgPool<1>},
    {"aten.avg_pool2d.default", AvgPool<2>},
    {"aten.max_pool1d.default", MaxPool<1, false>},
    {"aten.max_pool2d.default", MaxPool<2, false>},
    {"aten.max_pool2d_with_indices.default", MaxPool<2, true>},
    {"aten.upsample_bilinear2d.default", Bilinear},
    {"aten.upsample_bilinear2d.vec", Bilinear},
    {"aten.upsample_nearest2d.default", Nearest},
    {"aten.upsample_nearest2d.vec", Nearest},
};

}  // namespace

std::span<const KernelRow> AtenPoolKernels() { return kRows; }

}  // namespace tare
