// The kernels there are, a row per op.
#pragma once

#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "eval/call.h"
#include "eval/tensor.h"

namespace tare {

using Kernel = absl::StatusOr<Value> (*)(KernelCall& call);
struct KernelRow {
  std::string_view op;
  Kernel kernel;
};

// Null when the op cannot be evaluated. Cost: a binary search.
Kernel FindKernel(std::string_view op);
// Sorted by op.
std::span<const KernelRow> AllKernels();

// Rows by theme, each beside its kernels.
std::span<const KernelRow> TosaElementwiseKernels();
std::span<const KernelRow> TosaActivationKernels();
std::span<const KernelRow> TosaContractKernels();
std::span<const KernelRow> TosaPoolKernels();
std::span<const KernelRow> TosaReduceKernels();
std::span<const KernelRow> TosaLayoutKernels();
std::span<const KernelRow> TosaGatherKernels();
std::span<const KernelRow> TosaRescaleKernels();
std::span<const KernelRow> TosaResizeKernels();
std::span<const KernelRow> TosaSpectralKernels();
std::span<const KernelRow> TosaShapeKernels();

}  // namespace tare
