// Time must grow with the number of nodes and not faster: 1,000 to 100,000 nodes, 400,000 for the command,
// which runs with a stack of 1 MB. Figures are per node; the last row should be near the first.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "aims.h"
#include "command.h"
#include "formats/pt2/pt2.h"
#include "groups.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "passes/pass_list.h"
#include "programs.h"
#include "replay_passes.h"

namespace tare::bench {
namespace {

constexpr Aim kNone{0, "ns"};

void ProgramBenches(Context& context, const std::string& name, const Program& program) {
  const double nodes = program.main().num_nodes();
  const auto add = [&](std::string_view what, std::function<void()> work) {
    Register(absl::StrCat("scaling/", absl::string_view(what.data(), what.size()), "/", name), kNone,
             [=](benchmark::State& state) {
               for (auto _ : state) work();
               SetItems(state, nodes);
             });
  };
  const std::string text = PrintProgram(context, program);
  add("print", [&] { benchmark::DoNotOptimize(PrintProgram(context, program)); });
  add("parse", [&context, text] { benchmark::DoNotOptimize(ParseProgram(context, text)); });
  add("verify", [&] { benchmark::DoNotOptimize(Verify(program)); });
  const auto inferrer = std::shared_ptr<Inferrer>(MakeInferrer(context));
  add("check", [&program, inferrer] { benchmark::DoNotOptimize(CheckProgram(program, *inferrer)); });
  add("copy", [&] { benchmark::DoNotOptimize(Program(program)); });
  add("session", [&context, &program, inferrer] {
    Program copy = program;
    benchmark::DoNotOptimize(Rewriter(copy, *inferrer).MemoryBytes());
  });
  add("all-passes", [&context, &program, inferrer] {
    Program copy = program;
    std::vector<Pass> passes;
    for (const PassRow& row : BuiltinPasses()) {
      if (auto pass = MakePass(context, BuiltinPasses(), row.name); pass.ok()) passes.push_back(*std::move(pass));
    }
    benchmark::DoNotOptimize(RunPasses(copy, *inferrer, passes));
  });
  add("rewrite-all-adds", [&context, &program, inferrer] {
    Program copy = program;
    const Pass pass = TogglePass(context.ops.Find("aten.add.Tensor"));
    benchmark::DoNotOptimize(RunPasses(copy, *inferrer, {&pass, 1}, Unverified()));
  });
}

constexpr int kStackKb = 1024;

// `tare VERB FILE`, best of a few runs: microseconds of CPU per node.
void CommandBench(const std::string& name, double nodes, const std::vector<std::string>& args) {
  RegisterOnce(name, {0, "us"}, [=] {
    CommandRun best;
    for (int i = 0; i < 3; ++i) {
      const CommandRun run = RunCommand(args, kStackKb);
      if (run.status != 0) return Figure{0, "", absl::StrCat("fails: ", run.status)};
      if (i == 0 || run.cpu_ms < best.cpu_ms) best = run;
    }
    return Figure{best.cpu_ms * 1e3 / nodes, absl::StrFormat("%.0f ms", best.cpu_ms), ""};
  });
}

// Chains as files, for the command.
class ChainFiles {
 public:
  ChainFiles() : folder_(std::filesystem::temp_directory_path() / absl::StrCat("tare-bench-", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ChainFiles() { std::filesystem::remove_all(folder_); }
  std::string Write(const Program& program, const std::string& name) {
    const std::string path = (folder_ / (name + ".pt2")).string();
    return WritePt2(program, path).ok() ? path : "";
  }
  std::string Output() const { return (folder_ / "out.pt2").string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace

void ScalingBenches() {
  const std::unique_ptr<Context> context = MakeContext();
  std::vector<std::pair<std::string, std::unique_ptr<Program>>> programs;
  ChainFiles files;
  const char* tare = std::getenv("TARE_BIN");
  for (const int nodes : {1000, 10000, 100000, 400000}) {
    const std::string name = absl::StrCat("chain-", nodes);
    auto program = std::make_unique<Program>(MakeChain(*context, nodes, 100));
    const std::string file = files.Write(*program, name);
    if (nodes <= 100000) programs.emplace_back(name, std::move(program));
    if (nodes <= 100000)
      Register(absl::StrCat("scaling/load/", name), kNone, [&context, file, nodes](benchmark::State& state) {
        for (auto _ : state) {
          if (!ReadPt2(*context, file).ok()) return state.SkipWithError("cannot be read");
        }
        SetItems(state, nodes);
      });
    if (tare == nullptr) continue;
    CommandBench(absl::StrCat("scaling/tare-check/", name), nodes, {tare, "check", file});
    CommandBench(absl::StrCat("scaling/tare-opt-write/", name), nodes,
                 {tare, "opt", file, "--passes", "remove-noops,compose-permutes,dead-code", "-o", files.Output()});
  }
  for (const auto& [name, program] : programs) ProgramBenches(*context, name, *program);
  RunRegistered();
}

}  // namespace tare::bench
