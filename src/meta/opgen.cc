// Build tool: ops/*.toml to constant tables.
//
//   tare-opgen OUT.cc OUT.h FILE.toml…
//
// OUT.cc holds the tables of meta/rule_code.h, OUT.h a constant for every op. Files are written only
// when their content changes.
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "ir/op_table.h"
#include "ir/status.h"
#include "meta/rule_compiler.h"
#include "meta/rule_set.h"

namespace tare {
namespace {

bool ReadFile(const std::string& path, std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  std::ostringstream all;
  all << in.rdbuf();
  text = all.str();
  return true;
}

bool WriteIfChanged(const std::string& path, const std::string& text) {
  std::string old;
  if (ReadFile(path, old) && old == text) return true;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  return static_cast<bool>(out.flush());
}

std::string Quoted(std::string_view text) {
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

std::string Identifier(std::string_view op) {
  std::string out;
  for (char c : op) out += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

void EmitOp(std::string& out, std::string_view name, std::string_view schema, uint16_t traits, int32_t rule,
            std::string_view doc, std::string_view source) {
  absl::StrAppend(&out, "    {", Quoted(name), ", ", Quoted(schema), ", ", traits, ", ", rule, ", ", Quoted(doc), ", ",
                  Quoted(source), "},\n");
}

// An array needs at least one element to be one.
template <typename List, typename Emit>
void EmitArray(std::string& out, std::string_view type, std::string_view name, const List& list, const Emit& emit) {
  absl::StrAppend(&out, "constexpr ", TextPiece(type), " ", TextPiece(name), "[", list.size() + 1, "] = {\n");
  for (const auto& item : list) emit(item);
  absl::StrAppend(&out, "};\n\n");
}

std::string EmitSource(const CompiledRules& rules, uint64_t hash) {
  const RuleArrays& arrays = rules.arrays;
  std::string out =
      "// Made by tare-opgen from ops/*.toml.\n#include \"meta/rule_set.h\"\n\nnamespace tare {\nnamespace {\n\n"
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
            [&](const std::string& text) { absl::StrAppend(&out, Quoted(text), ",\n"); });
  absl::StrAppend(&out, "constexpr OpDef kOps[] = {\n");
  for (const OpDef& op : PseudoOps()) EmitOp(out, op.name, op.schema_text, op.traits, op.rule, op.doc, op.source);
  for (const CompiledOp& op : rules.ops) EmitOp(out, op.name, op.schema, op.traits, op.rule, op.doc, op.source);
  absl::StrAppend(&out, "};\n\n");
  const auto part = [&](std::string_view name, size_t size) {
    return absl::StrCat("std::span(", TextPiece(name), ").first(", size, ")");
  };
  absl::StrAppend(&out, "}  // namespace\n\nconst BuiltinRows& GeneratedRows() {\n  static const BuiltinRows rows{{",
                  part("kNodes", arrays.nodes.size()), ", ", part("kLinks", arrays.links.size()), ", ");
  absl::StrAppend(&out, part("kLets", arrays.lets.size()), ", ", part("kLetNames", arrays.let_names.size()), ", ",
                  part("kChecks", arrays.checks.size()), ", ", part("kResults", arrays.results.size()), ", ",
                  part("kRows", arrays.rows.size()), ", ");
  absl::StrAppend(&out, part("kTexts", arrays.texts.size()), ", ", hash,
                  "u}, kOps};\n  return rows;\n}\n\n}  // namespace tare\n");
  return out;
}

absl::StatusOr<std::string> EmitNames(const CompiledRules& rules) {
  std::string out =
      "// Made by tare-opgen from ops/*.toml: `op::aten_mm_default` is the op \"aten.mm.default\" of every Context\n"
      "// made by MakeContext.\n#pragma once\n\n#include \"ir/ids.h\"\n\nnamespace tare::op {\n\n";
  std::set<std::string> names;
  uint32_t index = kNumPseudoOps;
  for (const CompiledOp& op : rules.ops) {
    const std::string name = Identifier(op.name);
    if (!names.insert(name).second) return InvalidError("rule_c6", "two ops are called ", name, " in C++");
    absl::StrAppend(&out, "inline constexpr Op ", name, "{", index++, "};\n");
  }
  return absl::StrCat(out, "\n}  // namespace tare::op\n");
}

int Run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: tare-opgen OUT.cc OUT.h FILE.toml...\n");
    return 2;
  }
  std::vector<RuleFile> files;
  std::string all;
  for (int i = 3; i < argc; ++i) {
    RuleFile file;
    const std::string path = argv[i];
    if (!ReadFile(path, file.text)) {
      std::fprintf(stderr, "tare-opgen: cannot read %s\n", path.c_str());
      return 3;
    }
    const size_t slash = path.rfind('/');
    file.name = absl::StrCat("ops/", slash == std::string::npos ? path : path.substr(slash + 1));
    all += file.text;
    files.push_back(std::move(file));
  }
  StringPool pool;
  const auto rules = CompileRules(files, {}, pool);
  if (!rules.ok()) {
    std::fprintf(stderr, "%s\n", std::string(rules.status().message()).c_str());
    return 3;
  }
  const auto names = EmitNames(*rules);
  if (!names.ok()) {
    std::fprintf(stderr, "%s\n", std::string(names.status().message()).c_str());
    return 3;
  }
  if (!WriteIfChanged(argv[1], EmitSource(*rules, HashOfText(all))) || !WriteIfChanged(argv[2], *names)) {
    std::fprintf(stderr, "tare-opgen: cannot write %s\n", argv[1]);
    return 70;
  }
  return 0;
}

}  // namespace
}  // namespace tare

int main(int argc, char** argv) { return tare::Run(argc, argv); }
