#include "meta/rule_set.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "meta/context_factory.h"
#include "meta/rule_compiler.h"

namespace tare {
namespace {

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

}  // namespace

uint64_t HashOfText(std::string_view text) {
  uint64_t hash = 1469598103934665603u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

struct RuleSet::Added {
  RuleArrays arrays;
  std::vector<std::string_view> texts;
  RuleTable table;
};

RuleSet::RuleSet(const BuiltinRows& builtin) : builtin_(builtin.table), id_(builtin.table.content_hash) {
  rules_.reserve(builtin_.rows.size());
  for (const RuleRow& row : builtin_.rows) rules_.push_back({&builtin_, &row});
}

const RuleSet& RulesOf(const Context& context) {
  TARE_CHECK(context.rules != nullptr);
  return *static_cast<const RuleSet*>(context.rules.get());
}

absl::Status AddOpsFile(Context& context, std::string_view file_name, std::string_view text) {
  const RuleSet& current = RulesOf(context);
  KnownRules known;
  known.first_rule = static_cast<int32_t>(current.rules().size());
  for (int i = 0; i < context.ops.size(); ++i) {
    const OpDef& def = context.ops.Get(Op{static_cast<uint16_t>(i)});
    if (def.rule >= 0) known.by_name.emplace(def.name, def.rule);
  }
  const RuleFile file{std::string(file_name), std::string(text)};
  auto compiled = CompileRules({&file, 1}, known, context.strings);
  if (!compiled.ok()) return compiled.status();
  for (const CompiledOp& op : compiled->ops) {
    const Op there = context.ops.Find(op.name);
    if (!there.has_value()) continue;
    const std::string place = absl::StrCat(op.place, ": op ", op.name);
    if (there.index < context.ops.builtin_count()) {
      return InvalidError("rule_c7", place, " is built in; its rule cannot be replaced");
    }
    return InvalidError("rule_c7", place, " is known to this context already");
  }

  auto added = std::make_shared<RuleSet::Added>();
  added->arrays = std::move(compiled->arrays);
  const RuleArrays& arrays = added->arrays;
  added->texts.assign(arrays.texts.begin(), arrays.texts.end());
  added->table = {arrays.nodes,   arrays.links, arrays.lets,  arrays.let_names, arrays.checks,
                  arrays.results, arrays.rows,  added->texts, HashOfText(text)};
  auto next = std::make_shared<RuleSet>(current);
  for (Rule& rule : next->rules_) {
    if (rule.table == &current.builtin_) rule.table = &next->builtin_;
  }
  for (const RuleRow& row : added->table.rows) next->rules_.push_back({&added->table, &row});
  next->id_ = Mix(next->id_, added->table.content_hash);
  next->added_.push_back(added);
  for (const CompiledOp& op : compiled->ops) {
    OpDef def;
    def.name = op.name;
    def.schema_text = op.schema;
    def.traits = op.traits;
    def.rule = op.rule < 0 ? -1 : known.first_rule + op.rule;
    def.doc = op.doc;
    def.source = op.source;
    const auto result = context.ops.Add(def);
    if (!result.ok()) return result.status();
  }
  context.rules = std::move(next);
  return absl::OkStatus();
}

}  // namespace tare
