#include "eval/contract.h"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

namespace tare {
namespace {

constexpr int64_t kPatchScalars = int64_t{1} << 18;  // of the patch matrix: it stays in cache

template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Scalar>
using MatrixView = Eigen::Map<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;
template <typename Scalar>
using MatrixOut = Eigen::Map<Matrix<Scalar>, 0, Eigen::OuterStride<>>;

// Position `index` of a grid as its coordinates.
Spatial Unflatten(int64_t index, const Spatial& extents) {
  return {index / (extents[1] * extents[2]), index / extents[2] % extents[1], index % extents[2]};
}

// Where tap `k` of output position `o` lies in the input, or -1 in the padding.
int64_t InputAt(const ConvShape& s, const Spatial& o, const Spatial& k) {
  int64_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const int64_t x = o[i] * s.stride[i] - s.before[i] + k[i] * s.dilation[i];
    if (x < 0 || x >= s.in[i]) return -1;
    at = at * s.in[i] + x;
  }
  return at;
}

int64_t OutputAt(const ConvShape& s, const Spatial& in, const Spatial& k) {
  int64_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const int64_t x = in[i] * s.stride[i] + s.before[i] + k[i] * s.dilation[i];
    if (x < 0 || x >= s.out[i]) return -1;
    at = at * s.out[i] + x;
  }
  return at;
}

bool IsPointwise(const ConvShape& s) {
  for (int i = 0; i < 3; ++i) {
    if (s.kernel[i] != 1 || s.stride[i] != 1 || s.before[i] != 0 || s.in[i] != s.out[i]) return false;
  }
  return true;
}

// Rows of patches: one per output position from `first` on, taps x channels of one group.
template <typename Scalar>
void GatherPatches(const ConvShape& s, const Scalar* input, int64_t group, int64_t first, int64_t rows,
                   Scalar* patches) {
  const int64_t channels = s.in_channels / s.groups;
  for (int64_t row = 0; row < rows; ++row) {
    const Spatial o = Unflatten(first + row, s.out);
    Spatial k;
    for (k[0] = 0; k[0] < s.kernel[0]; ++k[0]) {
      for (k[1] = 0; k[1] < s.kernel[1]; ++k[1]) {
        for (k[2] = 0; k[2] < s.kernel[2]; ++k[2]) {
          const int64_t at = InputAt(s, o, k);
          if (at < 0) {
            std::fill_n(patches, channels, Scalar{0});
          } else {
            std::copy_n(input + at * s.in_channels + group * channels, channels, patches);
          }
          patches += channels;
        }
      }
    }
  }
}

}  // namespace

template <typename Scalar>
void MatMul(const MatMulShape& s, std::span<const Scalar> a, std::span<const Scalar> b, std::span<Scalar> out) {
  for (int64_t i = 0; i < s.batch; ++i) {
    const MatrixView<Scalar> x(a.data() + i * s.rows * s.inner, s.rows, s.inner, Eigen::OuterStride<>(s.inner));
    const MatrixView<Scalar> y(b.data() + i * s.inner * s.columns, s.inner, s.columns, Eigen::OuterStride<>(s.columns));
    MatrixOut<Scalar> z(out.data() + i * s.rows * s.columns, s.rows, s.columns, Eigen::OuterStride<>(s.columns));
    z.noalias() = x * y;
  }
}

template <typename Scalar>
void Convolve(const ConvShape& s, std::span<const Scalar> input, std::span<const Scalar> weight,
              std::span<Scalar> out) {
  const int64_t in_channels = s.in_channels / s.groups, out_channels = s.out_channels / s.groups;
  const int64_t inner = Product(s.kernel) * in_channels, positions = Product(s.out);
  if (positions == 0 || out_channels == 0) return;
  const bool pointwise = IsPointwise(s);
  const int64_t chunk =
      pointwise ? positions : std::clamp<int64_t>(kPatchScalars / std::max<int64_t>(inner, 1), 1, positions);
  std::vector<Scalar> patches(pointwise ? 0 : chunk * inner);
  for (int64_t n = 0; n < s.batch; ++n) {
    const Scalar* image = input.data() + n * Product(s.in) * s.in_channels;
    for (int64_t group = 0; group < s.groups; ++group) {
      const MatrixView<Scalar> w(weight.data() + group * out_channels * inner, out_channels, inner,
                                 Eigen::OuterStride<>(inner));
      for (int64_t first = 0; first < positions; first += chunk) {
        const int64_t rows = std::min(chunk, positions - first);
        if (!pointwise) GatherPatches(s, image, group, first, rows, patches.data());
        const MatrixView<Scalar> x(pointwise ? image + group * in_channels : patches.data(), rows, inner,
                                   Eigen::OuterStride<>(pointwise ? s.in_channels : inner));
        MatrixOut<Scalar> y(out.data() + (n * positions + first) * s.out_channels + group * out_channels, rows,
                            out_channels, Eigen::OuterStride<>(s.out_channels));
        y.noalias() = x * w.transpose();
      }
    }
  }
}

template <typename Scalar>
void ConvolveDepthwise(const ConvShape& s, std::span<const Scalar> input, std::span<const Scalar> weight,
                       std::span<Scalar> out) {
  const int64_t positions = Product(s.out), taps = Product(s.kernel);
  const int64_t multiple = s.in_channels == 0 ? 0 : s.out_channels / s.in_channels;
  using Array = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t p = 0; p < positions; ++p) {
      const Spatial o = Unflatten(p, s.out);
      Scalar* y = out.data() + (n * positions + p) * s.out_channels;
      Eigen::Map<Array> sum(y, s.out_channels);
      sum.setZero();
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t at = InputAt(s, o, Unflatten(tap, s.kernel));
        if (at < 0) continue;
        const Scalar* x = input.data() + (n * Product(s.in) + at) * s.in_channels;
        const Scalar* w = weight.data() + tap * s.out_channels;
        if (multiple == 1) {
          sum += Eigen::Map<const Array>(x, s.out_channels) * Eigen::Map<const Array>(w, s.out_channels);
          continue;
        }
        for (int64_t c = 0; c < s.in_channels; ++c) {
          for (int64_t m = 0; m < multiple; ++m) y[c * multiple + m] += x[c] * w[c * multiple + m];
        }
      }
    }
  }
}

template <typename Scalar>
void ConvolveTransposed(const ConvShape& s, std::span<const Scalar> input, std::span<const Scalar> weight,
                        std::span<Scalar> out) {
  const int64_t in_channels = s.in_channels / s.groups, out_channels = s.out_channels / s.groups;
  const int64_t positions = Product(s.in), taps = Product(s.kernel);
  const int64_t columns = out_channels * taps;
  if (positions == 0 || columns == 0) return;
  const int64_t chunk = std::clamp<int64_t>(kPatchScalars / columns, 1, positions);
  Matrix<Scalar> products(chunk, columns);
  for (int64_t n = 0; n < s.batch; ++n) {
    Scalar* image = out.data() + n * Product(s.out) * s.out_channels;
    for (int64_t group = 0; group < s.groups; ++group) {
      const MatrixView<Scalar> w(weight.data() + group * columns * in_channels, columns, in_channels,
                                 Eigen::OuterStride<>(in_channels));
      for (int64_t first = 0; first < positions; first += chunk) {
        const int64_t rows = std::min(chunk, positions - first);
        const MatrixView<Scalar> x(input.data() + (n * positions + first) * s.in_channels + group * in_channels, rows,
                                   in_channels, Eigen::OuterStride<>(s.in_channels));
        products.topRows(rows).noalias() = x * w.transpose();
        for (int64_t row = 0; row < rows; ++row) {
          const Spatial in = Unflatten(first + row, s.in);
          for (int64_t tap = 0; tap < taps; ++tap) {
            const int64_t at = OutputAt(s, in, Unflatten(tap, s.kernel));
            if (at < 0) continue;
            Scalar* y = image + at * s.out_channels + group * out_channels;
            // Rows of w are (channel, tap).
            for (int64_t c = 0; c < out_channels; ++c) y[c] += products(row, c * taps + tap);
          }
        }
      }
    }
  }
}

template void MatMul(const MatMulShape&, std::span<const float>, std::span<const float>, std::span<float>);
template void MatMul(const MatMulShape&, std::span<const double>, std::span<const double>, std::span<double>);
template void Convolve(const ConvShape&, std::span<const float>, std::span<const float>, std::span<float>);
template void Convolve(const ConvShape&, std::span<const double>, std::span<const double>, std::span<double>);
template void ConvolveDepthwise(const ConvShape&, std::span<const float>, std::span<const float>, std::span<float>);
template void ConvolveDepthwise(const ConvShape&, std::span<const double>, std::span<const double>, std::span<double>);
template void ConvolveTransposed(const ConvShape&, std::span<const float>, std::span<const float>, std::span<float>);
template void ConvolveTransposed(const ConvShape&, std::span<const double>, std::span<const double>, std::span<double>);

}  // namespace tare
