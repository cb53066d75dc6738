// Functions only the cortex_m dialect uses.
#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> CortexMFunctions() { return {}; }

}  // namespace tare
