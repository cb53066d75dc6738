// Compiled rules as text again, in the language of docs/rules.md: what `tare ops` and docs/ops.md show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "meta/rule_set.h"

namespace tare {

// One row, with the fields of its family filled in. An absent field is "".
struct RuleText {
  struct Let {
    std::string name, value;
  };
  struct Check {
    std::string id, that;
    std::string say;  // with `{expression}` parts
  };
  struct Result {
    std::string shape, dtype, layout, offset;
    std::string result;  // instead of the four
  };
  std::string_view row;     // the first of the ops that share it
  std::string_view family;  // "" = none
  std::string_view file;
  uint32_t line = 0;
  std::vector<Let> lets;
  std::vector<Check> checks;
  std::vector<Result> results;
  bool several = false;        // results are a tuple even where there is one
  std::string_view alias;      // argument whose storage the result shares
  std::vector<int> functions;  // rows of FunctionTable() the row calls, ascending
};

// Of an op with a rule. Parsing what is printed gives the same tree.
RuleText TextOfRule(const Context& context, Op op);

// One expression of `rule`, a row whose arguments `schema` names.
std::string PrintRuleExpr(const RuleSet& rules, const Rule& rule, const Schema& schema, uint32_t node);

}  // namespace tare
