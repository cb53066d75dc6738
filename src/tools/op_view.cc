#include "tools/op_view.h"

#include <algorithm>

#include "ir/status.h"
#include "meta/function_table.h"
#include "meta/rule_parser.h"
#include "tools/suggest.h"

namespace tare {
namespace {

struct TraitRow {
  OpTrait trait;
  std::string_view name, meaning;
};
constexpr TraitRow kTraits[] = {
    {kPure, "pure", "no effect: may be merged, moved, erased"},
    {kView, "view", "the result shares an operand's storage"},
    {kMutates, "mutates", "writes an operand: keeps its place, is never erased"},
    {kMintsSymbols, "mints_symbols", "an extent depends on data: a fresh symbol"},
    {kReadsValues, "reads_values", "the result depends on the values of constants"},
    {kReadsQuant, "reads_quant", "the result depends on quantisation parameters"},
    {kEffect, "effect", "kept although nothing uses it"},
    {kRandom, "random", "two calls differ: never merged"},
    {kHigherOrder, "higher_order", "has graphs or ops as arguments"},
    {kDeclared, "declared", "no rule: metadata is what a file states"},
};

int FunctionByName(std::string_view name) { return name.empty() ? -1 : FindRuleFunction(name); }

bool HasCheck(const RuleText& rule, std::string_view id) {
  return std::any_of(rule.checks.begin(), rule.checks.end(), [&](const RuleText::Check& c) { return c.id == id; });
}

absl::Status NothingLike(std::string_view what, std::string_view wanted, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return absl::NotFoundError(Cat(what, DidYouMean(wanted, names)));
}

// Complains of a filter that no op could ever meet.
absl::Status CheckFilter(const Context& context, const OpFilter& filter) {
  std::vector<std::string> dialects, checks, traits, functions;
  for (int i = kNumPseudoOps; i < context.ops.size(); ++i) {
    const Op op{static_cast<uint16_t>(i)};
    dialects.emplace_back(DialectOf(context.ops.Name(op)));
    if (filter.check.empty() || context.ops.Get(op).rule < 0) continue;
    for (RuleText::Check& check : TextOfRule(context, op).checks) checks.push_back(std::move(check.id));
  }
  for (const TraitRow& row : kTraits) traits.emplace_back(row.name);
  for (const RuleFunctionRow& row : FunctionTable()) functions.emplace_back(row.name);
  const auto unknown = [](const std::string& wanted, const std::vector<std::string>& names) {
    return !wanted.empty() && std::find(names.begin(), names.end(), wanted) == names.end();
  };
  if (unknown(filter.dialect, dialects)) return NothingLike("no such dialect", filter.dialect, dialects);
  if (unknown(filter.trait, traits)) return NothingLike("no such trait", filter.trait, traits);
  if (unknown(filter.function, functions)) return NothingLike("no such function", filter.function, functions);
  if (unknown(filter.check, checks)) {
    return NothingLike("no row has this check; functions have others (docs/rules.md)", filter.check, checks);
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view DialectOf(std::string_view op) {
  const size_t dot = op.find('.');
  return dot == std::string_view::npos ? "" : op.substr(0, dot);
}

std::vector<std::string_view> TraitsOf(const OpDef& def) {
  std::vector<std::string_view> names;
  for (const TraitRow& row : kTraits) {
    if ((def.traits & row.trait) != 0) names.push_back(row.name);
  }
  return names;
}

std::string_view MeaningOf(std::string_view trait) {
  const auto* row =
      std::find_if(std::begin(kTraits), std::end(kTraits), [&](const auto& t) { return t.name == trait; });
  return row == std::end(kTraits) ? "" : row->meaning;
}

absl::StatusOr<std::vector<Op>> SelectOps(const Context& context, const OpFilter& filter) {
  const OpTable& ops = context.ops;
  TARE_RETURN_IF_ERROR(CheckFilter(context, filter));
  const Op exact = ops.Find(filter.name);
  const int function = FunctionByName(filter.function);
  std::vector<Op> selected;
  for (int i = kNumPseudoOps; i < ops.size(); ++i) {
    const Op op{static_cast<uint16_t>(i)};
    const OpDef& def = ops.Get(op);
    if (exact.has_value() ? !(op == exact) : def.name.find(filter.name) == std::string_view::npos) continue;
    if (!filter.dialect.empty() && DialectOf(def.name) != filter.dialect) continue;
    const std::vector<std::string_view> traits = TraitsOf(def);
    if (!filter.trait.empty() && std::find(traits.begin(), traits.end(), filter.trait) == traits.end()) continue;
    if (!filter.check.empty() || function >= 0) {
      if (def.rule < 0) continue;
      const RuleText rule = TextOfRule(context, op);
      if (!filter.check.empty() && !HasCheck(rule, filter.check)) continue;
      if (function >= 0 && !std::binary_search(rule.functions.begin(), rule.functions.end(), function)) continue;
    }
    selected.push_back(op);
  }
  std::sort(selected.begin(), selected.end(), [&](Op a, Op b) { return ops.Name(a) < ops.Name(b); });
  if (!selected.empty()) return selected;
  std::vector<std::string> names;
  for (int i = kNumPseudoOps; i < ops.size(); ++i) names.emplace_back(ops.Name(Op{static_cast<uint16_t>(i)}));
  return NothingLike("no op has this in its name", filter.name, std::move(names));
}

OpView ViewOf(const Context& context, GoldenChecker& checker, Op op) {
  OpView view;
  view.op = op;
  view.def = &context.ops.Get(op);
  if (view.def->rule >= 0) {
    view.rule = TextOfRule(context, op);
    for (int i = kNumPseudoOps; i < context.ops.size(); ++i) {
      const Op other{static_cast<uint16_t>(i)};
      if (context.ops.Get(other).rule == view.def->rule && !(other == op)) view.twins.push_back(other);
    }
    std::sort(view.twins.begin(), view.twins.end(),
              [&](Op a, Op b) { return context.ops.Name(a) < context.ops.Name(b); });
  }
  view.example = ExampleOf(checker, view.def->name);
  return view;
}

std::vector<std::pair<std::string, std::string>> RuleFields(const RuleText& rule) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const RuleText::Let& let : rule.lets) fields.emplace_back("let", Cat(let.name, " = ", let.value));
  for (size_t i = 0; i < rule.results.size(); ++i) {
    const RuleText::Result& result = rule.results[i];
    const std::string number = rule.several ? Cat(i, ".") : "";
    const std::pair<std::string_view, const std::string&> parts[] = {{"shape", result.shape},
                                                                     {"dtype", result.dtype},
                                                                     {"layout", result.layout},
                                                                     {"offset", result.offset},
                                                                     {"result", result.result}};
    for (const auto& [name, text] : parts) {
      if (!text.empty()) fields.emplace_back(Cat(number, name), text);
    }
  }
  if (!rule.alias.empty()) fields.emplace_back("alias", Cat("the storage of ", rule.alias));
  return fields;
}

}  // namespace tare
