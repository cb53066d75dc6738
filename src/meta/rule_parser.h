// Expressions of rules: text to nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ir/schema.h"
#include "meta/rule_code.h"
#include "meta/rule_lexer.h"

namespace tare {

// The growing arrays of one table. Texts are kept once.
struct RuleArrays {
  std::vector<RuleNode> nodes;
  std::vector<uint32_t> links;
  std::vector<uint32_t> lets;
  std::vector<uint32_t> let_names;
  std::vector<RuleCheck> checks;
  std::vector<RuleResult> results;
  std::vector<RuleRow> rows;
  std::vector<std::string> texts;
  absl::flat_hash_map<std::string, uint32_t> text_index;

  uint32_t Text(std::string_view text);
  uint32_t Add(RuleNode node, std::span<const uint32_t> children);
};

// What names mean inside one row.
struct RuleScope {
  const Schema* schema = nullptr;
  std::vector<std::string> lets;  // by slot; "" = not to be named yet
};

// A call of another op's rule, to be resolved when all rows are there.
struct PendingRule {
  uint32_t node = 0;
  std::string op;
  std::string file, row;  // that have it; the compiler fills them in
};

uint32_t PackPlace(RulePlace place);
RulePlace UnpackPlace(uint32_t packed);

// Index of the function table, -1 = unknown.
int FindRuleFunction(std::string_view name);

// The root node. Errors: InvalidArgument `LINE:COLUMN: …` [rule_c2] syntax, [rule_c3] unknown name or function,
// [rule_c4] wrong number of arguments, [rule_c5] too large or too deep.
absl::StatusOr<uint32_t> ParseRuleExpr(std::string_view text, RulePlace place, const RuleScope& scope,
                                       RuleArrays& arrays, std::vector<PendingRule>& pending);

// A message with `{expr}` parts: a kList of kText and expressions. `{{` is a brace.
absl::StatusOr<uint32_t> ParseRuleMessage(std::string_view text, RulePlace place, const RuleScope& scope,
                                          RuleArrays& arrays, std::vector<PendingRule>& pending);

}  // namespace tare
