#include "meta/rule_tables_text.h"

#include "absl/strings/str_cat.h"
#include "ir/op_table.h"
#include "ir/status.h"

namespace tare {

std::string QuotedCpp(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 32 || byte >= 127) {  // octal: at most three digits, so the next character is safe
      out += '\\';
      out += static_cast<char>('0' + (byte >> 6));
      out += static_cast<char>('0' + ((byte >> 3) & 7));
      out += static_cast<char>('0' + (byte & 7));
    } else {
      out += c;
    }
  }
  return out + "\"sv";
}

namespace {

void EmitOp(std::string& out, std::string_view name, std::string_view schema, uint16_t traits, int32_t rule,
            std::string_view doc, std::string_view source) {
  absl::StrAppend(&out, "    {", QuotedCpp(name), ", ", QuotedCpp(schema), ", ", traits, ", ", rule, ", ",
                  QuotedCpp(doc), ", ", QuotedCpp(source), "},\n");
}

// An array needs at least one element to be one.
template <typename List, typename Emit>
void EmitArray(std::string& out, std::string_view type, std::string_view name, const List& list, const Emit& emit) {
  absl::StrAppend(&out, "constexpr ", TextPiece(type), " ", TextPiece(name), "[", list.size() + 1, "] = {\n");
  for (const auto& item : list) emit(item);
  absl::StrAppend(&out, "};\n\n");
}

}  // namespace

std::string TablesText(const CompiledRules& rules, std::string_view function, uint64_t hash) {
  const RuleArrays& arrays = rules.arrays;
  std::string out =
      "// Made by tare-opgen.\n#include \"meta/rule_set.h\"\n\nnamespace tare {\nnamespace {\n\n"
      "using namespace std::string_view_literals;\n\n";
  EmitArray(out, "RuleNode", "kNodes", arrays.nodes, [&](const RuleNode& node) {
    absl::StrAppend(&out, "{RuleOp(", static_cast<int>(node.op), "),", static_cast<int>(node.detail), ",",
                    node.num_links, ",", node.links, ",", node.place, ",",
                    node.value == INT64_MIN ? "INT64_MIN" : absl::StrCat(node.value), "},\n");
  });
  EmitArray(out, "uint32_t", "kLinks", arrays.links, [&](uint32_t link) { absl::StrAppend(&out, link, ","); });
  EmitArray(out, "uint32_t", "kLets", arrays.lets, [&](uint32_t node) { absl::StrAppend(&out, node, ","); });
  EmitArray(out, "uint32_t", "kLetNames", arrays.let_names, [&](uint32_t text) { absl::StrAppend(&out, text, ","); });
  EmitArray(out, "RuleCheck", "kChecks", arrays.checks, [&](const RuleCheck& check) {
    absl::StrAppend(&out, "{", check.id, ",", check.that, "u,", check.say, "u},\n");
  });
  EmitArray(out, "RuleResult", "kResults", arrays.results, [&](const RuleResult& result) {
    absl::StrAppend(&out, "{", result.shape, "u,", result.dtype, "u,", result.layout, "u,", result.offset, "u,");
    absl::StrAppend(&out, result.result, "u},\n");
  });
  EmitArray(out, "RuleRow", "kRows", arrays.rows, [&](const RuleRow& row) {
    absl::StrAppend(&out, "{", row.name, ",", row.file, ",", row.line, ",", row.family, ",", row.lets, ",");
    absl::StrAppend(&out, row.num_lets, ",", row.checks, ",", row.num_checks, ",", row.results, ",", row.num_results);
    absl::StrAppend(&out, ",", row.bodies, "u,", row.several ? "true" : "false", ",", row.alias, ",", row.num_args,
                    "},\n");
  });
  EmitArray(out, "std::string_view", "kTexts", arrays.texts,
            [&](const std::string& text) { absl::StrAppend(&out, QuotedCpp(text), ",\n"); });
  absl::StrAppend(&out, "constexpr OpDef kOps[] = {\n");
  for (const OpDef& op : PseudoOps()) EmitOp(out, op.name, op.schema_text, op.traits, op.rule, op.doc, op.source);
  for (const CompiledOp& op : rules.ops) EmitOp(out, op.name, op.schema, op.traits, op.rule, op.doc, op.source);
  absl::StrAppend(&out, "};\n\n");
  const auto part = [&](std::string_view name, size_t size) {
    return absl::StrCat("std::span(", TextPiece(name), ").first(", size, ")");
  };
  absl::StrAppend(&out, "}  // namespace\n\nconst BuiltinRows& ", TextPiece(function),
                  "() {\n  static const BuiltinRows rows{{", part("kNodes", arrays.nodes.size()), ", ",
                  part("kLinks", arrays.links.size()), ", ");
  absl::StrAppend(&out, part("kLets", arrays.lets.size()), ", ", part("kLetNames", arrays.let_names.size()), ", ",
                  part("kChecks", arrays.checks.size()), ", ", part("kResults", arrays.results.size()), ", ",
                  part("kRows", arrays.rows.size()), ", ");
  absl::StrAppend(&out, part("kTexts", arrays.texts.size()), ", ", hash,
                  "u}, kOps};\n  return rows;\n}\n\n}  // namespace tare\n");
  return out;
}

}  // namespace tare
