// Walks the nodes of a compiled rule.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "meta/rule_context.h"
#include "meta/rule_set.h"

namespace tare {

// The rule's result for arguments in schema order: checks first, then the results. Values live in
// the arena of `state`. Errors carry the id of a check or of a function.
absl::StatusOr<Value> EvaluateRule(RuleContext::State& state, const Rule& rule, std::span<const Value> args);

// What the rule says its bodies are given; none when it says nothing.
absl::StatusOr<Value> EvaluateBodies(RuleContext::State& state, const Rule& rule, std::span<const Value> args);

// Interns a result. Errors: InvalidArgument [overflow] a size beyond 64 bits, [rank_limit],
// [negative_size], [numel_overflow], [rule_c8] a value that is no result.
absl::StatusOr<MetaId> InternResult(RuleContext& rc, const Value& result);

}  // namespace tare
