// Indexing: index, gather, embedding and their kind.
#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> IndexFunctions() { return {}; }

}  // namespace tare
