// Higher-order ops: cond, while_loop, scan, map.
#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> HigherOrderFunctions() { return {}; }

}  // namespace tare
