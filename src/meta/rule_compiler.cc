#include "meta/rule_compiler.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/op_table.h"
#include "ir/schema.h"
#include "ir/status.h"

// Comes last: it configures a library.
// clang-format off
#include "ir/parse_toml.h"
// clang-format on

namespace tare {
namespace {

constexpr std::pair<std::string_view, OpTrait> kTraits[] = {
    {"pure", kPure},
    {"view", kView},
    {"mutates", kMutates},
    {"mints_symbols", kMintsSymbols},
    {"reads_values", kReadsValues},
    {"reads_quant", kReadsQuant},
    {"effect", kEffect},
    {"random", kRandom},
    {"higher_order", kHigherOrder},
    {"declared", kDeclared},
};

constexpr std::string_view kFields[] = {"schema",  "shape", "dtype",  "layout", "offset", "result",
                                        "results", "let",   "checks", "alias",  "traits", "family",
                                        "with",    "also",  "doc",    "source", "bodies"};

// A text of the file, `$x` replaced, and where it stands.
struct Field {
  std::string text;
  RulePlace place;
};

RulePlace PlaceOf(const toml::node& node) {
  return {static_cast<uint32_t>(node.source().begin.line), static_cast<uint32_t>(node.source().begin.column)};
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

constexpr size_t kMaxFamilies = 8;  // above one row

struct Family {
  std::string file;
  const toml::table* table = nullptr;
};

class Compiler {
 public:
  Compiler(const KnownRules& known, StringPool& pool) : known_(known), pool_(pool) {}

  absl::StatusOr<CompiledRules> Compile(std::span<const RuleFile> files) {
    std::vector<toml::table> tables;
    for (const RuleFile& file : files) {
      auto table = ParseFile(file);
      if (!table.ok()) return table.status();
      tables.push_back(*std::move(table));
    }
    for (size_t i = 0; i < files.size(); ++i) TARE_RETURN_IF_ERROR(CollectFamilies(files[i].name, tables[i]));
    for (size_t i = 0; i < files.size(); ++i) {
      lines_ = SplitLines(files[i].text);
      TARE_RETURN_IF_ERROR(CompileOps(files[i].name, tables[i]));
    }
    std::stable_sort(out_.ops.begin(), out_.ops.end(),
                     [](const CompiledOp& a, const CompiledOp& b) { return a.name < b.name; });
    for (size_t i = 1; i < out_.ops.size(); ++i) {
      if (out_.ops[i].name == out_.ops[i - 1].name) {
        return InvalidError("rule_c6", out_.ops[i].place, ": op ", out_.ops[i].name, " is described twice, in ",
                            out_.ops[i - 1].place, " too");
      }
    }
    TARE_RETURN_IF_ERROR(ResolveRules());
    return std::move(out_);
  }

 private:
  absl::Status Error(std::string_view id, RulePlace place, std::string_view what) const {
    return InvalidError(id, file_, ":", place.line, ":", place.column, ": ", what);
  }
  std::string PlaceText(RulePlace place) const { return absl::StrCat(file_, ":", place.line, ":", place.column); }
  // Adds file and op to an error of the parser, which starts with `LINE:COLUMN: `.
  absl::Status InOp(const absl::Status& status) const {
    const std::string_view text = WithoutId(status);
    const size_t space = std::min(text.find(' '), text.size() - 1);
    return InvalidError(CheckIdOf(status), file_, ":", text.substr(0, space), " op ", op_name_, ":",
                        text.substr(space));
  }

  absl::StatusOr<toml::table> ParseFile(const RuleFile& file) {
    file_ = file.name;
    if (file.text.size() > kMaxRuleFile) return Error("rule_c5", {1, 1}, "file too large");
    toml::parse_result result = ParseToml(file.text, file.name);
    if (!result) {
      const toml::source_position at = result.error().source().begin;
      return Error("rule_c1", {static_cast<uint32_t>(at.line), static_cast<uint32_t>(at.column)},
                   std::string_view(result.error().description()));
    }
    return std::move(result).table();
  }

  absl::Status CollectFamilies(const std::string& file, const toml::table& table) {
    file_ = file;
    for (const auto& [key, node] : table) {
      if (key.str() != "family" && key.str() != "op") {
        return Error("rule_c6", PlaceOf(node), absl::StrCat("unknown table '", std::string(key.str()), "'"));
      }
      if (!node.is_table()) return Error("rule_c6", PlaceOf(node), "expected a table");
    }
    const toml::table* families = table["family"].as_table();
    if (families == nullptr) return absl::OkStatus();
    for (const auto& [key, node] : *families) {
      if (!node.is_table()) return Error("rule_c6", PlaceOf(node), "a family is a table");
      TARE_RETURN_IF_ERROR(CheckFields(*node.as_table()));
      const auto [it, inserted] = families_.try_emplace(std::string(key.str()), Family{file, node.as_table()});
      if (!inserted) {
        return Error("rule_c6", PlaceOf(node),
                     absl::StrCat("family ", it->first, " is described in ", it->second.file, " already"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckFields(const toml::table& row) const {
    for (const auto& [key, node] : row) {
      if (std::find(std::begin(kFields), std::end(kFields), key.str()) == std::end(kFields)) {
        return Error("rule_c6", PlaceOf(node), absl::StrCat("unknown field '", std::string(key.str()), "'"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CompileOps(const std::string& file, const toml::table& table) {
    file_ = file;
    const toml::table* ops = table["op"].as_table();
    if (ops == nullptr) return absl::OkStatus();
    for (const auto& [key, node] : *ops) {
      op_name_ = std::string(key.str());
      if (!node.is_table()) return Error("rule_c6", PlaceOf(node), "an op is a table; quote its whole name");
      row_ = node.as_table();
      TARE_RETURN_IF_ERROR(CheckFields(*row_));
      TARE_RETURN_IF_ERROR(CompileOp());
    }
    return absl::OkStatus();
  }

  // --- fields of the row or, where it has none, of its family

  const toml::node* Find(std::string_view name) const {
    if (const toml::node* node = row_->get(name)) return node;
    for (const toml::table* family : families_of_row_) {
      if (const toml::node* node = family->get(name)) return node;
    }
    return nullptr;
  }

  // `$name` takes the longest parameter that starts there.
  absl::StatusOr<std::string> Substitute(std::string_view text, RulePlace place) const {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      if (text[at] != '$') {
        out += text[at++];
        continue;
      }
      const std::pair<const std::string, std::string>* best = nullptr;
      for (const auto& parameter : with_) {
        const std::string_view rest = text.substr(at + 1);
        if (rest.substr(0, parameter.first.size()) != parameter.first) continue;
        if (best == nullptr || best->first.size() < parameter.first.size()) best = &parameter;
      }
      if (best == nullptr) {
        return Error("rule_c3", place,
                     absl::StrCat("op ", op_name_, ": no parameter for '", std::string(text.substr(at, 24)), "'"));
      }
      out += best->second;
      at += 1 + best->first.size();
      if (out.size() > kMaxRuleText) return Error("rule_c5", place, "text too long");
    }
    return out;
  }

  // Where the text of a string starts: behind its one or three quotes, and behind the newline that
  // may follow three.
  RulePlace InQuotes(RulePlace place) const {
    if (place.line == 0 || place.line > lines_.size()) return place;
    const std::string_view line = lines_[place.line - 1];
    const std::string_view rest = place.column <= line.size() ? line.substr(place.column - 1) : "";
    if (rest.substr(0, 3) != "\"\"\"" && rest.substr(0, 3) != "'''") return {place.line, place.column + 1};
    return rest.size() > 3 ? RulePlace{place.line, place.column + 3} : RulePlace{place.line + 1, 1};
  }

  absl::StatusOr<Field> Text(const toml::node& node, std::string_view what) const {
    const auto* text = node.as_string();
    if (text == nullptr) {
      return Error("rule_c6", PlaceOf(node), absl::StrCat("op ", op_name_, ": ", std::string(what), " must be a text"));
    }
    auto value = Substitute(text->get(), PlaceOf(node));
    if (!value.ok()) return value.status();
    return Field{*std::move(value), InQuotes(PlaceOf(node))};
  }
  absl::StatusOr<std::optional<Field>> TextField(std::string_view name) const {
    const toml::node* node = Find(name);
    if (node == nullptr) return std::nullopt;
    auto field = Text(*node, name);
    if (!field.ok()) return field.status();
    return std::optional<Field>(*std::move(field));
  }
  absl::StatusOr<std::string> PlainField(std::string_view name) const {
    auto field = TextField(name);
    if (!field.ok()) return field.status();
    return *field ? std::move((*field)->text) : std::string();
  }
  absl::StatusOr<std::vector<Field>> TextList(std::string_view name) const {
    std::vector<Field> out;
    const toml::node* node = Find(name);
    if (node == nullptr) return out;
    const toml::array* array = node->as_array();
    if (array == nullptr)
      return Error("rule_c6", PlaceOf(*node),
                   absl::StrCat("op ", op_name_, ": ", std::string(name), " must be a list"));
    for (const toml::node& item : *array) {
      auto field = Text(item, name);
      if (!field.ok()) return field.status();
      out.push_back(*std::move(field));
    }
    return out;
  }

  // The family of the row, and that of the family; parameters of the nearer one win.
  absl::Status FindFamily() {
    families_of_row_.clear();
    family_name_.clear();
    with_.clear();
    for (const toml::table* table = row_; table != nullptr;) {
      TARE_RETURN_IF_ERROR(AddParameters(*table));
      const toml::node* name = table->get("family");
      if (name == nullptr) break;
      const auto* text = name->as_string();
      const auto it = text == nullptr ? families_.end() : families_.find(text->get());
      if (it == families_.end())
        return Error("rule_c6", PlaceOf(*name), absl::StrCat("op ", op_name_, ": unknown family"));
      if (families_of_row_.size() == kMaxFamilies)
        return Error("rule_c5", PlaceOf(*name), absl::StrCat("op ", op_name_, ": families of families too deep"));
      table = it->second.table;
      if (families_of_row_.empty()) family_name_ = it->first;
      families_of_row_.push_back(table);
    }
    return absl::OkStatus();
  }
  absl::Status AddParameters(const toml::table& owner) {
    if (const toml::node* with = owner.get("with")) {
      const toml::table* table = with->as_table();
      if (table == nullptr) return Error("rule_c6", PlaceOf(*with), "`with` must be a table of texts");
      for (const auto& [key, node] : *table) {
        const auto* text = node.as_string();
        if (text == nullptr) return Error("rule_c6", PlaceOf(node), "`with` must be a table of texts");
        const std::string name(key.str());  // clang 14 captures no structured binding
        const bool known = std::any_of(with_.begin(), with_.end(), [&](const auto& p) { return p.first == name; });
        if (!known) with_.emplace_back(name, text->get());
      }
    }
    return absl::OkStatus();
  }
  // --- one op

  absl::StatusOr<uint32_t> Expr(const Field& field) {
    auto node = ParseRuleExpr(field.text, field.place, scope_, out_.arrays, pending_);
    return Named(std::move(node));
  }
  // What was parsed, or why not, with the row it belongs to.
  absl::StatusOr<uint32_t> Named(absl::StatusOr<uint32_t> node) {
    for (size_t i = pending_.size(); i-- > 0 && pending_[i].row.empty();) {
      pending_[i].file = file_;
      pending_[i].row = op_name_;
    }
    return node.ok() ? node : InOp(node.status());
  }
  absl::StatusOr<uint32_t> OptionalExpr(std::string_view name) {
    auto field = TextField(name);
    if (!field.ok()) return field.status();
    if (!*field) return kNoRuleNode;
    return Expr(**field);
  }
  uint32_t LetNode(const RuleRow& row, uint32_t slot) {
    RuleNode node;
    node.op = RuleOp::kLet;
    node.place = out_.arrays.nodes[out_.arrays.lets[row.lets + slot]].place;
    node.value = slot;
    return out_.arrays.Add(node, {});
  }

  absl::Status CompileOp() {
    TARE_RETURN_IF_ERROR(FindFamily());
    CompiledOp op;
    op.name = op_name_;
    op.place = PlaceText(PlaceOf(*row_));
    TARE_ASSIGN_OR_RETURN(op.schema, PlainField("schema"));
    TARE_ASSIGN_OR_RETURN(op.doc, PlainField("doc"));
    TARE_ASSIGN_OR_RETURN(op.source, PlainField("source"));
    TARE_ASSIGN_OR_RETURN(op.traits, Traits());
    if (op.schema.empty()) return Error("rule_c6", PlaceOf(*row_), absl::StrCat("op ", op_name_, " has no schema"));
    auto schema = ParseSchema(op.schema, pool_);
    if (!schema.ok()) {
      return Error("schema_c1", InQuotes(PlaceOf(*Find("schema"))),
                   absl::StrCat("op ", op_name_, ": ", TextPiece(WithoutId(schema.status()))));
    }
    if (schema->args.size() > static_cast<size_t>(kMaxRuleArgs)) {
      return Error("rule_c5", PlaceOf(*row_), absl::StrCat("op ", op_name_, " has too many arguments"));
    }
    scope_ = RuleScope{&*schema, {}};
    const bool ruled = Find("shape") != nullptr || Find("result") != nullptr || Find("results") != nullptr;
    if (ruled) {
      TARE_RETURN_IF_ERROR(CompileRule(op, *schema));
    } else if ((op.traits & kDeclared) == 0) {
      return Error("rule_c6", PlaceOf(*row_),
                   absl::StrCat("op ", op_name_, " needs `shape` and `dtype`, or `result`, or `results`"));
    }
    scope_.schema = nullptr;
    TARE_ASSIGN_OR_RETURN(const std::vector<Field> also, TextList("also"));
    out_.ops.push_back(op);
    for (const Field& name : also) {
      CompiledOp twin = op;
      twin.name = name.text;
      twin.place = PlaceText(name.place);
      out_.ops.push_back(std::move(twin));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<uint16_t> Traits() const {
    TARE_ASSIGN_OR_RETURN(const std::vector<Field> names, TextList("traits"));
    uint16_t traits = 0;
    for (const Field& name : names) {
      const auto* known = std::find_if(std::begin(kTraits), std::end(kTraits),
                                       [&](const auto& trait) { return trait.first == name.text; });
      if (known == std::end(kTraits)) {
        return Error("rule_c6", name.place, absl::StrCat("op ", op_name_, ": unknown trait '", name.text, "'"));
      }
      traits |= known->second;
    }
    return traits;
  }

  absl::Status CompileRule(CompiledOp& op, const Schema& schema) {
    RuleRow row;
    row.name = out_.arrays.Text(op_name_);
    row.file = out_.arrays.Text(file_);
    row.line = PlaceOf(*row_).line;
    row.family = out_.arrays.Text(family_name_);
    row.num_args = static_cast<int16_t>(schema.args.size() + (schema.variadic ? 1 : 0));
    TARE_ASSIGN_OR_RETURN(const std::string alias, PlainField("alias"));
    if (!alias.empty()) {
      row.alias = static_cast<int16_t>(schema.IndexOf(alias));
      if (row.alias < 0)
        return Error("rule_c3", PlaceOf(*Find("alias")), absl::StrCat("op ", op_name_, ": alias names no argument"));
    }
    TARE_RETURN_IF_ERROR(CompileLets(row));
    TARE_RETURN_IF_ERROR(CompileChecks(row));
    TARE_RETURN_IF_ERROR(CompileResults(row));
    TARE_ASSIGN_OR_RETURN(row.bodies, OptionalExpr("bodies"));
    op.rule = static_cast<int32_t>(out_.arrays.rows.size());
    out_.arrays.rows.push_back(row);
    return absl::OkStatus();
  }

  // Slots 0 and 1 are result_shape and result_dtype where the row has one tensor result.
  absl::Status CompileLets(RuleRow& row) {
    std::vector<uint32_t> nodes;
    const bool single = Find("shape") != nullptr && Find("results") == nullptr && Find("result") == nullptr;
    if (single) {
      scope_.lets = {"result_shape", "result_dtype"};
      nodes.resize(2);
    }
    TARE_ASSIGN_OR_RETURN(const std::vector<Field> lets, TextList("let"));
    if (lets.size() > static_cast<size_t>(kMaxRuleLets) - 2) return Error("rule_c5", lets[0].place, "too many lets");
    for (const Field& let : lets) {
      const size_t equals = let.text.find('=');
      if (equals == std::string::npos) return Error("rule_c2", let.place, "a let is \"name = expression\"");
      const std::string name(absl::StripAsciiWhitespace(absl::string_view(let.text).substr(0, equals)));
      const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(),
                                                        [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
      if (!is_name) return Error("rule_c2", let.place, "a let is \"name = expression\"");
      TARE_ASSIGN_OR_RETURN(
          const uint32_t node,
          Expr({let.text.substr(equals + 1), {let.place.line, let.place.column + static_cast<uint32_t>(equals) + 1}}));
      nodes.push_back(node);
      scope_.lets.push_back(name);
    }
    if (single) {
      TARE_ASSIGN_OR_RETURN(nodes[0], OptionalExpr("shape"));
      TARE_ASSIGN_OR_RETURN(nodes[1], OptionalExpr("dtype"));
      if (nodes[1] == kNoRuleNode)
        return Error("rule_c6", PlaceOf(*row_), absl::StrCat("op ", op_name_, " has no dtype"));
    }
    for (const std::string& name : scope_.lets) out_.arrays.let_names.push_back(out_.arrays.Text(name));
    row.lets = static_cast<uint32_t>(out_.arrays.lets.size());
    row.num_lets = static_cast<uint32_t>(nodes.size());
    out_.arrays.lets.insert(out_.arrays.lets.end(), nodes.begin(), nodes.end());
    return absl::OkStatus();
  }

  absl::Status CompileChecks(RuleRow& row) {
    std::vector<RuleCheck> checks;
    if (const toml::node* node = Find("checks")) {
      const toml::array* array = node->as_array();
      if (array == nullptr) return Error("rule_c6", PlaceOf(*node), "`checks` must be a list");
      for (const toml::node& item : *array) {
        TARE_ASSIGN_OR_RETURN(const RuleCheck check, CompileCheck(item));
        // What a family leaves to its rows, and this one has no use for.
        if (out_.arrays.nodes[check.that].op != RuleOp::kTrue) checks.push_back(check);
      }
    }
    row.checks = static_cast<uint32_t>(out_.arrays.checks.size());
    row.num_checks = static_cast<uint32_t>(checks.size());
    out_.arrays.checks.insert(out_.arrays.checks.end(), checks.begin(), checks.end());
    return absl::OkStatus();
  }
  absl::StatusOr<RuleCheck> CompileCheck(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Error("rule_c6", PlaceOf(node), "a check is { id, that, say }");
    RuleCheck check;
    bool has_id = false;
    for (const auto& [key, value] : *table) {
      TARE_ASSIGN_OR_RETURN(const Field field, Text(value, "a check's field"));
      if (key.str() == "id") {
        has_id = !field.text.empty();
        check.id = out_.arrays.Text(field.text);
      } else if (key.str() == "that") {
        TARE_ASSIGN_OR_RETURN(check.that, Expr(field));
      } else if (key.str() == "say") {
        TARE_ASSIGN_OR_RETURN(check.say,
                              Named(ParseRuleMessage(field.text, field.place, scope_, out_.arrays, pending_)));
      } else {
        return Error("rule_c6", PlaceOf(value), "a check is { id, that, say }");
      }
    }
    if (!has_id || check.that == kNoRuleNode || check.say == kNoRuleNode) {
      return Error("rule_c6", PlaceOf(node), "a check is { id, that, say }");
    }
    return check;
  }

  absl::Status CompileResults(RuleRow& row) {
    std::vector<RuleResult> results;
    if (const toml::node* node = Find("results")) {
      const toml::array* array = node->as_array();
      if (array == nullptr) return Error("rule_c6", PlaceOf(*node), "`results` must be a list");
      for (const toml::node& item : *array) {
        TARE_ASSIGN_OR_RETURN(const RuleResult result, CompileResult(item));
        results.push_back(result);
      }
      row.several = true;
    } else {
      RuleResult result;
      TARE_ASSIGN_OR_RETURN(result.result, OptionalExpr("result"));
      if (result.result == kNoRuleNode) {
        result.shape = LetNode(row, 0);
        result.dtype = LetNode(row, 1);
        TARE_ASSIGN_OR_RETURN(result.layout, OptionalExpr("layout"));
        TARE_ASSIGN_OR_RETURN(result.offset, OptionalExpr("offset"));
      }
      results.push_back(result);
    }
    row.results = static_cast<uint32_t>(out_.arrays.results.size());
    row.num_results = static_cast<uint32_t>(results.size());
    out_.arrays.results.insert(out_.arrays.results.end(), results.begin(), results.end());
    return absl::OkStatus();
  }
  absl::StatusOr<RuleResult> CompileResult(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Error("rule_c6", PlaceOf(node), "a result is { shape, dtype, layout } or { result }");
    RuleResult result;
    for (const auto& [key, value] : *table) {
      TARE_ASSIGN_OR_RETURN(const Field field, Text(value, "a result's field"));
      uint32_t* target = key.str() == "shape"    ? &result.shape
                         : key.str() == "dtype"  ? &result.dtype
                         : key.str() == "layout" ? &result.layout
                         : key.str() == "offset" ? &result.offset
                         : key.str() == "result" ? &result.result
                                                 : nullptr;
      if (target == nullptr)
        return Error("rule_c6", PlaceOf(value), "a result is { shape, dtype, layout } or { result }");
      TARE_ASSIGN_OR_RETURN(*target, Expr(field));
    }
    const bool complete = result.result != kNoRuleNode ? result.shape == kNoRuleNode && result.dtype == kNoRuleNode
                                                       : result.shape != kNoRuleNode && result.dtype != kNoRuleNode;
    if (!complete) return Error("rule_c6", PlaceOf(node), "a result is { shape, dtype, layout } or { result }");
    return result;
  }

  absl::Status ResolveRules() {
    absl::flat_hash_map<std::string, int32_t> own;
    for (const CompiledOp& op : out_.ops) {
      if (op.rule >= 0) own.emplace(op.name, known_.first_rule + op.rule);
    }
    for (const PendingRule& pending : pending_) {
      RuleNode& node = out_.arrays.nodes[pending.node];
      const auto mine = own.find(pending.op);
      const auto other = known_.by_name.find(pending.op);
      if (mine != own.end()) {
        node.value = mine->second;
      } else if (other != known_.by_name.end()) {
        node.value = other->second;
      } else {
        const RulePlace place = UnpackPlace(node.place);
        return InvalidError("rule_c3", pending.file, ":", place.line, ":", place.column, ": op ", pending.row,
                            ": no rule for op ", pending.op);
      }
    }
    return absl::OkStatus();
  }

  const KnownRules& known_;
  StringPool& pool_;
  CompiledRules out_;
  std::vector<PendingRule> pending_;
  absl::flat_hash_map<std::string, Family> families_;
  std::string file_, op_name_, family_name_;
  std::vector<std::string_view> lines_;  // of the file whose ops are compiled
  const toml::table* row_ = nullptr;
  std::vector<const toml::table*> families_of_row_;  // the nearest first
  std::vector<std::pair<const std::string, std::string>> with_;
  RuleScope scope_;
};

}  // namespace

absl::StatusOr<CompiledRules> CompileRules(std::span<const RuleFile> files, const KnownRules& known, StringPool& pool) {
  return Compiler(known, pool).Compile(files);
}

}  // namespace tare
