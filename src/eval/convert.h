// Conversion between dtypes as PyTorch does it on the CPU, and the types its operators compute in.
#pragma once

#include "absl/status/statusor.h"
#include "eval/call.h"
#include "eval/tensor.h"

namespace tare {

// Floating point to integer truncates (saturated where C++ leaves it open, NaN gives 0), integers wrap, bool is
// "not zero". Shares elements when the dtype is the same. Errors: Unimplemented [eval_c13].
absl::StatusOr<Tensor> Converted(const KernelCall& call, const Tensor& x, DType dtype);

// The common dtype of a comparison: by category, numbers and tensors without axes giving way within it.
DType CommonDType(const KernelCall& call, std::string_view a_name, const Tensor& a, std::string_view b_name,
                  const Tensor& b);

}  // namespace tare
