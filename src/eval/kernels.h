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

// Null when the op cannot be evaluated. An op that writes to its operand (`relu_`) or copies a view (`view_copy`)
// and has no row of its own takes the row of the op it is named after. Cost: a binary search.
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
std::span<const KernelRow> AtenArrangeKernels();
std::span<const KernelRow> AtenEinsumKernels();
std::span<const KernelRow> AtenPool3dKernels();
std::span<const KernelRow> AtenEdgeKernels();
std::span<const KernelRow> AtenSpecialKernels();
std::span<const KernelRow> AtenUnaryKernels();
std::span<const KernelRow> AtenBinaryKernels();
std::span<const KernelRow> AtenViewKernels();
std::span<const KernelRow> AtenJoinKernels();
std::span<const KernelRow> AtenReduceKernels();
std::span<const KernelRow> AtenNormKernels();
std::span<const KernelRow> AtenMatMulKernels();
std::span<const KernelRow> AtenConvKernels();
std::span<const KernelRow> AtenPoolKernels();
std::span<const KernelRow> AtenIndexKernels();
std::span<const KernelRow> AtenRnnKernels();
std::span<const KernelRow> AtenScatterKernels();
std::span<const KernelRow> QuantizedKernels();
std::span<const KernelRow> SymbolicKernels();

}  // namespace tare
