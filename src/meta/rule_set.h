// The rules of a Context: those the build made from ops/*.toml, then those of `--ops` files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/context.h"
#include "meta/rule_code.h"
#include "meta/rule_parser.h"

namespace tare {

// Tables of the build: ops in alphabetical order, rule = row of the table.
struct BuiltinRows {
  RuleTable table;
  std::span<const OpDef> ops;
};

// One rule of a set, by the number OpDef::rule.
struct Rule {
  const RuleTable* table = nullptr;
  const RuleRow* row = nullptr;
};

class RuleSet {
 public:
  explicit RuleSet(const BuiltinRows& builtin);

  std::span<const Rule> rules() const { return rules_; }
  // Hash of all rules: part of every memo key.
  uint64_t id() const { return id_; }

 private:
  friend absl::Status AddOpsFile(Context& context, std::string_view file_name, std::string_view text);
  struct Added;  // arrays of one file, with the views into them
  RuleTable builtin_;
  std::vector<Rule> rules_;
  std::vector<std::shared_ptr<const Added>> added_;
  uint64_t id_ = 0;
};

const RuleSet& RulesOf(const Context& context);

uint64_t HashOfText(std::string_view text);

// The generated tables (op_rows_data.cc).
const BuiltinRows& GeneratedRows();

}  // namespace tare
