// Time and memory must grow with the number of nodes and not faster: 1,000, 10,000 and 100,000 nodes.
// Figures are nanoseconds (bytes) per node; a row of 100,000 should be near that of 1,000.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "aims.h"
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

}  // namespace

void ScalingBenches() {
  const std::unique_ptr<Context> context = MakeContext();
  std::vector<std::pair<std::string, std::unique_ptr<Program>>> programs;
  for (const int nodes : {1000, 10000, 100000}) {
    programs.emplace_back(absl::StrCat("chain-", nodes), std::make_unique<Program>(MakeChain(*context, nodes, 100)));
  }
  if (const auto chain = SharedFile("corpus/features/chain_10000/train.pt2")) {
    programs.emplace_back("chain_10000.pt2", std::make_unique<Program>(ReadOrDie(*context, *chain)));
    Register("scaling/load/chain_10000.pt2", kNone, [&context, chain](benchmark::State& state) {
      for (auto _ : state) benchmark::DoNotOptimize(ReadPt2(*context, *chain));
      SetItems(state, 10000);
    });
  }
  for (const auto& [name, program] : programs) ProgramBenches(*context, name, *program);
  RunRegistered();
}

}  // namespace tare::bench
