// All functions of the rule language, in one fixed order.
#pragma once

#include <span>

#include "meta/rule_context.h"

namespace tare {

std::span<const RuleFunctionRow> FunctionTable();

}  // namespace tare
