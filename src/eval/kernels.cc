#include "eval/kernels.h"

#include <algorithm>
#include <vector>

namespace tare {
namespace {

std::vector<KernelRow> Collect() {
  std::vector<KernelRow> rows;
  for (const std::span<const KernelRow> family :
       {TosaElementwiseKernels(), TosaActivationKernels(), TosaContractKernels(), TosaPoolKernels(),
        TosaReduceKernels(), TosaLayoutKernels(), TosaGatherKernels(), TosaRescaleKernels(), TosaResizeKernels(),
        TosaSpectralKernels(), TosaShapeKernels()}) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  std::sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) { return a.op < b.op; });
  return rows;
}

}  // namespace

std::span<const KernelRow> AllKernels() {
  static const std::vector<KernelRow>& rows = *new std::vector<KernelRow>(Collect());
  return rows;
}

Kernel FindKernel(std::string_view op) {
  const std::span<const KernelRow> rows = AllKernels();
  const auto it = std::lower_bound(rows.begin(), rows.end(), op,
                                   [](const KernelRow& row, std::string_view name) { return row.op < name; });
  return it != rows.end() && it->op == op ? it->kernel : nullptr;
}

}  // namespace tare
