// The memo: its two levels, and walking a whole family instead of asking one call again and again.
#include <memory>
#include <vector>

#include "aims.h"
#include "golden_calls.h"
#include "groups.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "meta/memo.h"

namespace tare::bench {
namespace {

constexpr NodePlace kPlace{1, NodeId{0}};

// Calls without facts, so that one session can remember all of them.
std::vector<const GoldenCall*> StaticCalls(const std::vector<Family>& families) {
  std::vector<const GoldenCall*> calls;
  for (const Family& family : families) {
    for (const GoldenCall& call : family.calls) {
      if (call.memoised && !call.symbolic && call.spec.empty()) calls.push_back(&call);
    }
  }
  return calls;
}

void AskAll(Inferrer& inferrer, const std::vector<const GoldenCall*>& calls) {
  for (const GoldenCall* golden : calls) {
    auto result = inferrer.Infer(golden->call.op, golden->call.attrs, golden->call.operands, QuantId{0}, kPlace);
    benchmark::DoNotOptimize(result);
  }
}

}  // namespace

void MemoBenches() {
  const std::unique_ptr<Context> context = MakeContext();
  const std::vector<Family> families = ReadFamilies(*context);
  const std::vector<const GoldenCall*> all = StaticCalls(families);
  const std::vector<const GoldenCall*> some(all.begin(), all.begin() + std::min<size_t>(all.size(), 1000));

  const auto hits = [&](const std::vector<const GoldenCall*>& calls) {
    return [&](benchmark::State& state) {
      const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context);
      AskAll(*inferrer, calls);
      for (auto _ : state) AskAll(*inferrer, calls);
      SetItems(state, static_cast<double>(calls.size()));
      state.SetLabel(std::to_string(calls.size()) + " calls in turn");
    };
  };
  Register("memo/session-hit/1000", {60, "ns"}, hits(some));
  Register("memo/session-hit/all", {0, "ns"}, hits(all));
  // The first answer of a new session comes from the shards that all sessions share.
  Register("memo/shared-hit", {0, "ns"}, [&](benchmark::State& state) {
    for (auto _ : state) {
      state.PauseTiming();
      std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context);
      state.ResumeTiming();
      AskAll(*inferrer, some);
      state.PauseTiming();
      inferrer.reset();
      state.ResumeTiming();
    }
    SetItems(state, static_cast<double>(some.size()));
  });
  Register("memo/rule-evaluated", {500, "ns"}, [&](benchmark::State& state) {
    InferrerOptions options;
    options.use_memo = false;
    const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context, options);
    for (auto _ : state) AskAll(*inferrer, all);
    SetItems(state, static_cast<double>(all.size()));
    state.SetLabel("mean over all static calls in turn");
  });
  RunRegistered();
}

}  // namespace tare::bench
