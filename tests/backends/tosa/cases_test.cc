// Programs as text, and what lowering makes of them: faults that users reported, and one program per constraint.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "../../test_files.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/tosa/constraint_rows.h"
#include "backends/tosa/lower.h"
#include "backends/tosa/summary.h"
#include "doctest/doctest.h"
#include "eval/eval.h"
#include "ir/text.h"
#include "meta/context_factory.h"

namespace tare {
namespace {

constexpr std::string_view kHead = "== ", kAnswer = "--\n";

enum class Breaks { kNothing, kRules };  // what programs of a file state may differ from what rules give

// The elements of an input: numbers, or `first..last` for all from one to the other; one fills the tensor. i8, i16, i32
// and f32.
Value InputOf(const TensorMeta& meta, const std::string& line) {
  std::vector<float> numbers;
  for (const absl::string_view word : absl::StrSplit(line, ' ')) {
    const std::vector<std::string> ends = absl::StrSplit(word, "..");
    float first = 0, last = 0;
    REQUIRE((absl::SimpleAtof(ends.front(), &first) && absl::SimpleAtof(ends.back(), &last)));
    for (; first <= last; ++first) numbers.push_back(first);
  }
  std::vector<int64_t> shape;
  for (const Dim dim : meta.shape) shape.push_back(dim.value());
  Tensor tensor = *Tensor::Make(meta.dtype, shape, nullptr);
  if (numbers.size() == 1) numbers.resize(static_cast<size_t>(tensor.size()), numbers[0]);
  REQUIRE_EQ(tensor.size(), static_cast<int64_t>(numbers.size()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (meta.dtype == DType::kI8) tensor.mutable_data<int8_t>()[i] = static_cast<int8_t>(numbers[i]);
    if (meta.dtype == DType::kI16) tensor.mutable_data<int16_t>()[i] = static_cast<int16_t>(numbers[i]);
    if (meta.dtype == DType::kI32) tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(numbers[i]);
    if (meta.dtype == DType::kF32) tensor.mutable_data<float>()[i] = numbers[i];
  }
  return Value(std::move(tensor));
}

// What a program makes of inputs: the elements of each result.
absl::StatusOr<std::vector<std::vector<float>>> ValuesOf(const Program& program,
                                                         const std::vector<std::string>& lines) {
  const Graph& graph = program.main();
  std::vector<Value> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {  // constants are among them
    if (program.inputs[i].constant.has_value()) continue;
    REQUIRE_LT(inputs.size(), lines.size());
    inputs.push_back(InputOf(program.context->metas.Get(graph.meta(graph.inputs()[i])).tensor, lines[inputs.size()]));
  }
  const absl::StatusOr<EvalResult> result = Evaluate(program, inputs);
  if (!result.ok()) return result.status();
  std::vector<std::vector<float>> values;
  for (const Value& value : result->outputs) {
    const Tensor& tensor = value.tensor;
    std::vector<float>& elements = values.emplace_back();
    for (int64_t i = 0; i < tensor.size(); ++i)
      elements.push_back(tensor.dtype() == DType::kF32   ? tensor.data<float>()[i]
                         : tensor.dtype() == DType::kI32 ? static_cast<float>(tensor.data<int32_t>()[i])
                         : tensor.dtype() == DType::kI16 ? static_cast<float>(tensor.data<int16_t>()[i])
                                                         : static_cast<float>(tensor.data<int8_t>()[i]));
  }
  return values;
}

// What the lowering makes of the inputs, a line for each result. It must be what the program made of them: floats but
// for rounding, integers but for a step.
std::string ComparedValues(const Program& lowered, const Program& source, const std::vector<std::string>& inputs) {
  const auto got = ValuesOf(lowered, inputs), want = ValuesOf(source, inputs);
  if (!got.ok()) return absl::StrCat("error: ", got.status().message(), "\n");
  REQUIRE_MESSAGE(want.ok(), want.status().message());
  REQUIRE_EQ(got->size(), want->size());
  std::string text;
  for (size_t k = 0; k < got->size(); ++k) {
    const Graph& main = source.main();
    const TensorMeta& meta = source.context->metas.Get(main.meta(main.operands(main.last())[k])).tensor;
    REQUIRE_EQ((*got)[k].size(), (*want)[k].size());
    absl::StrAppend(&text, "values:");
    for (size_t i = 0; i < (*got)[k].size(); ++i) {
      const float value = (*got)[k][i], other = (*want)[k][i];
      const float step = IsFloating(meta.dtype) ? 1e-5f * std::max(1.0f, std::abs(other)) : 1;
      if (!(std::abs(value - other) <= step)) FAIL_CHECK("element ", i, ": ", value, ", the program gives ", other);
      absl::StrAppend(&text, " ", value);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

// The operators of the lowering and what is left outside, a line each; the program, when it is to be seen; what becomes
// of inputs, when `@` lines give them.
std::string AnswerOf(const std::string& target, bool shows_program, std::string text, bool breaks_rules) {
  std::vector<std::string> inputs;
  for (size_t at; (at = text.find("\n@ ")) != std::string::npos;) {
    const size_t end = text.find('\n', at + 1);
    inputs.push_back(text.substr(at + 3, end - at - 3));
    text.erase(at, end - at);
  }
  const std::unique_ptr<Context> context = MakeContext();
  absl::StatusOr<Program> program = ParseProgram(*context, text);
  if (!program.ok()) return absl::StrCat("error: ", program.status().message(), "\n");
  const Program source = *program;
  RunOptions options;
  options.verify = VerifyWhat::kAll;
  options.check_meta = !breaks_rules;
  const auto found = FindTosaTarget(target);
  REQUIRE_MESSAGE(found.ok(), target);
  const absl::StatusOr<LowerResult> result = LowerToTosa(*program, *found, options);
  if (!result.ok()) return absl::StrCat("error: ", result.status().message(), "\n");
  std::string answer = "ops:";
  for (const auto& [kind, count] : Summarize(*program).ops)
    if (kind != "CONST") absl::StrAppend(&answer, " ", kind, " ", count);
  absl::StrAppend(&answer, "\n");
  for (const Outside& outside : result->outside)
    absl::StrAppend(&answer, "outside: ", std::string(context->ops.Name(program->main().op(outside.node))), " [",
                    outside.check_id, "] ", outside.why, "\n");
  if (shows_program) absl::StrAppend(&answer, PrintProgram(*context, *program));
  if (!inputs.empty()) absl::StrAppend(&answer, ComparedValues(*program, source, inputs));
  return answer;
}

// Runs every block of a file, or rewrites what is below `--`. Returns the check ids that occur in answers.
std::set<std::string> RunBlocks(std::string_view file, Breaks breaks) {
  const bool update = std::getenv("TARE_UPDATE_GOLDEN") != nullptr;
  const std::filesystem::path path = SourcePath(file);
  const std::string text = ReadFile(path);
  std::string all = text.substr(0, text.find(kHead));
  std::set<std::string> ids;
  for (size_t at = text.find(kHead); at != std::string::npos;) {
    const size_t next = text.find(absl::StrCat("\n", std::string(kHead)), at);
    const std::string block = text.substr(at, next == std::string::npos ? next : next + 1 - at);
    at = next == std::string::npos ? next : next + 1;
    const size_t answer_at = block.find(kAnswer);
    REQUIRE_MESSAGE(answer_at != std::string::npos, block);
    const size_t line = block.find('\n');
    const std::vector<std::string> head = absl::StrSplit(block.substr(kHead.size(), line - kHead.size()), ' ');
    REQUIRE_GE(head.size(), 2);
    const bool shows_program = head.size() == 3 && head[2] == "program";
    REQUIRE((head.size() == 2 || shows_program));
    CAPTURE(block);
    const std::string answer =
        absl::StrCat(AnswerOf(head[1], shows_program, block.substr(line, answer_at - line), breaks == Breaks::kRules),
                     next == std::string::npos ? "" : "\n");
    if (!update) CHECK_EQ(block.substr(answer_at + kAnswer.size()), answer);
    absl::StrAppend(&all, block.substr(0, answer_at), std::string(kAnswer), answer);
    for (const ConstraintRow& row : ConstraintRows())
      if (answer.find(absl::StrCat("[", std::string(row.id), "]")) != std::string::npos)
        ids.insert(std::string(row.id));
  }
  if (update) std::ofstream(path, std::ios::binary) << all;
  return ids;
}

TEST_CASE("faults that users reported") { RunBlocks("tests/backends/tosa/cases.txt", Breaks::kNothing); }

TEST_CASE("every constraint on operators and edges has a program that it refuses") {
  const std::set<std::string> ids = RunBlocks("tests/backends/tosa/constraints.txt", Breaks::kRules);
  for (const ConstraintRow& row : ConstraintRows()) {
    if (row.on == "pass" || row.on == "outside") continue;
    CHECK_MESSAGE(ids.contains(std::string(row.id)), row.id);
  }
}

// docs/constraints.md, which is made of the rows.
std::string ConstraintsPage() {
  std::string page =
      "# Constraints of targets\n\nWhat `tare lower` leaves outside and why: made of `targets/*.toml` by the test "
      "`tosa/lower` (TARE_UPDATE_GOLDEN=1 rewrites it). A row on\n`any` is asked of every TOSA operator, on `outside` "
      "of "
      "what no pass lowered, on `edge` of inputs and the output; those on `pass` are what\npasses say of nodes they "
      "leave. `u55` stands for Ethos-U55 and U65, `u85` for Ethos-U85; rows without `when` hold for all targets.\n\n"
      "| check | on | when | what is found | what helps | source |\n|---|---|---|---|---|---|\n";
  for (const ConstraintRow& row : ConstraintRows()) {
    const auto cell = [](std::string_view text) {
      return absl::StrReplaceAll(absl::string_view(text.data(), text.size()), {{"|", "\\|"}, {"<", "&lt;"}});
    };
    absl::StrAppend(&page, "| `", cell(row.id), "` | ", cell(row.on), " | ", row.when.empty() ? "" : "`",
                    cell(row.when), row.when.empty() ? "" : "`", " | ");
    absl::StrAppend(&page, cell(row.say), " | ", cell(row.remedy), " | ", cell(row.source), " |\n");
  }
  return page;
}

TEST_CASE("docs/constraints.md is what the rows give") {
  const std::filesystem::path path = SourcePath("docs/constraints.md");
  if (std::getenv("TARE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << ConstraintsPage();
  CHECK_EQ(ReadFile(path), ConstraintsPage());
}

TEST_CASE("every constraint says what helps") {
  for (const ConstraintRow& row : ConstraintRows()) {
    CAPTURE(row.id);
    CHECK_FALSE(row.remedy.empty());
    CHECK((row.on == "pass" || !row.source.empty()));
  }
}

}  // namespace
}  // namespace tare
