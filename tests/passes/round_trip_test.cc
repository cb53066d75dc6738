// Real programs through the passes, to a .pt2 file and back: equal graphs, equal constants.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../test_files.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "formats/program_file.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "meta/check.h"
#include "passes_fixture.h"

namespace tare {
namespace {

std::vector<std::string> ProgramFiles() {
  std::vector<std::string> files;
  for (const std::string_view folder : {"tests/data/nets", "tests/data/pt2/features"})
    for (const auto& path : FilesBelow(SourcePath(folder), ".pt2")) files.push_back(path.string());
  REQUIRE(!files.empty());
  return files;
}

// The text without where constants are kept: their numbers and files are the writer's choice.
std::string GraphsOf(const PassesFixture& fixture, const Program& program) {
  std::string out;
  bool in_constants = false;
  for (const absl::string_view line : absl::StrSplit(PrintProgram(*fixture.context, program), '\n')) {
    in_constants |= line == "constants {";
    if (!in_constants) {
      bool number = false;
      for (size_t i = 0; i < line.size(); ++i) {
        number = number ? line[i] >= '0' && line[i] <= '9' : line.substr(i, 2) == " $";
        if (number && line[i] == ' ') ++i;  // the sign
        if (!number) out += line[i];
      }
      out += '\n';
    }
    if (line == "}") in_constants = false;
  }
  return out;
}

void CheckConstants(const PassesFixture& fixture, const Program& a, const Program& b) {
  REQUIRE_EQ(a.inputs.size(), b.inputs.size());
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    CAPTURE(a.inputs[i].target);
    CHECK_EQ(a.inputs[i].target, b.inputs[i].target);
    CHECK_EQ(a.inputs[i].persistent, b.inputs[i].persistent);
    REQUIRE_EQ(a.inputs[i].constant.has_value(), b.inputs[i].constant.has_value());
    if (!a.inputs[i].constant.has_value()) continue;
    const Constant& x = a.constants[a.inputs[i].constant.index];
    const Constant& y = b.constants[b.inputs[i].constant.index];
    CHECK(SameMeta(*fixture.context, x.meta, y.meta));
    CHECK_EQ(x.payload.missing, y.payload.missing);
    CHECK(std::equal(x.payload.bytes.begin(), x.payload.bytes.end(), y.payload.bytes.begin(), y.payload.bytes.end()));
  }
}

TEST_CASE("programs changed by passes are what they were when written and read") {
  PassesFixture fixture;
  const std::string path =
      (std::filesystem::temp_directory_path() / absl::StrCat("tare_round_trip_", getpid(), ".pt2")).string();
  int changed = 0, removed = 0;
  for (const std::string& file : ProgramFiles()) {
    CAPTURE(file);
    absl::StatusOr<Program> program = ReadProgramFile(*fixture.context, file);
    REQUIRE_MESSAGE(program.ok(), program.status().ToString());
    const size_t num_inputs = program->inputs.size();
    const auto inferrer = fixture.NewInferrer(*program);
    // Where a file states something else than the rules, passes may rightly refuse.
    if (CheckProgram(*program, *inferrer).different != 0) continue;
    std::vector<Pass> passes;
    for (const std::string_view name :
         {"fuse-batch-norm", "remove-noops", "compose-permutes", "compose-views", "cancel-qdq", "decompose-linear",
          "view-to-view-copy", "remove-noops", "dead-code"})
      passes.push_back(fixture.Make(name));
    const auto stats = RunPasses(*program, *inferrer, passes);
    REQUIRE_MESSAGE(stats.ok(), stats.status().ToString());
    for (const PassStats& pass : *stats) changed += pass.changed ? 1 : 0;
    removed += static_cast<int>(num_inputs) > static_cast<int>(program->inputs.size()) ? 1 : 0;
    const absl::Status written = WriteProgramFile(*program, path);
    REQUIRE_MESSAGE(written.ok(), written.ToString());
    const absl::StatusOr<Program> again = ReadProgramFile(*fixture.context, path);
    REQUIRE_MESSAGE(again.ok(), again.status().ToString());
    CHECK(Verify(*again).ok());
    CHECK_EQ(GraphsOf(fixture, *again), GraphsOf(fixture, *program));
    CheckConstants(fixture, *program, *again);
  }
  std::filesystem::remove(path);
  CHECK(changed >= 20);
  CHECK(removed >= 1);
}

TEST_CASE("C15: two threads read one file") {
  PassesFixture fixture;
  for (const std::string& file : ProgramFiles()) {
    if (!absl::StrContains(file, "nets")) continue;
    std::string texts[2];
    std::vector<std::thread> threads;
    for (std::string& text : texts)
      threads.emplace_back([&] {
        const absl::StatusOr<Program> program = ReadProgramFile(*fixture.context, file);
        text = program.ok() ? PrintProgram(*fixture.context, *program) : program.status().ToString();
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(absl::StrContains(texts[0], "graph main("));
    CHECK(texts[0] == texts[1]);
  }
}

}  // namespace
}  // namespace tare
