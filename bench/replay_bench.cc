// Replay of passes over made-up chains: what cannot apply, what stays cold, what is rewritten, what is
// inferred again, and whole pipelines.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "aims.h"
#include "groups.h"
#include "ir/context.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "programs.h"
#include "replay_passes.h"

namespace tare::bench {
namespace {

// Chains are made once; benchmarks edit copies.
class Chains {
 public:
  explicit Chains(Context& context) : context_(context) {}
  Context& context() const { return context_; }
  Program Copy(int nodes, int rare) {
    std::unique_ptr<Program>& chain = chains_[{nodes, rare}];
    if (chain == nullptr) chain = std::make_unique<Program>(MakeChain(context_, nodes, rare));
    Program copy = *chain;
    copy.main().mutable_lineage();  // an edited copy makes one of its own first
    return copy;
  }

 private:
  Context& context_;
  std::map<std::pair<int, int>, std::unique_ptr<Program>> chains_;
};

// A program under edit.
struct Bed {
  Bed(Chains& chains, int nodes, int rare)
      : inferrer(MakeInferrer(chains.context())), program(chains.Copy(nodes, rare)), rw(program, *inferrer) {}
  std::unique_ptr<Inferrer> inferrer;
  Program program;
  Rewriter rw;
  RunOptions options = Unverified();
  PassRunner runner{rw, options};
};

void RunOrSkip(benchmark::State& state, PassRunner& runner, const Pass& pass) {
  if (const auto stats = runner.Run(pass); !stats.ok()) state.SkipWithError(stats.status().ToString().c_str());
}

// Makes the first node half precision or, the next time, a plain copy.
class ToggleFirst final : public GraphPass {
 public:
  ToggleFirst(NodeId first, Op to, Op clone) : first_(first), to_(to), clone_(clone) {}
  std::string_view name() const override { return "bench-wave"; }
  std::span<const Op> targets() const override { return {}; }
  absl::Status Run(Rewriter& rw) const override {
    const Node node = rw.node(first_);
    if (node.op() == to_) return rw.Redefine(node, clone_, {node.operand(0)}, {});
    return rw.Redefine(node, to_, {node.operand(0)}, {{"dtype", AttrValue::OfDType(DType::kF16)}});
  }

 private:
  NodeId first_;
  Op to_, clone_;
};

Op Find(Context& context, std::string_view name) { return context.ops.Find(name); }

void SkippedAndCold(Chains& chains) {
  Context& context = chains.context();
  for (const int nodes : {1000, 100000}) {
    Register(absl::StrCat("replay/cannot-apply/", nodes), {100, "ns"}, [&, nodes](benchmark::State& state) {
      Bed bed(chains, nodes, 100);
      const Pass pass = LookPass({Find(context, "aten.convolution.default")});
      for (auto _ : state) RunOrSkip(state, bed.runner, pass);
    });
  }
  // One node of 100,000 is rewritten; the others are cold.
  for (const bool snapshot : {false, true}) {
    Register(absl::StrCat("replay/cold-node/100000", snapshot ? "/snapshot-kept" : ""), {snapshot ? 0.3 : 0.1, "ns"},
             [&, snapshot](benchmark::State& state) {
               Bed bed(chains, 100000, 100000);
               std::vector<Program> snapshots;
               bed.options.keep_before = snapshot;
               if (snapshot) {
                 bed.options.after_pass = [&](const PassStats&, const Program&, const Program* before) {
                   snapshots.push_back(*before);
                   return absl::OkStatus();
                 };
               }
               const Pass pass = TogglePass(Find(context, "aten.add.Tensor"));
               for (auto _ : state) {
                 RunOrSkip(state, bed.runner, pass);
                 if (snapshots.size() < 100) continue;
                 state.PauseTiming();
                 snapshots.clear();
                 state.ResumeTiming();
               }
               SetItems(state, 100000);
             });
  }
  Register("replay/every-node-visited/10000", {0, "ns"}, [&](benchmark::State& state) {
    Bed bed(chains, 10000, 100);
    const Pass pass = LookPass({});
    for (auto _ : state) RunOrSkip(state, bed.runner, pass);
    SetItems(state, 10000);
  });
  Register("replay/target-visited/10000", {0, "ns"}, [&](benchmark::State& state) {
    Bed bed(chains, 10000, 100);
    const Pass pass = LookPass({Find(context, "aten.relu.default")});
    for (auto _ : state) RunOrSkip(state, bed.runner, pass);
    SetItems(state, bed.program.main().CountOps()[Find(context, "aten.relu.default").index]);
  });
}

void Rewritten(Chains& chains) {
  Context& context = chains.context();
  Register("replay/node-rewritten/metadata-equal", {150, "ns"}, [&](benchmark::State& state) {
    Bed bed(chains, 10000, 2);
    const Pass pass = TogglePass(Find(context, "aten.add.Tensor"));
    for (auto _ : state) RunOrSkip(state, bed.runner, pass);
    SetItems(state, 5000);
    state.SetLabel("10,000 nodes, 5,000 of them rewritten");
  });
  // The dtype of the first node changes, and with it that of all others.
  Register("replay/user-re-inferred/memo-hit", {60, "ns"}, [&](benchmark::State& state) {
    Bed bed(chains, 10000, 1000000);
    const Op to = Find(context, "aten.to.dtype"), clone = Find(context, "aten.clone.default");
    if (!to.has_value() || !clone.has_value()) return state.SkipWithError("an op is missing");
    const Pass wave{std::shared_ptr<const GraphPass>(
        std::make_shared<const ToggleFirst>(bed.program.main().FindNode("v1"), to, clone))};
    for (int i = 0; i < 2; ++i) RunOrSkip(state, bed.runner, wave);  // both answers of every node are remembered
    for (auto _ : state) RunOrSkip(state, bed.runner, wave);
    SetItems(state, 10000);
    state.SetLabel("one node rewritten, 9,999 re-inferred in a wave");
  });
}

struct PipelineCase {
  const char* name;
  int passes, nodes;
  bool snapshots;
  double aim_ms;
};
constexpr PipelineCase kPipelines[] = {
    {"100-passes-of-10000-nodes", 100, 10000, false, 5},
    {"100-passes-of-10000-nodes/every-snapshot-kept", 100, 10000, true, 10},
    {"146-passes-of-1200-nodes", 146, 1200, false, 1},
};

// Every pass rewrites one node in a hundred.
void Pipelines(Chains& chains) {
  Context& context = chains.context();
  for (const PipelineCase& c : kPipelines) {
    Register(absl::StrCat("pipeline/", c.name), {c.aim_ms, "ms"}, [&](benchmark::State& state) {
      const std::unique_ptr<Inferrer> inferrer = MakeInferrer(context);
      const std::vector<Pass> passes(c.passes, TogglePass(Find(context, "aten.add.Tensor")));
      int64_t touched = 0;
      for (auto _ : state) {
        state.PauseTiming();
        auto copy = std::make_unique<Program>(chains.Copy(c.nodes, 100));
        std::vector<Program> snapshots;
        RunOptions options = Unverified();
        options.keep_before = c.snapshots;
        if (c.snapshots) {
          options.after_pass = [&](const PassStats&, const Program&, const Program* before) {
            snapshots.push_back(*before);
            return absl::OkStatus();
          };
        }
        state.ResumeTiming();
        const auto stats = RunPasses(*copy, *inferrer, passes, options);
        state.PauseTiming();
        if (!stats.ok()) return state.SkipWithError(stats.status().ToString().c_str());
        touched = 0;
        for (const PassStats& one : *stats) touched += one.counters.redefined;
        snapshots.clear();
        copy.reset();
        state.ResumeTiming();
      }
      state.SetLabel(absl::StrCat(touched, " nodes rewritten, session made and ended included"));
    });
  }
}

}  // namespace

void ReplayBenches() {
  const std::unique_ptr<Context> context = MakeContext();
  Chains chains(*context);
  SkippedAndCold(chains);
  Rewritten(chains);
  Pipelines(chains);
  RunRegistered();
}

}  // namespace tare::bench
