// What is printed of a rule is the rule: parsing it gives the same tree.
#include "meta/rule_print.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "meta/context_factory.h"
#include "meta/rule_parser.h"

namespace tare {
namespace {

// The arrays of a table that parsing may add to.
struct Tree {
  std::span<const RuleNode> nodes;
  std::span<const uint32_t> links;
  std::vector<std::string_view> texts;
};

std::string Shown(const Tree& tree, uint32_t index) {
  const RuleNode& node = tree.nodes[index];
  std::string out = std::to_string(static_cast<int>(node.op)) + "." + std::to_string(node.detail);
  if (node.op == RuleOp::kText) {
    out += "'" + std::string(tree.texts[static_cast<size_t>(node.value)]) + "'";
  } else if (node.op == RuleOp::kFor) {
    out += std::to_string(node.value & 0xff) + std::string(tree.texts[static_cast<size_t>(node.value >> 8)]);
  } else if (node.op != RuleOp::kRule) {  // numbers of rules are given later
    out += "=" + std::to_string(node.value);
  }
  out += "(";
  for (const uint32_t child : tree.links.subspan(node.links, node.num_links)) out += Shown(tree, child) + " ";
  return out + ")";
}

struct Root {
  uint32_t node;
  size_t num_lets;  // that it may name
};

// Every expression of `rule`.
std::vector<Root> Roots(const Rule& rule) {
  std::vector<Root> roots;
  const RuleTable& table = *rule.table;
  const RuleRow& row = *rule.row;
  const auto add = [&](uint32_t node) {
    if (node != kNoRuleNode) roots.push_back({node, row.num_lets});
  };
  const bool single = row.num_lets >= 2 && table.texts[table.let_names[row.lets]] == "result_shape";
  for (uint32_t i = 0; i < row.num_lets; ++i) {
    roots.push_back({table.lets[row.lets + i], single && i < 2 ? row.num_lets : i});
  }
  for (const RuleCheck& check : table.checks.subspan(row.checks, row.num_checks)) add(check.that);
  for (const RuleResult& r : table.results.subspan(row.results, row.num_results)) {
    for (const uint32_t node : {r.shape, r.dtype, r.layout, r.offset, r.result}) add(node);
  }
  return roots;
}

int CheckAll(const Context& context) {
  int count = 0;
  const RuleSet& rules = RulesOf(context);
  for (int i = 0; i < context.ops.size(); ++i) {
    const Op op{static_cast<uint16_t>(i)};
    const int32_t number = context.ops.Get(op).rule;
    if (number < 0) continue;
    const Rule& rule = rules.rules()[static_cast<size_t>(number)];
    const Tree before{rule.table->nodes, rule.table->links, {rule.table->texts.begin(), rule.table->texts.end()}};
    RuleScope scope{context.ops.schema(op), {}};
    for (const uint32_t name : rule.table->let_names.subspan(rule.row->lets, rule.row->num_lets)) {
      scope.lets.emplace_back(rule.table->texts[name]);
    }
    const std::vector<std::string> lets = scope.lets;
    for (const auto& [root, num_lets] : Roots(rule)) {
      scope.lets.assign(lets.begin(), lets.begin() + static_cast<ptrdiff_t>(num_lets));
      const std::string text = PrintRuleExpr(rules, rule, *scope.schema, root);
      CAPTURE(text);
      RuleArrays arrays;
      std::vector<PendingRule> pending;
      const auto parsed = ParseRuleExpr(text, {1, 1}, scope, arrays, pending);
      REQUIRE(parsed.ok());
      const Tree after{arrays.nodes, arrays.links, {arrays.texts.begin(), arrays.texts.end()}};
      CHECK_EQ(Shown(after, *parsed), Shown(before, root));
      ++count;
    }
  }
  return count;
}

TEST_CASE("every expression of every row reads back as it was") {
  const auto context = MakeContext();
  CHECK_GT(CheckAll(*context), 3000);
}

TEST_CASE("parentheses stand where they are needed and only there") {
  const auto context = MakeContext();
  REQUIRE(AddOpsFile(*context, "my.toml", R"toml(
[op."t.a.x"]
schema = "(int[] a, int b, ...) -> int"
let = [
  "c = (1 + b) * 2 - (b - 1) // (b * 2)",
  "d = -b + -2 - -(2) + (-a[0]) + a[-1] + 1.5e-7",
  "e = not (b > 1 and b < 3) or (b == 1) == (b == 2)",
  "f = (1 if b > 1 else 2) if b > 2 else 3 if b > 4 else 4",
  "g = [[x * y for y in a[1:] if y not in rest] for x in a]",
  "h = ((b,), (), ['it', \"it's\", *a[:b]], (b + 1)[0].shape, 1 < b < 3)",
]
result = "rule('aten.view.default', a, [len(rest), is_none(b)])"
)toml")
              .ok());
  const RuleText text = TextOfRule(*context, context->ops.Find("t.a.x"));
  const std::string_view want[] = {
      "(1 + b) * 2 - (b - 1) // (b * 2)",
      "-b + -2 - -(2) + -a[0] + a[-1] + 1.5e-07",
      "not (b > 1 and b < 3) or (b == 1) == (b == 2)",
      "(1 if b > 1 else 2) if b > 2 else 3 if b > 4 else 4",
      "[[x * y for y in a[1:] if y not in rest] for x in a]",
      "((b,), (), ['it', \"it's\", *a[:b]], (b + 1)[0].shape, 1 < b and b < 3)",
  };
  REQUIRE_EQ(text.lets.size(), std::size(want));
  for (size_t i = 0; i < text.lets.size(); ++i) CHECK_EQ(text.lets[i].value, std::string(want[i]));
  CHECK_EQ(text.results[0].result, "rule('aten.view.default', a, [len(rest), is_none(b)])");
  CHECK_GT(CheckAll(*context), 3000);
}

}  // namespace
}  // namespace tare
