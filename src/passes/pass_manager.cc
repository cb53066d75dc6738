#include "passes/pass_manager.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "meta/check.h"
#include "passes/session.h"

namespace tare {
namespace {

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool AnyTarget(const Rewriter::Impl& impl, std::span<const Op> targets) {
  if (targets.empty()) return true;
  for (const GraphSession& session : impl.sessions)
    if (session.index.AnyOf(targets)) return true;
  return false;
}

absl::Status InPass(absl::Status status, std::string_view pass) {
  if (NodeOf(status).has_value()) return status;  // the session named it
  absl::Status named(status.code(), absl::StrCat(status.message(), "\n  in pass ", TextPiece(pass)));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { named.SetPayload(url, payload); });
  return named;
}

}  // namespace

std::string StatsLine(const PassCounters& c) {
  std::string line;
  const auto add = [&](std::string_view what, int64_t count) {
    absl::StrAppend(&line, line.empty() ? "" : ", ", TextPiece(what), " ", count);
  };
  if (c.redefined != 0) add("redefined", c.redefined);
  if (c.inserted != 0) add("inserted", c.inserted);
  if (c.erased != 0) add("erased", c.erased);
  add("re-inferred", c.reinferred);
  add("cold", c.cold);
  return line;
}

PassRunner::PassRunner(Rewriter& rw, const RunOptions& options)
    : rw_(rw), options_(options), leave_(options.leave.begin(), options.leave.end()), clock_ns_(NowNs()) {}

absl::StatusOr<PassStats> PassRunner::Run(const Pass& pass) {
  Rewriter::Impl& impl = rw_.impl();
  PassStats stats;
  stats.name = std::string(pass.name());
  if (!AnyTarget(impl, pass.targets())) {
    stats.skipped = true;
    const int64_t now = NowNs();
    stats.ns = now - std::exchange(clock_ns_, now);
    return stats;
  }
  clock_ns_ = NowNs();
  const InferCounters memo = impl.inferrer.counters();
  std::optional<Program> before;
  if (options_.keep_before) before = impl.program;
  impl.Begin(stats.name);
  impl.refusals.clear();
  absl::Status status = RunOver(pass);
  if (status.ok()) status = impl.Finish();
  if (status.ok()) status = Check();
  if (!status.ok()) {
    impl.Rollback();
    return InPass(std::move(status), stats.name);
  }
  stats.changed = impl.changed();
  stats.counters = impl.Commit();
  stats.refusals = std::exchange(impl.refusals, {});
  const InferCounters memo_after = impl.inferrer.counters();
  stats.memo_hits = memo_after.memo_hits - memo.memo_hits;
  stats.memo_misses = memo_after.memo_misses - memo.memo_misses;
  const int64_t now = NowNs();
  stats.ns = now - std::exchange(clock_ns_, now);
  if (options_.after_pass)
    TARE_RETURN_IF_ERROR(options_.after_pass(stats, impl.program, before.has_value() ? &*before : nullptr));
  return stats;
}

absl::Status PassRunner::RunOver(const Pass& pass) {
  Rewriter::Impl& impl = rw_.impl();
  const std::span<const Op> targets = pass.targets();
  return impl.Descend(GraphId{0}, [&]() -> absl::Status {
    if (!targets.empty() && !impl.session().index.AnyOf(targets)) return absl::OkStatus();
    if (pass.graph) return pass.graph->Run(rw_);
    const GraphId graph = impl.current;
    impl.StartWalk(targets);
    for (;;) {
      TARE_ASSIGN_OR_RETURN(const NodeId id, impl.NextVisit());
      if (!id.has_value()) return absl::OkStatus();
      if (!leave_.empty() && graph.index == 0 && leave_.contains(id)) continue;
      const absl::Status status = pass.rewrite->Rewrite(Node(&rw_, id), rw_);
      if (!status.ok()) return impl.Explain(status, id);
      impl.current = graph;
      impl.Sweep();
    }
  });
}

absl::Status PassRunner::Check() {
  Rewriter::Impl& impl = rw_.impl();
  if (options_.verify != VerifyWhat::kNothing) {
    llvm::SmallVector<NodeId, 64> nodes;
    for (uint32_t g = 0; g < impl.sessions.size(); ++g) {
      if (options_.verify == VerifyWhat::kAll) {
        TARE_RETURN_IF_ERROR(VerifyGraph(impl.program, GraphId{g}));
        continue;
      }
      nodes.clear();
      for (const NodeId node : impl.sessions[g].touched_list)
        if (impl.program.graphs[g].graph.Contains(node)) nodes.push_back(node);
      if (!nodes.empty()) TARE_RETURN_IF_ERROR(VerifyNodes(impl.program, GraphId{g}, nodes));
    }
  }
  if (!options_.check_meta) return absl::OkStatus();
  const CheckReport report = CheckProgram(impl.program, impl.inferrer);
  impl.inferrer.UseBodies(&impl.bodies);
  if (report.differences.empty()) return absl::OkStatus();
  const ValueDifference& first = report.differences.front();
  return CheckError(absl::StatusCode::kInternal, "replay_c3",
                    absl::StrCat(report.differences.size(), " values are not what their rules say, first ",
                                 NameOfValue(impl.program, first)));
}

absl::Status PassRunner::Finish() {
  return options_.verify == VerifyWhat::kNothing ? absl::OkStatus() : Verify(rw_.program());
}

absl::StatusOr<std::vector<PassStats>> RunPasses(Program& program, Inferrer& inferrer, std::span<const Pass> passes,
                                                 const RunOptions& options) {
  Rewriter rw(program, inferrer);
  PassRunner runner(rw, options);
  std::vector<PassStats> all;
  for (const Pass& pass : passes) {
    TARE_ASSIGN_OR_RETURN(PassStats stats, runner.Run(pass));
    all.push_back(std::move(stats));
  }
  TARE_RETURN_IF_ERROR(runner.Finish());
  return all;
}

}  // namespace tare
