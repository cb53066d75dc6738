// Functions only the tosa dialect uses.
#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> TosaFunctions() { return {}; }

}  // namespace tare
