// Real programs: all passes by the session and by the slow twin give the same text; two threads in one
// Context give what one gives. Runs over tests/data, and over all of the shared corpus where it is.
#include <string>
#include <thread>

#include "../test_files.h"
#include "absl/strings/str_cat.h"
#include "formats/program_file.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "passes_fixture.h"
#include "replay_dense.h"

namespace tare {
namespace {

constexpr std::string_view kPasses[] = {"fuse-batch-norm",  "remove-noops",     "compose-permutes",  "compose-views",
                                        "cancel-qdq",       "decompose-linear", "view-to-view-copy", "remove-noops",
                                        "compose-permutes", "compose-views",    "dead-code"};

std::vector<std::string> ProgramFiles(std::initializer_list<std::string_view> folders = {"nets"}) {
  std::vector<std::string> files;
  for (const std::string_view name : folders)
    for (const std::string_view root : {"tests/data/", "tests/data/pt2/"})
      for (const auto& path : FilesBelow(SourcePath(absl::StrCat(TextPiece(root), TextPiece(name))), ".pt2"))
        files.push_back(path.string());
  for (const std::string_view name : folders)
    for (const auto& path : FilesBelow(SharedPath(absl::StrCat("corpus/", TextPiece(name))), ".pt2"))
      files.push_back(path.string());
  REQUIRE(!files.empty());
  return files;
}

// What all passes make of a file: stats lines and the text.
std::string RunAll(PassesFixture& fixture, const std::string& file) {
  absl::StatusOr<Program> program = ReadProgramFile(*fixture.context, file);
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  const auto inferrer = fixture.NewInferrer(*program);
  std::vector<Pass> passes;
  for (const std::string_view name : kPasses) passes.push_back(fixture.Make(name));
  const auto stats = RunPasses(*program, *inferrer, passes);
  if (!stats.ok()) return std::string(stats.status().message());
  std::string text;
  for (const PassStats& pass : *stats)
    absl::StrAppend(&text, pass.name, ": ", pass.skipped ? "skipped" : StatsLine(pass.counters), "\n");
  return text + fixture.Print(*program);
}

TEST_CASE("real programs: the session and the slow twin give the same text") {
  PassesFixture fixture;
  const std::vector<std::string> files = ProgramFiles();
  CHECK(files.size() >= 3);
  for (const std::string& file : files) {
    CAPTURE(file);
    absl::StatusOr<Program> program = ReadProgramFile(*fixture.context, file);
    REQUIRE_MESSAGE(program.ok(), program.status().ToString());
    const auto inferrer = fixture.NewInferrer(*program);
    const absl::Status normal = ReinferAll(*program, *inferrer);  // what files state of strides may have no meaning
    CHECK_MESSAGE(normal.ok(), normal.ToString());
    Program dense = *program;
    RunOptions options;
    options.verify = VerifyWhat::kAll;
    options.check_meta = true;
    Rewriter rw(*program, *inferrer);
    PassRunner runner(rw, options);
    for (const std::string_view name : kPasses) {
      CAPTURE(std::string(name));
      const Pass pass = fixture.Make(name);
      const auto stats = runner.Run(pass);
      REQUIRE_MESSAGE(stats.ok(), stats.status().ToString());
      const auto slow_inferrer = fixture.NewInferrer(dense);
      const absl::Status slow = ReplayDense(dense, *slow_inferrer, pass);
      REQUIRE_MESSAGE(slow.ok(), slow.ToString());
      REQUIRE(fixture.Print(*program) == fixture.Print(dense));
    }
  }
}

TEST_CASE("real programs: bodies are given what their files state") {
  PassesFixture fixture;
  int bodies = 0;
  for (const std::string& file : ProgramFiles({"features", "dynamic", "nets"})) {
    CAPTURE(file);
    const absl::StatusOr<Program> program = ReadProgramFile(*fixture.context, file);
    if (!program.ok() || program->graphs.size() == 1) continue;
    const auto inferrer = fixture.NewInferrer(*program);
    for (uint32_t g = 0; g < program->graphs.size(); ++g) {
      const Graph& graph = program->graphs[g].graph;
      for (const NodeId node : graph.nodes()) {
        const NodeDef def = graph.Def(node);
        std::vector<MetaId> operands;
        for (const NodeId operand : def.operands) operands.push_back(graph.meta(operand));
        const auto given = inferrer->InferBodyArguments(def.op, def.attrs, operands, {g, node});
        REQUIRE_MESSAGE(given.ok(), given.status().ToString());
        for (const BodyArguments::Body& body : given->bodies) {
          ++bodies;
          const Graph& inner = program->graphs[body.graph.index].graph;
          REQUIRE_EQ(inner.inputs().size(), body.inputs.size());
          for (size_t i = 0; i < body.inputs.size(); ++i) {
            if (!body.inputs[i].has_value()) continue;
            CAPTURE(PrintMeta(*fixture.context, body.inputs[i]));
            CAPTURE(PrintMeta(*fixture.context, inner.meta(inner.inputs()[i])));
            CHECK(SameMeta(*fixture.context, body.inputs[i], inner.meta(inner.inputs()[i])));
          }
        }
      }
    }
  }
  CHECK(bodies >= 10);
}

TEST_CASE("threads that share a Context give what one thread gives") {
  const std::vector<std::string> files = ProgramFiles();
  std::vector<std::string> alone(files.size()), together(files.size());
  {
    PassesFixture fixture;
    for (size_t i = 0; i < files.size(); ++i) alone[i] = RunAll(fixture, files[i]);
  }
  PassesFixture fixture;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      // Each thread runs every file; they meet in the middle, so some run at the same time.
      for (size_t k = 0; k < files.size(); ++k) {
        const size_t i = t == 0 ? k : files.size() - 1 - k;
        std::string text = RunAll(fixture, files[i]);
        if (i % 2 == t) together[i] = std::move(text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < files.size(); ++i) {
    CAPTURE(files[i]);
    CHECK(together[i] == alone[i]);
  }
}

}  // namespace
}  // namespace tare
