// Matrix products of ATen on tensors, for the kernels that are made of them.
#pragma once

#include "absl/status/statusor.h"
#include "eval/call.h"
#include "eval/tensor.h"

namespace tare {

// a [.., m, k] x b [.., k, n] with leading axes broadcast, as torch.matmul; vectors count as one row or column.
// Integers are exact below 2^53. Errors: InvalidArgument [eval_c16], [eval_c5]; Unimplemented [eval_c13].
absl::StatusOr<Tensor> Multiplied(const KernelCall& call, const Tensor& a, const Tensor& b);

// x [.., k] x weight^T [k, n] + bias [n], which may be null.
absl::StatusOr<Tensor> Linear(const KernelCall& call, const Tensor& x, const Tensor& weight, const Tensor* bias);

}  // namespace tare
