// `tare ops`: the ops of the context.
#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/context.h"
#include "ir/status.h"
#include "meta/rule_set.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace tare {
namespace {

constexpr std::pair<OpTrait, std::string_view> kTraitNames[] = {
    {kPure, "pure"},
    {kView, "view"},
    {kMutates, "mutates"},
    {kMintsSymbols, "mints_symbols"},
    {kEffect, "effect"},
    {kRandom, "random"},
    {kReadsValues, "reads_values"},
    {kReadsQuant, "reads_quant"},
    {kHigherOrder, "higher_order"},
};

std::vector<std::string> TraitsOf(const OpDef& def) {
  std::vector<std::string> names;
  for (const auto& [trait, name] : kTraitNames) {
    if ((def.traits & trait) != 0) names.emplace_back(name);
  }
  return names;
}

// One check of an op's row, with `…` where its message has a value.
struct CheckText {
  std::string id, say;
};

std::vector<CheckText> ChecksOf(const Context& context, Op op) {
  const int32_t index = context.ops.Get(op).rule;
  if (index < 0) return {};
  const Rule& rule = RulesOf(context).rules()[index];
  const RuleTable& table = *rule.table;
  std::vector<CheckText> checks;
  for (const RuleCheck& check : table.checks.subspan(rule.row->checks, rule.row->num_checks)) {
    CheckText text{std::string(table.texts[check.id]), ""};
    const RuleNode& say = table.nodes[check.say];
    for (uint32_t part : table.links.subspan(say.links, say.num_links)) {
      const RuleNode& node = table.nodes[part];
      text.say += node.op == RuleOp::kText ? table.texts[node.value] : "…";
    }
    checks.push_back(std::move(text));
  }
  return checks;
}

// Ops whose name is or contains `part`, by name. Ops of the IR itself are not listed.
std::vector<Op> Select(const OpTable& ops, std::string_view part) {
  std::vector<Op> selected;
  for (int i = kNumPseudoOps; i < ops.size(); ++i) {
    const Op op{static_cast<uint16_t>(i)};
    if (ops.Name(op) == part) return {op};
    if (ops.Name(op).find(part) != std::string_view::npos) selected.push_back(op);
  }
  std::sort(selected.begin(), selected.end(), [&](Op a, Op b) { return ops.Name(a) < ops.Name(b); });
  return selected;
}

void PutRow(std::string_view label, std::string_view text) {
  if (text.empty()) return;
  std::printf("  %-8.*s %.*s\n", static_cast<int>(label.size()), label.data(), static_cast<int>(text.size()),
              text.data());
}

void PrintOp(const OpDef& def, const std::vector<CheckText>& checks) {
  std::printf("%.*s\n", static_cast<int>(def.name.size()), def.name.data());
  PutRow("", def.doc);
  PutRow("schema", def.schema_text);
  PutRow("traits", absl::StrJoin(TraitsOf(def), " "));
  PutRow("rule", def.rule >= 0 ? "" : "none: metadata is what the file states");
  for (const CheckText& check : checks) PutRow("check", absl::StrCat(check.id, ": ", check.say));
  PutRow("source", def.source);
}

void WriteOp(JsonWriter& json, const OpDef& def, const std::vector<CheckText>& checks) {
  json.Object([&] {
    json.Field("name", def.name);
    json.Field("schema", def.schema_text);
    json.Field("doc", def.doc);
    json.Field("source", def.source);
    json.Field("has_rule", def.rule >= 0);
    json.Key("traits");
    json.Array([&] {
      for (const std::string& trait : TraitsOf(def)) json.Value(trait);
    });
    json.Key("checks");
    json.Array([&] {
      for (const CheckText& check : checks) {
        json.Object([&] {
          json.Field("id", check.id);
          json.Field("say", check.say);
        });
      }
    });
  });
}

}  // namespace

int RunOps(const OpsOptions& options) {
  Session session;
  if (const ExitCode code = session.AddOpsFiles(options.ops_files); code != kExitOk) return code;
  const OpTable& ops = session.context().ops;
  const std::vector<Op> selected = Select(ops, options.name);
  if (selected.empty()) return Complain(options.name, absl::NotFoundError("no op has this in its name"));
  if (options.json) {
    JsonWriter json;
    json.Array([&] {
      for (Op op : selected) WriteOp(json, ops.Get(op), ChecksOf(session.context(), op));
    });
    json.Print();
    return kExitOk;
  }
  if (selected.size() == 1) {
    PrintOp(ops.Get(selected[0]), ChecksOf(session.context(), selected[0]));
    return kExitOk;
  }
  for (Op op : selected) std::printf("%s\n", std::string(ops.Name(op)).c_str());
  return kExitOk;
}

}  // namespace tare
