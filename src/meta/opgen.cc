// Build tool: ops/*.toml to constant tables.
//
//   tare-opgen OUT.cc OUT.h FILE.toml…
//   tare-opgen --constraints OUT.cc OPS.toml FILE.toml…
//
// OUT.cc holds the tables of meta/rule_code.h, OUT.h a constant for every op. With --constraints the files are
// targets/*.toml, about the operators of OPS.toml. Files are written only when their content changes.
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
#include "meta/constraint_compiler.h"
#include "meta/rule_compiler.h"
#include "meta/rule_set.h"
#include "meta/rule_tables_text.h"

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

std::string Identifier(std::string_view op) {
  std::string out;
  for (char c : op) out += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
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

// The files from argument `first` on, named as diagnostics print them; their text joined in `all`.
bool ReadFiles(int argc, char** argv, int first, std::string_view folder, std::vector<RuleFile>& files,
               std::string& all) {
  for (int i = first; i < argc; ++i) {
    RuleFile file;
    const std::string path = argv[i];
    if (!ReadFile(path, file.text)) {
      std::fprintf(stderr, "tare-opgen: cannot read %s\n", path.c_str());
      return false;
    }
    const size_t slash = path.rfind('/');
    file.name = absl::StrCat(TextPiece(folder), slash == std::string::npos ? path : path.substr(slash + 1));
    all += file.text;
    files.push_back(std::move(file));
  }
  return true;
}

int Complain(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 3;
}

int Write(const std::string& path, const std::string& text) {
  if (WriteIfChanged(path, text)) return 0;
  std::fprintf(stderr, "tare-opgen: cannot write %s\n", path.c_str());
  return 70;
}

int RunOps(int argc, char** argv) {
  std::vector<RuleFile> files;
  std::string all;
  if (!ReadFiles(argc, argv, 3, "ops/", files, all)) return 3;
  StringPool pool;
  const auto rules = CompileRules(files, {}, pool);
  if (!rules.ok()) return Complain(rules.status());
  const auto names = EmitNames(*rules);
  if (!names.ok()) return Complain(names.status());
  const int written = Write(argv[1], TablesText(*rules, "GeneratedRows", HashOfText(all)));
  return written != 0 ? written : Write(argv[2], *names);
}

int RunConstraints(int argc, char** argv) {
  std::vector<RuleFile> ops, files;
  std::string all;
  if (!ReadFiles(4, argv, 3, "ops/", ops, all) || !ReadFiles(argc, argv, 4, "targets/", files, all)) return 3;
  StringPool pool;
  const auto constraints = CompileConstraints(files, ops, pool);
  if (!constraints.ok()) return Complain(constraints.status());
  std::string text = TablesText(constraints->rules, "GeneratedConstraintRules", HashOfText(all));
  absl::StrAppend(&text, "\n#include \"backends/tosa/constraint_rows.h\"\n\nnamespace tare {\nnamespace {\n\n",
                  "constexpr ConstraintRow kConstraintRows[] = {\n");
  for (const ConstraintText& row : constraints->texts) {
    absl::StrAppend(&text, "{", QuotedCpp(row.id), ", ", QuotedCpp(row.on), ", ", QuotedCpp(row.when), ", ",
                    QuotedCpp(row.that));
    absl::StrAppend(&text, ", ", QuotedCpp(row.say), ", ", QuotedCpp(row.remedy), ", ", QuotedCpp(row.source), "},\n");
  }
  absl::StrAppend(&text, "};\n\n}  // namespace\n\nstd::span<const ConstraintRow> ConstraintRows() {",
                  " return kConstraintRows; }\n\n}  // namespace tare\n");
  return Write(argv[2], text);
}

int Run(int argc, char** argv) {
  if (argc >= 5 && std::string_view(argv[1]) == "--constraints") return RunConstraints(argc, argv);
  if (argc >= 3) return RunOps(argc, argv);
  std::fprintf(
      stderr,
      "usage: tare-opgen OUT.cc OUT.h FILE.toml...\n       tare-opgen --constraints OUT.cc OPS.toml FILE.toml...\n");
  return 2;
}

}  // namespace
}  // namespace tare

int main(int argc, char** argv) { return tare::Run(argc, argv); }
