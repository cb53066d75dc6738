// Golden files of the passes to TOSA: what to run, before, after and the cost. TARE_UPDATE_GOLDEN=1 rewrites the part
// below `# expect`. `# run: fold-constants keep_rescales` sets an option to true. `# spec:` is the specification,
// TOSA-1.0+INT+FP+int16 when it is not there.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/pass_list.h"
#include "doctest/doctest.h"
#include "ir/status.h"
#include "ir/text.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"

namespace tare {
namespace {

std::filesystem::path GoldenRoot() {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  REQUIRE(root != nullptr);
  return std::filesystem::path(root) / "tests/backends/tosa/golden";
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string Directive(std::string_view text, std::string_view name) {
  for (absl::string_view line : absl::StrSplit(TextPiece(text), '\n'))
    if (absl::ConsumePrefix(&line, absl::StrCat("# ", TextPiece(name), ":")))
      return std::string(absl::StripAsciiWhitespace(line));
  return "";
}

// Constants of a text have no bytes: gives them small positive values, the same in every run. Constants whose name
// has "zero" are 0.
void FillConstants(Program& program) {
  int64_t next = 0;
  for (Constant& constant : program.constants) {
    const TensorMeta& tensor = program.context->metas.Get(constant.meta).tensor;
    const int64_t count = ElementCount(tensor).value_or(0);
    std::vector<int64_t> integers;
    std::vector<float> floats;
    const bool zero = constant.name.find("zero") != std::string::npos;
    for (int64_t i = 0; i < count; ++i) {
      next += 7;
      integers.push_back(zero ? 0 : next % 16);
      floats.push_back(zero ? 0.0f : 0.25f + static_cast<float>(next % 16) / 8);
    }
    std::vector<std::byte> bytes;
    if (tensor.dtype == DType::kF32) {
      bytes.resize(floats.size() * sizeof(float));
      std::memcpy(bytes.data(), floats.data(), bytes.size());
    } else if (IsInteger(tensor.dtype)) {
      bytes = IntegerBytes(tensor.dtype, integers);
    }
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    constant.payload.bytes = *owner;
    constant.payload.owner = owner;
    constant.payload.missing = false;
  }
}

std::string RunGolden(Context& context, std::string_view input) {
  absl::StatusOr<Program> program = ParseProgram(context, input);
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  FillConstants(*program);
  InferrerOptions infer;
  infer.facts = program->facts;
  infer.spec = Directive(input, "spec").empty() ? "TOSA-1.0+INT+FP+int16" : Directive(input, "spec");
  const auto inferrer = MakeInferrer(context, infer);
  RunOptions options;
  options.verify = VerifyWhat::kAll;
  options.check_meta = true;
  Rewriter rw(*program, *inferrer);
  PassRunner runner(rw, options);
  std::string stats_text;
  const std::vector<std::string> names = absl::StrSplit(Directive(input, "run"), ',');
  for (const std::string& name : names) {
    const std::vector<std::string> words = absl::StrSplit(name, ' ');
    PassOptions pass_options;
    for (size_t i = 1; i < words.size(); ++i) pass_options[words[i]] = true;
    const absl::StatusOr<Pass> pass = MakePass(context, AllPasses(), words[0], pass_options);
    REQUIRE_MESSAGE(pass.ok(), pass.status().ToString());
    const absl::StatusOr<PassStats> stats = runner.Run(*pass);
    if (!stats.ok()) {
      absl::StrAppend(&stats_text, "# error: ", absl::StrReplaceAll(stats.status().message(), {{"\n", "\n#"}}), "\n");
      break;
    }
    absl::StrAppend(&stats_text, "# stats: ", names.size() > 1 ? absl::StrCat(name, ": ") : "",
                    stats->skipped ? "skipped" : StatsLine(stats->counters), "\n");
  }
  return PrintProgram(context, *program) + stats_text;
}

TEST_CASE("golden files of the passes to TOSA") {
  const bool update = std::getenv("TARE_UPDATE_GOLDEN") != nullptr;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(GoldenRoot())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::set<std::string> run;
  for (const std::filesystem::path& path : files) {
    CAPTURE(path.filename().string());
    const std::unique_ptr<Context> context = MakeContext();
    const std::string text = ReadFile(path);
    const size_t at = text.find("# expect\n");
    const std::string input = text.substr(0, at);
    for (const std::string& name : std::vector<std::string>(absl::StrSplit(Directive(input, "run"), ',')))
      run.insert(name.substr(0, name.find(' ')));
    const std::string answer = RunGolden(*context, input);
    const std::string want = at == std::string::npos ? "" : text.substr(at + std::strlen("# expect\n"));
    if (update) {
      std::ofstream(path, std::ios::binary) << input << "# expect\n" << answer;
    } else {
      CHECK_EQ(answer, want);
    }
  }
  for (const PassRow& row : TosaPasses()) CHECK_MESSAGE(run.contains(std::string(row.name)), row.name);
}

TEST_CASE("the pipelines of the backend can be read") {
  const std::unique_ptr<Context> context = MakeContext();
  for (const PipelineText& row : BuiltinPipelines()) {
    const auto pipeline = ParsePipeline(*context, AllPasses(), row.name, row.text);
    CHECK_MESSAGE(pipeline.ok(), pipeline.status().ToString());
  }
}

}  // namespace
}  // namespace tare
