// What `tare ops` shows of ops: selection, and one op as a page, JSON or Markdown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "meta/rule_print.h"
#include "tools/json_writer.h"
#include "tools/op_examples.h"

namespace tare {

struct OpView {
  Op op;
  const OpDef* def = nullptr;
  std::optional<RuleText> rule;  // none: metadata is what a file states
  std::vector<Op> twins;         // other ops of the same row, by name
  std::optional<OpExample> example;
};

// Which ops; an empty field selects all.
struct OpFilter {
  std::string name;      // an op, or a part of names
  std::string dialect;   // "aten"
  std::string trait;     // "view"
  std::string check;     // id of a check
  std::string function;  // of the rule language
};

// By name, without ops of the IR itself. Errors: NotFound with what is near when nothing fits.
absl::StatusOr<std::vector<Op>> SelectOps(const Context& context, const OpFilter& filter);

OpView ViewOf(const Context& context, GoldenChecker& checker, Op op);

// "aten" of aten.add.Tensor; "" of names without a dot.
std::string_view DialectOf(std::string_view op);
std::vector<std::string_view> TraitsOf(const OpDef& def);
// What a trait means, in words.
std::string_view MeaningOf(std::string_view trait);

// `shape  broadcast(self, other)`, one entry for each field of the rule in the order it is evaluated.
std::vector<std::pair<std::string, std::string>> RuleFields(const RuleText& rule);

std::string PageOf(const Context& context, const OpView& view);
void WriteOp(JsonWriter& json, const Context& context, const OpView& view);

}  // namespace tare
