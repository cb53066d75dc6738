// Every op has recorded answers and every check refuses a recorded call. Prints how many, by file of rows.
//
//   TARE_SOURCE_ROOT=. build/tests/meta/meta_coverage_test      the table is on stdout
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../test_files.h"
#include "golden_lines.h"
#include "ir/notation.h"
#include "ir/text.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/function_table.h"
#include "meta/infer.h"
#include "meta/rule_print.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

// What the lines show: equal answers and refusals of each op, and the checks that refused.
struct Shown {
  std::map<std::string, int> answers, refusals;  // by op
  std::set<std::string> checks;
};

std::string IdOf(const std::string& message) {
  const size_t open = message.rfind('[');
  return open == std::string::npos || message.back() != ']' ? "" : message.substr(open + 1, message.size() - open - 2);
}

void AddLines(Context& context, std::string_view folder, Shown& shown) {
  GoldenChecker checker(context);
  for (const std::string& text : GoldenLinesOf(folder)) {
    const auto line = SplitGoldenLine(text);
    if (!line.ok() || !line->has_value()) continue;
    const GoldenAnswer answer = checker.Check(**line);
    if (answer.verdict != GoldenVerdict::kEqual) continue;
    ++(answer.refused ? shown.refusals : shown.answers)[answer.op];
    if (answer.refused) shown.checks.insert(IdOf(answer.got));
  }
}

// `call -> check id`.
void AddRefusals(Context& context, Shown& shown) {
  GoldenChecker checker(context);
  for (const std::string& text : GoldenLinesOf("refusals")) {
    const size_t arrow = text.rfind(" -> ");
    if (arrow == std::string::npos) continue;
    const auto line = SplitGoldenLine(text.substr(0, arrow));
    if (!line.ok() || !line->has_value()) continue;
    const GoldenAnswer answer = checker.Check(**line);
    if (!answer.refused || IdOf(answer.got) != text.substr(arrow + 4)) continue;
    ++shown.refusals[answer.op];
    shown.checks.insert(IdOf(answer.got));
  }
}

// The calls of programs whose values are all as stated.
void AddPrograms(Context& context, Shown& shown) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(SourcePath("tests/data/goldens/programs")))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string name = file.filename();
    CAPTURE(name);
    const auto program = ParseProgram(context, ReadFile(file));
    REQUIRE(program.ok());
    const auto inferrer = MakeInferrer(context);
    const CheckReport report = CheckProgram(*program, *inferrer);
    CHECK_EQ(report.different, 0);
    CHECK_EQ(report.declared, 0);
    if (report.different != 0) continue;
    for (const ProgramGraph& body : program->graphs) {
      for (const NodeId node : body.graph.nodes()) {
        ++shown.answers[std::string(context.ops.Name(body.graph.op(node)))];
      }
    }
  }
}

// Programs behind `--- check id`.
void AddRefusedPrograms(Context& context, Shown& shown) {
  const std::string all = ReadFile(SourcePath("tests/data/refusals/higher_order.programs"));
  int count = 0;
  for (size_t at = all.find("--- "); at != std::string::npos; ++count) {
    const size_t line_end = all.find('\n', at), next = all.find("\n--- ", line_end);
    const std::string id = all.substr(at + 4, line_end - at - 4);
    CAPTURE(id);
    const auto program = ParseProgram(context, all.substr(line_end, next - line_end));
    REQUIRE(program.ok());
    const auto inferrer = MakeInferrer(context);
    const CheckReport report = CheckProgram(*program, *inferrer);
    const bool found = std::any_of(report.differences.begin(), report.differences.end(),
                                   [&](const ValueDifference& d) { return CheckIdOf(d.refusal) == id; });
    CHECK(found);
    if (found) {
      shown.checks.insert(id);
      for (const ValueDifference& d : report.differences) {
        if (CheckIdOf(d.refusal) != id) continue;
        ++shown.refusals[std::string(context.ops.Name(program->graphs[0].graph.op(d.node)))];
      }
    }
    at = next == std::string::npos ? next : next + 1;
  }
  CHECK_GT(count, 15);
}

const Shown& All(Context& context) {
  static const Shown shown = [&] {
    Shown out;
    for (const std::string_view folder : {"goldens", "goldens/sample", "../../ops"}) AddLines(context, folder, out);
    AddRefusals(context, out);
    AddPrograms(context, out);
    AddRefusedPrograms(context, out);
    return out;
  }();
  return shown;
}

std::unique_ptr<Context> ContextWithMisuse() {
  auto context = MakeContext();
  REQUIRE(AddOpsFile(*context, "rows.toml", ReadFile(SourcePath("tests/data/refusals/rows.toml"))).ok());
  return context;
}

// Ops with a row of the build.
std::vector<Op> BuiltinOps(const Context& context) {
  std::vector<Op> ops;
  for (int i = kNumPseudoOps; i < context.ops.builtin_count(); ++i) ops.push_back(Op{static_cast<uint16_t>(i)});
  return ops;
}

TEST_CASE("every op has recorded answers, every check a recorded refusal") {
  const auto context = ContextWithMisuse();
  const Shown& shown = All(*context);
  struct Counts {
    int ops = 0, answers = 0, refusals = 0, checks = 0;
  };
  std::map<std::string, Counts> by_file;
  std::set<std::string> counted;
  Counts sum;
  for (const Op op : BuiltinOps(*context)) {
    const std::string name(context->ops.Name(op));
    REQUIRE_GE(context->ops.Get(op).rule, 0);
    const RuleText rule = TextOfRule(*context, op);
    Counts& counts = by_file[std::string(rule.file)];
    const auto of = [&](const std::map<std::string, int>& map) { return map.contains(name) ? map.at(name) : 0; };
    for (Counts* to : {&counts, &sum}) {
      ++to->ops;
      to->answers += of(shown.answers);
      to->refusals += of(shown.refusals);
    }
    if (of(shown.answers) == 0) FAIL_CHECK(name << " has no recorded answer");
    for (const RuleText::Check& check : rule.checks) {
      if (!counted.insert(check.id).second) continue;
      ++counts.checks;
      ++sum.checks;
      if (!shown.checks.contains(check.id)) FAIL_CHECK(name << ": no recorded call is refused by " << check.id);
    }
  }
  const auto print = [](const std::string& name, const Counts& c) {
    std::printf("%-32s ops %4d, checks %4d, answers %5d, refusals %5d\n", name.c_str(), c.ops, c.checks, c.answers,
                c.refusals);
  };
  for (const auto& [file, counts] : by_file) print(file, counts);
  print("all", sum);
}

TEST_CASE("every op has an example") {
  const auto context = MakeContext();
  Shown shown;
  AddLines(*context, "../../ops", shown);
  for (const Op op : BuiltinOps(*context)) {
    const std::string name(context->ops.Name(op));
    if (context->ops.Has(op, kHigherOrder)) continue;  // a line cannot hold a graph
    if (!shown.answers.contains(name)) FAIL_CHECK("ops/examples.txt has no line that holds for " << name);
  }
}

TEST_CASE("a body is known only in a program") {
  const auto context = MakeContext();
  const AttrValue operands[] = {AttrValue::Operand(1)};
  const NamedAttr args[] = {{"", AttrValue::Operand(0)},
                            {"", AttrValue::OfGraph(GraphId{1})},
                            {"", AttrValue::OfGraph(GraphId{2})},
                            {"", AttrValue::List(operands)}};
  const auto inferrer = MakeInferrer(*context);
  NodePlace place;
  place.node = NodeId{0};
  MetaId metas[2];
  TextSymbols symbols(context->syms);
  for (int i = 0; i < 2; ++i) {
    Cursor cursor(i == 0 ? "bool[]" : "f32[3]");
    metas[i] = *ReadMeta(*context, cursor, symbols);
  }
  const auto result =
      inferrer->Infer(context->ops.Find("higher_order.cond"), context->attrs.Intern(args), metas, QuantId{0}, place);
  REQUIRE_FALSE(result.ok());
  CHECK_EQ(CheckIdOf(result.status()), "body_c1");
}

// Ids of the rule functions and of what surrounds them, `SomethingError("id", …)`.
std::set<std::string> IdsOfSources() {
  std::set<std::string> ids;
  const std::regex error(R"(Error\(\s*"([A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]*)\",)");
  for (const auto& entry : fs::directory_iterator(SourcePath("src/meta"))) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = ReadFile(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), error), end; it != end; ++it) ids.insert((*it)[1]);
  }
  return ids;
}

TEST_CASE("every check of a rule function refuses a recorded call, or is named by a test") {
  const auto context = ContextWithMisuse();
  const Shown& shown = All(*context);
  std::string tests;
  for (const auto& entry : fs::recursive_directory_iterator(SourcePath("tests"))) {
    const std::string extension = entry.path().extension();
    if (extension == ".cc" || extension == ".md") tests += ReadFile(entry.path());
  }
  const std::set<std::string> ids = IdsOfSources();
  CHECK_GT(ids.size(), 150);
  for (const std::string& id : ids) {
    if (!shown.checks.contains(id) && tests.find(id) == std::string::npos) FAIL_CHECK("nothing tests " << id);
  }
}

// Names of functions used by one row or family, with the ops that use them.
TEST_CASE("one op in fifteen or fewer needs a function of its own") {
  const auto context = MakeContext();
  std::map<int, std::vector<std::string>> users;
  const std::vector<Op> ops = BuiltinOps(*context);
  for (const Op op : ops) {
    for (const int function : TextOfRule(*context, op).functions) {
      users[function].emplace_back(context->ops.Name(op));
    }
  }
  std::set<std::string> with_own;
  for (const auto& [function, names] : users) {
    if (names.size() == 1) with_own.insert(names[0]);
  }
  int unused = 0;
  for (size_t i = 0; i < FunctionTable().size(); ++i) unused += users.contains(static_cast<int>(i)) ? 0 : 1;
  std::printf("ops %zu, with a function that no other op uses %zu: one in %.1f; functions %zu, in no row %d\n",
              ops.size(), with_own.size(), static_cast<double>(ops.size()) / static_cast<double>(with_own.size()),
              FunctionTable().size(), unused);
  CHECK_LE(with_own.size() * 15, ops.size());
}

}  // namespace
}  // namespace tare
