// Constraints of targets (targets/*.toml) to rules of ops, which the rule compiler then takes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "meta/rule_compiler.h"

namespace tare {

struct ConstraintText {
  std::string id, on, when, that, say, remedy, source;  // `on`: operators, or a word of targets/README.md
};

struct CompiledConstraints {
  CompiledRules rules;  // one row per operator: its checks are the constraints, in the order of files and lines
  std::vector<ConstraintText> texts;
};

// Names of the rows for every TOSA operator, for what is left outside, and for inputs and outputs.
inline constexpr std::string_view kConstraintsOnAny = "constraints.any.default";
inline constexpr std::string_view kConstraintsOutside = "constraints.outside.default";
inline constexpr std::string_view kConstraintsOnEdge = "constraints.edge.default";

// `ops` are files of op rows whose operators `on` may name. Rows of operators have the operator's name.
// Errors: InvalidArgument as CompileRules, and [rule_c6] for fields, [rule_c3] for an unknown operator.
absl::StatusOr<CompiledConstraints> CompileConstraints(std::span<const RuleFile> files, std::span<const RuleFile> ops,
                                                       StringPool& pool);

}  // namespace tare
