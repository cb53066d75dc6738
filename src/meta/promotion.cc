// Type promotion: functions of the rule language about dtypes.
#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> PromotionFunctions() { return {}; }

}  // namespace tare
