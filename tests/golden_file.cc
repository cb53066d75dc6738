#include "golden_file.h"

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "test_files.h"

namespace tare {
namespace {

constexpr std::string_view kExpect = "# expect\n";

std::shared_ptr<const std::vector<std::byte>> SmallValues(const TensorMeta& tensor, bool zero, size_t& next) {
  size_t count = 1;
  for (const Dim dim : tensor.shape) count *= static_cast<size_t>(dim.value());
  const size_t size = static_cast<size_t>(BytesOf(tensor.dtype));
  std::vector<std::byte> bytes(count * size);
  for (size_t i = 0; i < count && !zero; ++i) {
    next += 7;
    const float real = 0.25f + static_cast<float>(next % 16) / 8;
    if (tensor.dtype == DType::kF32) std::memcpy(&bytes[i * size], &real, sizeof real);
    if (IsInteger(tensor.dtype)) bytes[i * size] = static_cast<std::byte>(next % 16);
  }
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

}  // namespace

std::string Directive(std::string_view text, std::string_view name) {
  for (absl::string_view line : absl::StrSplit(TextPiece(text), '\n'))
    if (absl::ConsumePrefix(&line, absl::StrCat("# ", TextPiece(name), ":")))
      return std::string(absl::StripAsciiWhitespace(line));
  return "";
}

std::vector<absl::StatusOr<Pass>> PassesOf(Context& context, std::span<const PassRow> rows, std::string_view input) {
  std::vector<absl::StatusOr<Pass>> passes;
  for (const std::string& item : std::vector<std::string>(absl::StrSplit(Directive(input, "run"), ','))) {
    const std::vector<std::string> words = absl::StrSplit(item, ' ');
    PassOptions options;
    for (size_t i = 1; i < words.size(); ++i) options[words[i]] = true;
    passes.push_back(MakePass(context, rows, words[0], options));
  }
  return passes;
}

Program ParseGolden(Context& context, std::string_view input) {
  absl::StatusOr<Program> program = ParseProgram(context, input);
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  size_t next = 0;
  for (Constant& constant : program->constants) {
    const bool zero = constant.name.find("zero") != std::string::npos;
    const auto owner = SmallValues(context.metas.Get(constant.meta).tensor, zero, next);
    constant.payload.bytes = *owner;
    constant.payload.owner = owner;
    constant.payload.missing = false;
  }
  return *std::move(program);
}

GoldenAnswer RunGolden(Context& context, std::span<const PassRow> rows, std::string_view input,
                       const InferrerOptions& options) {
  Program program = ParseGolden(context, input);
  InferrerOptions with_facts = options;
  with_facts.facts = program.facts;
  const auto inferrer = MakeInferrer(context, with_facts);
  RunOptions run;
  run.verify = VerifyWhat::kAll;
  run.check_meta = true;
  Rewriter rw(program, *inferrer);
  PassRunner runner(rw, run);
  GoldenAnswer answer;
  const std::vector<absl::StatusOr<Pass>> passes = PassesOf(context, rows, input);
  for (const absl::StatusOr<Pass>& pass : passes) {
    REQUIRE_MESSAGE(pass.ok(), pass.status().ToString());
    const absl::StatusOr<PassStats> stats = runner.Run(*pass);
    if (!stats.ok()) {
      answer.stats = absl::StrCat("# error: ", absl::StrReplaceAll(stats.status().message(), {{"\n", "\n#"}}), "\n");
      break;
    }
    absl::StrAppend(&answer.stats,
                    "# stats: ", passes.size() > 1 ? absl::StrCat(TextPiece(pass->name()), ": ") : std::string(),
                    stats->skipped ? "skipped" : StatsLine(stats->counters), "\n");
  }
  answer.program = PrintProgram(context, program);
  return answer;
}

void CheckGoldenFiles(std::string_view folder, const std::function<GoldenAnswer(const std::string&)>& run) {
  const bool update = std::getenv("TARE_UPDATE_GOLDEN") != nullptr;
  const std::vector<std::filesystem::path> files = FilesBelow(SourcePath(folder), ".tare");
  CHECK_GE(files.size(), 8);
  for (const std::filesystem::path& path : files) {
    CAPTURE(path.filename().string());
    const std::string text = ReadFile(path);
    const size_t at = text.find(kExpect);
    const std::string input = text.substr(0, at), want = at == text.npos ? "" : text.substr(at + kExpect.size());
    const GoldenAnswer answer = run(input);
    if (update) {
      std::ofstream(path, std::ios::binary) << input << kExpect << answer.program << answer.stats;
    } else {
      CHECK_EQ(answer.program + answer.stats, want);
    }
  }
}

}  // namespace tare
