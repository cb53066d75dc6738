// Windows: convolution, pooling, padding, resizing.
#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> WindowFunctions() { return {}; }

}  // namespace tare
