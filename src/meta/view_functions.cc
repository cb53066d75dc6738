// Views: permute, view, slice and their kind.
#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> ViewFunctions() { return {}; }

}  // namespace tare
