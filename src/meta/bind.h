// Arguments of a call as values, one per schema argument: what a rule sees.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "ir/schema.h"
#include "meta/rule_context.h"

namespace tare {

// Arguments in normal form (ir/normalize.h) with their operands; defaults filled. A variadic schema
// gives one more value, the list of the arguments beyond it.
// Errors: InvalidArgument [args_c1] unknown argument, [args_c4] missing, [args_c5] wrong kind.
absl::StatusOr<std::span<const Value>> BindArguments(RuleContext& rc, const Schema& schema,
                                                     std::span<const NamedAttr> attrs,
                                                     std::span<const MetaId> operands);

// The same for values in schema order, as rule('…') passes them.
absl::StatusOr<std::span<const Value>> BindValues(RuleContext& rc, const Schema& schema, std::span<const Value> values);

// What an absent argument is. Errors: [args_c4] when it must be given.
absl::StatusOr<Value> DefaultOf(RuleContext& rc, const SchemaArg& arg);

Value ValueOf(RuleContext& rc, const Meta& meta);
Value ValueOf(RuleContext& rc, const AttrValue& attr, std::span<const MetaId> operands);

}  // namespace tare
