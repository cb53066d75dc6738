#include "eval/kernels.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tare {
namespace {

std::vector<KernelRow> Collect() {
  std::vector<KernelRow> rows;
  for (const std::span<const KernelRow> family :
       {TosaElementwiseKernels(), TosaActivationKernels(), TosaContractKernels(), TosaPoolKernels(),
        TosaReduceKernels(),      TosaLayoutKernels(),     TosaGatherKernels(),   TosaRescaleKernels(),
        TosaResizeKernels(),      TosaSpectralKernels(),   TosaShapeKernels(),    AtenUnaryKernels(),
        AtenBinaryKernels(),      AtenViewKernels(),       AtenJoinKernels(),     AtenReduceKernels(),
        AtenNormKernels(),        AtenMatMulKernels(),     AtenConvKernels(),     AtenPoolKernels(),
        AtenIndexKernels(),       AtenRnnKernels(),        AtenScatterKernels(),  QuantizedKernels(),
        SymbolicKernels(),        AtenArrangeKernels(),    AtenEinsumKernels(),   AtenPool3dKernels(),
        AtenSpecialKernels(),     AtenEdgeKernels()}) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  std::sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) { return a.op < b.op; });
  return rows;
}

Kernel FindRow(std::string_view op) {
  const std::span<const KernelRow> rows = AllKernels();
  const auto it = std::lower_bound(rows.begin(), rows.end(), op,
                                   [](const KernelRow& row, std::string_view name) { return row.op < name; });
  return it != rows.end() && it->op == op ? it->kernel : nullptr;
}

}  // namespace

std::span<const KernelRow> AllKernels() {
  static const std::vector<KernelRow>& rows = *new std::vector<KernelRow>(Collect());
  return rows;
}

Kernel FindKernel(std::string_view op) {
  if (const Kernel kernel = FindRow(op); kernel != nullptr) return kernel;
  const size_t overload = op.rfind('.');
  if (overload == std::string_view::npos) return nullptr;
  const std::string_view base = op.substr(0, overload);
  for (const std::string_view ending : {"_copy", "_"}) {
    if (base.ends_with(ending))
      return FindRow(std::string(base.substr(0, base.size() - ending.size())).append(op.substr(overload)));
  }
  return nullptr;
}

}  // namespace tare
