// TOSA's RESIZE, NHWC. Source: TOSA 1.0, RESIZE.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr int64_t kMaxExtent = 16384;

// Where output positions of one axis come from: between `low` and `high`, `part` of `unit` away from `low`.
struct Tap {
  int64_t low, high, part;
};
struct Axis {
  int64_t unit = 1;  // the numerator of the scale
  std::vector<Tap> taps;
};

absl::StatusOr<Axis> AxisOf(const KernelCall& call, int64_t extent, int64_t n, int64_t d, int64_t offset,
                            int64_t border) {
  const auto wrong = [&](std::string_view what) {
    return InvalidError("eval_c16", call.op_name(), ": scale ", n, "/", d, ", offset ", offset, ", border ", border,
                        " on ", extent, ": ", what);
  };
  if (n < 1 || d < 1 || n > 2048 || d >= 16 * n) return wrong("the scale is out of range");
  if (offset < -n || offset >= 16 * n || border < -16 * n || border >= n) return wrong("it is out of range");
  if (extent < 1 || extent >= kMaxExtent) return wrong("the extent is out of range");
  const int64_t span = (extent - 1) * n - offset + border;
  if (span < 0 || span % d != 0 || span / d + 1 >= kMaxExtent) return wrong("the result has no whole extent");
  Axis axis;
  axis.unit = n;
  for (int64_t o = 0; o <= span / d; ++o) {
    const int64_t at = o * d + offset;
    const int64_t index = at >= 0 ? at / n : -((-at + n - 1) / n);
    axis.taps.push_back(
        {std::clamp<int64_t>(index, 0, extent - 1), std::clamp<int64_t>(index + 1, 0, extent - 1), at - index * n});
  }
  return axis;
}

// The pixels around one output position: rows of `channels` elements.
template <typename T>
struct Corners {
  const T *y0x0, *y0x1, *y1x0, *y1x1;
};

template <typename T, typename Out>
Out Blend(const Corners<T>& v, int64_t c, const Tap& y, const Tap& x, int64_t unit_y, int64_t unit_x) {
  if constexpr (std::is_floating_point_v<T>) {
    const T dy = static_cast<T>(y.part) / static_cast<T>(unit_y), dx = static_cast<T>(x.part) / static_cast<T>(unit_x);
    return v.y0x0[c] * (1 - dy) * (1 - dx) + v.y0x1[c] * (1 - dy) * dx + v.y1x0[c] * dy * (1 - dx) +
           v.y1x1[c] * dy * dx;
  } else {
    // Below 2^16 * 2^11 * 2^11 * 4.
    const auto wide = [](T e) { return static_cast<int64_t>(e); };
    return static_cast<Out>(wide(v.y0x0[c]) * (unit_y - y.part) * (unit_x - x.part) +
                            wide(v.y0x1[c]) * (unit_y - y.part) * x.part +
                            wide(v.y1x0[c]) * y.part * (unit_x - x.part) + wide(v.y1x1[c]) * y.part * x.part);
  }
}

template <typename T, typename Out>
absl::StatusOr<Tensor> Resize(const KernelCall& call, const Tensor& input, const Axis& ys, const Axis& xs,
                              bool bilinear, DType dtype) {
  const int64_t channels = input.extent(3), width = input.extent(2), height = input.extent(1);
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(dtype, Extents{input.extent(0), static_cast<int64_t>(ys.taps.size()),
                                                                static_cast<int64_t>(xs.taps.size()), channels}));
  const T* in = input.data<T>().data();
  Out* out = result.mutable_data<Out>().data();
  for (int64_t n = 0; n < input.extent(0); ++n) {
    const auto pixel = [&](int64_t y, int64_t x) { return in + ((n * height + y) * width + x) * channels; };
    for (const Tap& y : ys.taps) {
      for (const Tap& x : xs.taps) {
        const Corners<T> v = {pixel(y.low, x.low), pixel(y.low, x.high), pixel(y.high, x.low), pixel(y.high, x.high)};
        if (bilinear) {
          for (int64_t c = 0; c < channels; ++c) *out++ = Blend<T, Out>(v, c, y, x, ys.unit, xs.unit);
        } else {
          const bool down = 2 * y.part >= ys.unit, right = 2 * x.part >= xs.unit;
          const T* nearest = down ? (right ? v.y1x1 : v.y1x0) : (right ? v.y0x1 : v.y0x0);
          for (int64_t c = 0; c < channels; ++c) *out++ = static_cast<Out>(nearest[c]);
        }
      }
    }
  }
  return result;
}

absl::StatusOr<Value> ResizeKernel(KernelCall& call) {
  const Tensor& input = call.tensor("input");
  const std::vector<int64_t> scale = call.ints("scale_factors", 4), offset = call.ints("offset", 2),
                             border = call.ints("border", 2);
  const bool bilinear = call.text("resize_mode") == "bilinear";
  TARE_RETURN_IF_ERROR(call.status());
  if (input.rank() != 4) return InvalidError("eval_c16", call.op_name(), ": ", Describe(input), " must have rank 4");
  TARE_ASSIGN_OR_RETURN(const Axis ys, AxisOf(call, input.extent(1), scale[0], scale[1], offset[0], border[0]));
  TARE_ASSIGN_OR_RETURN(const Axis xs, AxisOf(call, input.extent(2), scale[2], scale[3], offset[1], border[1]));
  const auto resize = [&](auto tag, auto wide_tag, DType wide) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    using Wide = typename decltype(wide_tag)::type;
    if (bilinear) return Resize<T, Wide>(call, input, ys, xs, true, wide);
    return Resize<T, T>(call, input, ys, xs, false, input.dtype());
  };
  switch (input.dtype()) {
    case DType::kI8:
      return AsValue(resize(TypeTag<int8_t>{}, TypeTag<int32_t>{}, DType::kI32));
    case DType::kI16:
      return AsValue(resize(TypeTag<int16_t>{}, TypeTag<int64_t>{}, DType::kI48));
    case DType::kF32:
      return AsValue(resize(TypeTag<float>{}, TypeTag<float>{}, DType::kF32));
    default:
      return UnimplementedError("eval_c13", call.op_name(), " on ", Name(input.dtype()), " cannot be evaluated");
  }
}

constexpr KernelRow kRows[] = {{"tosa.RESIZE.default", ResizeKernel}};

}  // namespace

std::span<const KernelRow> TosaResizeKernels() { return kRows; }

}  // namespace tare
