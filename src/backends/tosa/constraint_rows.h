// The constraints of targets (targets/*.toml) as the build compiles them.
#pragma once

#include <span>
#include <string_view>

#include "meta/rule_set.h"

namespace tare {

// One constraint, for documents, remedies and tests: the fields of its TOML row.
struct ConstraintRow {
  std::string_view id, on, when, that, say, remedy, source;
};
// In the order in which they are asked.
std::span<const ConstraintRow> ConstraintRows();

// One row for each operator with constraints: its checks.
const BuiltinRows& GeneratedConstraintRules();

}  // namespace tare
