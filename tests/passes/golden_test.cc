// Golden files: what to run, before, after and the cost. TARE_UPDATE_GOLDEN=1 rewrites the part below
// `# expect`. Each is replayed by the slow twin too.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/status.h"
#include "passes_fixture.h"
#include "replay_dense.h"

namespace tare {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> GoldenFiles() {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  REQUIRE(root != nullptr);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(root) / "tests/passes/golden"))
    if (entry.path().extension() == ".tare") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Text of a directive `# name: value` above the program, or "".
std::string Directive(std::string_view text, std::string_view name) {
  for (absl::string_view line : absl::StrSplit(TextPiece(text), '\n'))
    if (absl::ConsumePrefix(&line, absl::StrCat("# ", TextPiece(name), ":")))
      return std::string(absl::StripAsciiWhitespace(line));
  return "";
}

// Constants of a text have no bytes: gives those of f32 small positive values, the same in every run.
void FillConstants(Program& program) {
  int next = 0;
  for (Constant& constant : program.constants) {
    const TensorMeta& tensor = program.context->metas.Get(constant.meta).tensor;
    if (tensor.dtype != DType::kF32) continue;
    int64_t count = 1;
    for (const Dim dim : tensor.shape) count *= dim.value();
    auto values = std::make_shared<std::vector<float>>();
    for (int64_t i = 0; i < count; ++i) values->push_back(0.25f + static_cast<float>((next += 7) % 16) / 8);
    constant.payload.bytes = std::as_bytes(std::span<const float>(*values));
    constant.payload.owner = values;
    constant.payload.missing = false;
  }
}

struct Answer {
  std::string program, stats;
};

Answer RunGolden(PassesFixture& fixture, std::string_view input) {
  Program program = fixture.Parse(input);
  FillConstants(program);
  const auto inferrer = fixture.NewInferrer(program);
  RunOptions options;
  options.verify = VerifyWhat::kAll;
  options.check_meta = true;
  const std::string run = Directive(input, "run");
  const std::vector<std::string> names = absl::StrSplit(run, ',');
  Rewriter rw(program, *inferrer);
  PassRunner runner(rw, options);
  Answer answer;
  for (const std::string& name : names) {
    const absl::StatusOr<PassStats> stats = runner.Run(fixture.Make(name));
    if (!stats.ok()) {
      answer.stats = absl::StrCat("# error: ", absl::StrReplaceAll(stats.status().message(), {{"\n", "\n#"}}), "\n");
      break;
    }
    absl::StrAppend(&answer.stats, "# stats: ", names.size() > 1 ? absl::StrCat(name, ": ") : "",
                    stats->skipped ? "skipped" : StatsLine(stats->counters), "\n");
  }
  answer.program = fixture.Print(program);
  return answer;
}

std::string RunGoldenDense(PassesFixture& fixture, std::string_view input) {
  Program program = fixture.Parse(input);
  FillConstants(program);
  InferrerOptions options;
  options.facts = program.facts;
  options.use_memo = false;
  const auto inferrer = MakeInferrer(*fixture.context, options);
  const std::string run = Directive(input, "run");
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(run, ',')))
    if (!ReplayDense(program, *inferrer, fixture.Make(name)).ok()) break;
  return fixture.Print(program);
}

TEST_CASE("golden files of passes") {
  PassesFixture fixture;
  const bool update = std::getenv("TARE_UPDATE_GOLDEN") != nullptr;
  const std::vector<std::filesystem::path> files = GoldenFiles();
  CHECK(files.size() >= 8);
  for (const std::filesystem::path& path : files) {
    CAPTURE(path.filename().string());
    const std::string text = ReadFile(path);
    const size_t at = text.find("# expect\n");
    const std::string input = text.substr(0, at);
    const Answer answer = RunGolden(fixture, input);
    const std::string want = at == std::string::npos ? "" : text.substr(at + std::strlen("# expect\n"));
    if (update) {
      std::ofstream(path, std::ios::binary) << input << "# expect\n" << answer.program << answer.stats;
    } else {
      CHECK_EQ(answer.program + answer.stats, want);
    }
    CHECK_EQ(RunGoldenDense(fixture, input), answer.program);
  }
}

}  // namespace
}  // namespace tare
