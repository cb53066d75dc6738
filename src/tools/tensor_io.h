// Tensors of `tare run`: from and to .npy files, real or quantised, and how far two of them differ.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "eval/tensor.h"
#include "ir/context.h"
#include "ir/stores.h"

namespace tare {

absl::StatusOr<Tensor> ReadTensor(std::string_view path);
// int48 and shapes are written as int64, int4 as int8, bf16 as f32.
absl::Status WriteTensor(const Tensor& tensor, std::string_view path);

// A tensor read from a file as the placeholder wants it: int64 as i48 or, when all elements fit, as i32,
// int8 as i4, uint16 as bf16. Others are left. Errors: InvalidArgument [run_c4] an element that does not fit.
absl::StatusOr<Tensor> AsStated(const Tensor& tensor, const Meta& meta);

// round(x / scale) + zero point, ties to even, within [qmin, qmax]; and back, in f32. One scale only.
// Errors: InvalidArgument [run_c1] another dtype, Unimplemented [run_c2] parameters per channel.
absl::StatusOr<Tensor> Quantize(const Tensor& tensor, const QuantParams& params);
absl::StatusOr<Tensor> Dequantize(const Tensor& tensor, const QuantParams& params);

struct Difference {
  bool same_type = true;  // dtype and shape
  int64_t elements = 0;
  int64_t differing = 0;            // elements that are not equal; NaN equals NaN
  int64_t more_than_one = 0;        // by more than 1: steps, for integers
  int64_t beyond = 0;               // by more than tolerance * max(1, |want|)
  double max_abs = 0, max_rel = 0;  // relative to |want|, where that is not 0; inf where one is not finite
};
Difference Compare(const Tensor& got, const Tensor& want, double tolerance);

// Element `index` as a number; complex ones lose their imaginary part.
double ElementAsReal(const Tensor& tensor, int64_t index);

}  // namespace tare
