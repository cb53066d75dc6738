// Data-dependent and symbolic scalars: item, sym ops, asserts.
#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> SymbolicFunctions() { return {}; }

}  // namespace tare
