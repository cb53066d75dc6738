#include "meta/constraint_compiler.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/status.h"

// Comes last: it configures a library.
// clang-format off
#include "ir/parse_toml.h"
// clang-format on

namespace tare {
namespace {

constexpr std::string_view kFields[] = {"on", "when", "let", "that", "say", "remedy", "source"};

// What rows on every operator, and on what is left outside, see.
constexpr std::string_view kNodeSchema =
    "(Tensor[] tensors, str op, bool lowers, bool mutates, bool converts, bool number, str dynamic) -> ()";

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// One row before it is spread over its operators.
struct Constraint {
  uint32_t line = 0;
  ConstraintText text;
  std::vector<std::string> on, let;
};

// What the checks of one operator become.
struct OperatorRow {
  std::string schema;
  std::vector<std::string> lets, checks;
};

class Reader {
 public:
  explicit Reader(const RuleFile& file) : file_(file) {}

  absl::StatusOr<std::vector<Constraint>> Read() {
    const toml::parse_result parsed = ParseToml(file_.text, file_.name);
    if (!parsed)
      return InvalidError("rule_c1", file_.name, ":", parsed.error().source().begin.line, ": ",
                          parsed.error().description());
    std::vector<Constraint> all;
    for (const auto& [key, node] : parsed.table()) {
      if (key.str() != "constraint" || !node.is_table()) return Error(node, "expected [constraint.ID]");
      for (const auto& [id, row] : *node.as_table()) {
        if (!row.is_table()) return Error(row, "a constraint is a table");
        TARE_ASSIGN_OR_RETURN(Constraint constraint, ReadRow(*row.as_table()));
        constraint.text.id = std::string(id.str());
        constraint.line = static_cast<uint32_t>(row.source().begin.line);
        all.push_back(std::move(constraint));
      }
    }
    std::sort(all.begin(), all.end(), [](const Constraint& a, const Constraint& b) { return a.line < b.line; });
    return all;
  }

 private:
  absl::Status Error(const toml::node& node, std::string_view what) const {
    return InvalidError("rule_c6", file_.name, ":", node.source().begin.line, ": ", what);
  }

  absl::StatusOr<std::vector<std::string>> Texts(const toml::node& node) const {
    std::vector<std::string> texts;
    if (const auto one = node.value<std::string>(); one.has_value()) return std::vector<std::string>{*one};
    if (!node.is_array()) return Error(node, "expected a text or a list of texts");
    for (const toml::node& item : *node.as_array()) {
      const auto text = item.value<std::string>();
      if (!text.has_value()) return Error(item, "expected a text");
      texts.push_back(*text);
    }
    return texts;
  }

  absl::StatusOr<Constraint> ReadRow(const toml::table& row) const {
    Constraint out;
    for (const auto& [key, node] : row) {
      if (std::find(std::begin(kFields), std::end(kFields), key.str()) == std::end(kFields))
        return Error(node, absl::StrCat("unknown field ", TextPiece(key.str())));
      TARE_ASSIGN_OR_RETURN(const std::vector<std::string> texts, Texts(node));
      const std::string first = texts.empty() ? std::string() : texts[0];
      if (key.str() == "on") out.on = texts;
      if (key.str() == "let") out.let = texts;
      if (key.str() == "when") out.text.when = first;
      if (key.str() == "that") out.text.that = first;
      if (key.str() == "say") out.text.say = first;
      if (key.str() == "remedy") out.text.remedy = first;
      if (key.str() == "source") out.text.source = first;
    }
    out.text.on = absl::StrJoin(out.on, " ");
    const bool of_pass = out.text.on == "pass";
    if (out.on.empty() || out.text.say.empty() || out.text.remedy.empty() || out.text.that.empty() != of_pass)
      return Error(row, "a constraint has `on`, `that`, `say` and `remedy`; one on `pass` has no `that`");
    return out;
  }

  const RuleFile& file_;
};

}  // namespace

absl::StatusOr<CompiledConstraints> CompileConstraints(std::span<const RuleFile> files, std::span<const RuleFile> ops,
                                                       StringPool& pool) {
  TARE_ASSIGN_OR_RETURN(const CompiledRules known, CompileRules(ops, {}, pool));
  std::map<std::string, std::string> schemas;
  for (const CompiledOp& op : known.ops) schemas.emplace(op.name, op.schema);
  CompiledConstraints out;
  std::map<std::string, OperatorRow> rows;
  std::set<std::string> ids;
  for (const RuleFile& file : files) {
    TARE_ASSIGN_OR_RETURN(std::vector<Constraint> constraints, Reader(file).Read());
    for (Constraint& constraint : constraints) {
      ConstraintText& text = constraint.text;
      if (!ids.insert(text.id).second)
        return InvalidError("rule_c6", file.name, ":", constraint.line, ": ", text.id, " is described twice");
      for (const std::string& on : constraint.on) {
        if (on == "pass") continue;
        const bool node = on == "any" || on == "outside" || on == "edge";
        const std::string name = absl::StrCat(node ? "constraints." : "tosa.", on, ".default");
        const auto schema = schemas.find(name);
        if (!node && schema == schemas.end())
          return InvalidError("rule_c3", file.name, ":", constraint.line, ": no operator ", on);
        OperatorRow& row = rows[name];
        if (row.schema.empty()) {
          row.schema = node ? std::string(kNodeSchema) : schema->second;
          const size_t end = row.schema.rfind(") ->");
          if (!node) row.schema = absl::StrCat(row.schema.substr(0, end), ", Tensor result, str[] constants) -> ()");
        }
        for (const std::string& let : constraint.let)
          if (std::find(row.lets.begin(), row.lets.end(), let) == row.lets.end()) row.lets.push_back(let);
        const std::string that =
            text.when.empty() ? text.that : absl::StrCat("not (", text.when, ") or (", text.that, ")");
        row.checks.push_back(
            absl::StrCat("{ id = ", Quoted(text.id), ", that = ", Quoted(that), ", say = ", Quoted(text.say), " }"));
      }
      out.texts.push_back(std::move(text));
    }
  }
  RuleFile made{"targets", ""};
  for (const auto& [name, row] : rows) {
    std::vector<std::string> lets;
    for (const std::string& let : row.lets) lets.push_back(Quoted(let));
    absl::StrAppend(&made.text, "[op.", Quoted(name), "]\nschema = ", Quoted(row.schema), "\nlet = [",
                    absl::StrJoin(lets, ", "), "]\nchecks = [\n", absl::StrJoin(row.checks, ",\n"),
                    "\n]\nresult = \"none\"\n");
  }
  TARE_ASSIGN_OR_RETURN(out.rules, CompileRules({&made, 1}, {}, pool));
  return out;
}

}  // namespace tare
