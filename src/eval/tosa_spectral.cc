// TOSA's FFT2D and RFFT2D, as sums over rows and then over columns. Source: TOSA 1.0, FFT2D, RFFT2D.
#include <cmath>
#include <numbers>
#include <vector>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

// Real and imaginary parts of [n, height, width].
struct Spectrum {
  int64_t batch, height, width;
  std::vector<double> real, imag;
};

// cos and sin of 2 pi k / n.
struct Circle {
  std::vector<double> cosine, sine;
  explicit Circle(int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
  }
};

// One sum of `n` elements `step` apart, times exp(-i sign 2 pi k j / n).
void TransformLine(const double* real, const double* imag, double* out_real, double* out_imag, int64_t n, int64_t step,
                   const Circle& circle, double sign) {
  for (int64_t k = 0; k < n; ++k) {
    double sum_real = 0, sum_imag = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double c = circle.cosine[k * j % n], s = sign * circle.sine[k * j % n];
      sum_real += real[j * step] * c + imag[j * step] * s;
      sum_imag += imag[j * step] * c - real[j * step] * s;
    }
    out_real[k * step] = sum_real;
    out_imag[k * step] = sum_imag;
  }
}

Spectrum Transform(const Spectrum& in, double sign) {
  Spectrum rows = in, out = in;
  const Circle across(in.width), down(in.height);
  for (int64_t line = 0; line < in.batch * in.height; ++line) {
    const int64_t at = line * in.width;
    TransformLine(&in.real[at], &in.imag[at], &rows.real[at], &rows.imag[at], in.width, 1, across, sign);
  }
  for (int64_t n = 0; n < in.batch; ++n) {
    for (int64_t x = 0; x < in.width; ++x) {
      const int64_t at = n * in.height * in.width + x;
      TransformLine(&rows.real[at], &rows.imag[at], &out.real[at], &out.imag[at], in.height, in.width, down, sign);
    }
  }
  return out;
}

constexpr int64_t kMaxExtent = 8192;

absl::StatusOr<Spectrum> SpectrumOf(const KernelCall& call, const Tensor& real, const Tensor* imag) {
  const bool fits = imag == nullptr || (imag->dtype() == real.dtype() && imag->rank() == 3 &&
                                        std::equal(imag->shape().begin(), imag->shape().end(), real.shape().begin()));
  if (!fits || real.dtype() != DType::kF32 || real.rank() != 3 || real.size() == 0 || real.extent(1) > kMaxExtent ||
      real.extent(2) > kMaxExtent)
    return InvalidError("eval_c16", call.op_name(), " of ", Describe(real), " is not defined");
  Spectrum s{real.extent(0), real.extent(1), real.extent(2), {}, {}};
  s.real.assign(real.data<float>().begin(), real.data<float>().end());
  s.imag.assign(real.size(), 0.0);
  if (imag != nullptr) s.imag.assign(imag->data<float>().begin(), imag->data<float>().end());
  return s;
}

// The first `columns` of each row.
absl::StatusOr<Value> ToTensor(const KernelCall& call, const Spectrum& s, const std::vector<double>& part,
                               int64_t columns) {
  TARE_ASSIGN_OR_RETURN(Tensor tensor, call.Make(DType::kF32, Extents{s.batch, s.height, columns}));
  float* out = tensor.mutable_data<float>().data();
  for (int64_t line = 0; line < s.batch * s.height; ++line) {
    for (int64_t x = 0; x < columns; ++x) *out++ = static_cast<float>(part[line * s.width + x]);
  }
  return Value(std::move(tensor));
}

absl::StatusOr<Value> Both(const KernelCall& call, const Spectrum& s, int64_t columns) {
  TARE_ASSIGN_OR_RETURN(Value real, ToTensor(call, s, s.real, columns));
  TARE_ASSIGN_OR_RETURN(Value imag, ToTensor(call, s, s.imag, columns));
  return Value::List({std::move(real), std::move(imag)});
}

absl::StatusOr<Value> Fft(KernelCall& call) {
  const Tensor& real = call.tensor("input_real");
  const Tensor& imag = call.tensor("input_imag");
  const bool inverse = call.flag("inverse");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Spectrum in, SpectrumOf(call, real, &imag));
  return Both(call, Transform(in, inverse ? -1 : 1), in.width);
}

absl::StatusOr<Value> RealFft(KernelCall& call) {
  const Tensor& real = call.tensor("input_real");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Spectrum in, SpectrumOf(call, real, nullptr));
  return Both(call, Transform(in, 1), in.width / 2 + 1);
}

constexpr KernelRow kRows[] = {
    {"tosa.FFT2D.default", Fft},
    {"tosa.RFFT2D.default", RealFft},
};

}  // namespace

std::span<const KernelRow> TosaSpectralKernels() { return kRows; }

}  // namespace tare
