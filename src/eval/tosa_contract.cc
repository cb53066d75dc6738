// TOSA's convolutions and matrix product, NHWC. Source: TOSA 1.0, tensor operators.
#include <algorithm>
#include <array>
#include <cstdint>

#include "eval/contract.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr int64_t kMaxInner = int64_t{1} << 21;  // terms of a sum of products of 32 bits that is exact in double
constexpr int64_t kMaxWindow = int64_t{1} << 31;

// What a convolution computes in: floating point in its own type, integers as doubles less the zero point.
absl::StatusOr<Tensor> AsScalars(const KernelCall& call, const Tensor& x, DType scalar, int64_t zero_point) {
  if (x.dtype() == scalar) return x;
  return VisitElements(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map<T, double>(call, x, DType::kF64,
                          [zero_point](T v) { return static_cast<double>(v) - static_cast<double>(zero_point); });
  });
}

absl::StatusOr<DType> ScalarOf(const KernelCall& call, const Tensor& a, const Tensor& b) {
  const DType x = a.dtype();
  if (IsFloating(x) && x == b.dtype() && (x == DType::kF32 || x == DType::kF64)) return x;
  if (IsInteger(x) && IsInteger(b.dtype()) && BitsOf(x) <= 16 && BitsOf(b.dtype()) <= 16) return DType::kF64;
  return UnimplementedError("eval_c13", call.op_name(), " of ", Describe(a), " and ", Describe(b),
                            " cannot be evaluated");
}

DType AccumulatorOf(const Tensor& input) {
  if (IsFloating(input.dtype())) return input.dtype();
  return BitsOf(input.dtype()) == 16 ? DType::kI48 : DType::kI32;
}

// Bias in the last axis added, sums brought to the accumulator's type.
absl::StatusOr<Value> Finish(const KernelCall& call, const Tensor& sums, const Tensor* bias, DType dtype) {
  const int64_t channels = sums.extent(sums.rank() - 1);
  if (bias != nullptr && bias->size() != channels && bias->size() != 1) {
    return InvalidError("eval_c16", call.op_name(), ": bias ", Describe(*bias), " does not go with ", channels,
                        " channels");
  }
  if (IsFloating(dtype)) {
    if (bias == nullptr) return Value(sums);
    if (bias->dtype() != dtype) return InvalidError("eval_c14", call.op_name(), ": bias is ", Describe(*bias));
    return AsValue(VisitFloats(dtype, call.op_name(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      return Map2<T, T>(call, sums, *bias, dtype, [](T x, T y) { return x + y; });
    }));
  }
  Tensor wide_bias;
  if (bias != nullptr) {
    TARE_ASSIGN_OR_RETURN(wide_bias, AsScalars(call, *bias, DType::kF64, 0));
  }
  const std::span<const double> in = sums.data<double>(), add = wide_bias.data<double>();
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(dtype, sums.shape()));
  const double limit = dtype == DType::kI32 ? 0x1p31 : 0x1p47;
  for (size_t i = 0; i < in.size(); ++i) {
    const double value = in[i] + (add.empty() ? 0 : add[add.size() == 1 ? 0 : i % static_cast<size_t>(channels)]);
    if (!(value >= -limit && value < limit))
      return InvalidError("eval_c15", call.op_name(), ": a sum does not fit ", Name(dtype));
    if (dtype == DType::kI32) {
      result.mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
    } else {
      result.mutable_data<int64_t>()[i] = static_cast<int64_t>(value);
    }
  }
  return Value(std::move(result));
}

enum class ConvKind : uint8_t { kPlain, kDepthwise, kTransposed };

// Extents, steps and padding of a call, checked against each other. `spatial` is 2 or 3.
absl::StatusOr<ConvShape> ShapeOf(KernelCall& call, ConvKind kind, int spatial, const Tensor& input,
                                  const Tensor& weight) {
  const auto wrong = [&](std::string_view what) {
    return InvalidError("eval_c16", call.op_name(), " of ", Describe(input), " and ", Describe(weight), ": ", what);
  };
  const bool transposed = kind == ConvKind::kTransposed;
  const size_t n = static_cast<size_t>(spatial);
  const std::vector<int64_t> stride = call.ints("stride", n);
  const std::vector<int64_t> pad = call.ints(transposed ? "out_pad" : "pad", 2 * n);
  const std::vector<int64_t> dilation =
      transposed ? std::vector<int64_t>(n, 1) : call.ints(kind == ConvKind::kDepthwise ? "dialation" : "dilation", n);
  TARE_RETURN_IF_ERROR(call.status());
  if (input.rank() != spatial + 2 || weight.rank() != spatial + 2) return wrong("ranks do not fit");

  ConvShape s;
  s.batch = input.extent(0);
  s.in_channels = input.extent(spatial + 1);
  if (kind == ConvKind::kDepthwise) {
    s.out_channels = weight.extent(2) * weight.extent(3);
    s.groups = s.in_channels;
    if (weight.extent(2) != s.in_channels) return wrong("channels differ");
  } else {
    s.out_channels = weight.extent(0);
    if (weight.extent(spatial + 1) != s.in_channels) return wrong("channels differ");
  }
  int64_t taps = 1;
  for (int i = 0; i < spatial; ++i) {
    const int to = 3 - spatial + i;
    s.in[to] = input.extent(1 + i);
    s.kernel[to] = weight.extent(kind == ConvKind::kDepthwise ? i : 1 + i);
    s.stride[to] = stride[i];
    s.dilation[to] = dilation[i];
    s.before[to] = pad[2 * i];
    const int64_t after = pad[2 * i + 1];
    for (const int64_t x : {s.stride[to], s.dilation[to], s.kernel[to], s.in[to]}) {
      if (x < 1 || x > kMaxWindow) return wrong("extents, stride and dilation must be positive");
    }
    for (const int64_t x : {s.before[to], after}) {
      if (x > kMaxWindow || x < (transposed ? -kMaxWindow : 0)) return wrong("padding is out of range");
    }
    taps = std::min(taps * s.kernel[to], kMaxElements);
    if (transposed) {
      s.out[to] = (s.in[to] - 1) * s.stride[to] + s.before[to] + after + s.kernel[to];
    } else {
      const int64_t span = s.in[to] - 1 + s.before[to] + after - (s.kernel[to] - 1) * s.dilation[to];
      if (span < 0 || span % s.stride[to] != 0) return wrong("the window does not divide the padded input");
      s.out[to] = span / s.stride[to] + 1;
    }
    if (s.out[to] < 1) return wrong("the result has no elements");
  }
  if (taps > kMaxInner || taps * std::max<int64_t>(1, s.in_channels / s.groups) > kMaxInner)
    return wrong("the window has too many elements");
  return s;
}

template <ConvKind kKind, int kSpatial>
absl::StatusOr<Value> Conv(KernelCall& call) {
  const Tensor& input = call.tensor("input");
  const Tensor& weight = call.tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const ConvShape shape, ShapeOf(call, kKind, kSpatial, input, weight));
  TARE_ASSIGN_OR_RETURN(const DType scalar, ScalarOf(call, input, weight));
  TARE_ASSIGN_OR_RETURN(const Tensor x, AsScalars(call, input, scalar, call.zero_point("input")));
  TARE_ASSIGN_OR_RETURN(const Tensor w, AsScalars(call, weight, scalar, call.zero_point("weight")));
  std::vector<int64_t> out_shape = {shape.batch};
  for (int i = 3 - kSpatial; i < 3; ++i) out_shape.push_back(shape.out[i]);
  out_shape.push_back(shape.out_channels);
  TARE_ASSIGN_OR_RETURN(const Tensor sums, VisitFloats(scalar, call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
                          using T = typename decltype(tag)::type;
                          TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(scalar, out_shape));
                          const auto run = kKind == ConvKind::kPlain       ? Convolve<T>
                                           : kKind == ConvKind::kDepthwise ? ConvolveDepthwise<T>
                                                                           : ConvolveTransposed<T>;
                          run(shape, x.data<T>(), w.data<T>(), result.mutable_data<T>());
                          return result;
                        }));
  return Finish(call, sums, bias, AccumulatorOf(input));
}

absl::StatusOr<Value> MatMulKernel(KernelCall& call) {
  const Tensor& a = call.tensor("input1");
  const Tensor& b = call.tensor("input2");
  TARE_RETURN_IF_ERROR(call.status());
  if (a.rank() != 3 || b.rank() != 3 || a.extent(0) != b.extent(0) || a.extent(2) != b.extent(1) ||
      a.extent(2) > kMaxInner) {
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(a), " and ", Describe(b), " do not go together");
  }
  TARE_ASSIGN_OR_RETURN(const DType scalar, ScalarOf(call, a, b));
  TARE_ASSIGN_OR_RETURN(const Tensor x, AsScalars(call, a, scalar, call.zero_point("input1")));
  TARE_ASSIGN_OR_RETURN(const Tensor y, AsScalars(call, b, scalar, call.zero_point("input2")));
  const MatMulShape shape{a.extent(0), a.extent(1), a.extent(2), b.extent(2)};
  TARE_ASSIGN_OR_RETURN(const Tensor sums, VisitFloats(scalar, call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
                          using T = typename decltype(tag)::type;
                          const std::array<int64_t, 3> extents = {shape.batch, shape.rows, shape.columns};
                          TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(scalar, extents));
                          MatMul<T>(shape, x.data<T>(), y.data<T>(), result.mutable_data<T>());
                          return result;
                        }));
  return Finish(call, sums, nullptr, AccumulatorOf(a));
}

constexpr KernelRow kRows[] = {
    {"tosa.CONV2D.default", Conv<ConvKind::kPlain, 2>},
    {"tosa.CONV3D.default", Conv<ConvKind::kPlain, 3>},
    {"tosa.DEPTHWISE_CONV2D.default", Conv<ConvKind::kDepthwise, 2>},
    {"tosa.MATMUL.default", MatMulKernel},
    {"tosa.TRANSPOSE_CONV2D.default", Conv<ConvKind::kTransposed, 2>},
};

}  // namespace

std::span<const KernelRow> TosaContractKernels() { return kRows; }

}  // namespace tare
