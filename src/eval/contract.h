// Sums of products on dense arrays: matrix product, convolution, transposed convolution. The one place that
// asks Eigen for speed. float for floating point; double for integers, whose sums are exact below 2^53.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tare {

// out[b] = a[b] x b[b]: [batch, rows, inner] x [batch, inner, columns], row-major.
struct MatMulShape {
  int64_t batch = 1, rows = 0, inner = 0, columns = 0;
};
template <typename Scalar>
void MatMul(const MatMulShape& shape, std::span<const Scalar> a, std::span<const Scalar> b, std::span<Scalar> out);

// Three spatial axes, the outer ones 1 where there are fewer.
using Spatial = std::array<int64_t, 3>;
inline int64_t Product(const Spatial& s) { return s[0] * s[1] * s[2]; }

// Input [batch, in, in_channels], weight [out_channels, kernel, in_channels / groups], output
// [batch, out, out_channels], row-major. Input position of output o and tap k: o * stride - before + k * dilation;
// positions outside count as 0. Everything has been checked: out and before may be what they like, extents are
// not negative, channels are multiples of groups.
struct ConvShape {
  int64_t batch = 1, in_channels = 0, out_channels = 0, groups = 1;
  Spatial in = {1, 1, 1}, kernel = {1, 1, 1}, out = {1, 1, 1};
  Spatial stride = {1, 1, 1}, dilation = {1, 1, 1}, before = {0, 0, 0};
};
template <typename Scalar>
void Convolve(const ConvShape& shape, std::span<const Scalar> input, std::span<const Scalar> weight,
              std::span<Scalar> out);

// One filter per input channel and multiple: weight [kernel, out_channels], groups == in_channels.
template <typename Scalar>
void ConvolveDepthwise(const ConvShape& shape, std::span<const Scalar> input, std::span<const Scalar> weight,
                       std::span<Scalar> out);

// Adds input * weight to output position i * stride + before + k * dilation of a zero-filled `out`; positions
// outside are dropped.
template <typename Scalar>
void ConvolveTransposed(const ConvShape& shape, std::span<const Scalar> input, std::span<const Scalar> weight,
                        std::span<Scalar> out);

}  // namespace tare
