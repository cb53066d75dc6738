#include "meta/function_table.h"

#include <vector>

namespace tare {

std::span<const RuleFunctionRow> FunctionTable() {
  static const std::vector<RuleFunctionRow>& table = *[] {
    auto* all = new std::vector<RuleFunctionRow>;
    for (const auto& list :
         {CoreFunctions(),     PromotionFunctions(), LayoutFunctions(),   ShapeFunctions(),       ContractFunctions(),
          FactoryFunctions(),  ViewFunctions(),      SplitFunctions(),    StorageFunctions(),     WindowFunctions(),
          PoolFunctions(),     ResizeFunctions(),    ConcatFunctions(),   IndexFunctions(),       GatherFunctions(),
          SpectralFunctions(), QuantFunctions(),     SymbolicFunctions(), HigherOrderFunctions(), TosaFunctions(),
          CortexMFunctions()}) {
      all->insert(all->end(), list.begin(), list.end());
    }
    return all;
  }();
  return table;
}

}  // namespace tare
