#include "tools/bench_replay.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/context.h"
#include "ir/status.h"
#include "passes/pass_manager.h"

namespace tare {
namespace {

// Looks at nodes and leaves them as they are.
class LookPass final : public RewritePass {
 public:
  explicit LookPass(std::vector<Op> targets) : targets_(std::move(targets)) {}
  std::string_view name() const override { return "bench-look"; }
  std::span<const Op> targets() const override { return targets_; }
  absl::Status Rewrite(Node node, Rewriter&) const override {
    return node.num_operands() < 0 ? absl::InternalError("") : absl::OkStatus();
  }

 private:
  std::vector<Op> targets_;
};

// A node and the argument of it that is a tensor of main.
struct Site {
  NodeId node;
  std::string argument;
};

// Puts a clone between a node and its argument.
class InsertClones final : public GraphPass {
 public:
  InsertClones(Op clone, const std::vector<Site>& sites) : clone_(clone), sites_(sites) {}
  std::string_view name() const override { return "bench-insert"; }
  std::span<const Op> targets() const override { return {}; }
  absl::Status Run(Rewriter& rw) const override {
    if (rw.graph_id().index != 0) return absl::OkStatus();
    for (const Site& site : sites_) {
      const Node node = rw.node(site.node);
      TARE_ASSIGN_OR_RETURN(const Node clone, rw.InsertBefore(node, clone_, {{"self", node.arg(site.argument)}}));
      TARE_RETURN_IF_ERROR(rw.Amend(node, {{site.argument, clone}}));
    }
    return absl::OkStatus();
  }

 private:
  Op clone_;
  const std::vector<Site>& sites_;
};

// Takes the clones out again; they are erased when their last use goes.
class RemoveClones final : public GraphPass {
 public:
  explicit RemoveClones(const std::vector<Site>& sites) : sites_(sites) {}
  std::string_view name() const override { return "bench-remove"; }
  std::span<const Op> targets() const override { return {}; }
  absl::Status Run(Rewriter& rw) const override {
    if (rw.graph_id().index != 0) return absl::OkStatus();
    for (const Site& site : sites_) {
      const Node node = rw.node(site.node);
      TARE_RETURN_IF_ERROR(rw.Amend(node, {{site.argument, node.arg(site.argument).arg("self")}}));
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<Site>& sites_;
};

// The first argument of `node` that a clone, which has the same metadata, can stand for.
std::optional<Site> SiteOf(Rewriter& rw, Op clone, Node node) {
  const Context& context = rw.context();
  const uint16_t traits = context.ops.Get(node.op()).traits;
  if ((traits & kPure) == 0 || (traits & (kMutates | kEffect | kHigherOrder | kMintsSymbols | kView)) != 0) return {};
  for (const NamedAttr& attr : context.attrs.Get(rw.graph().attrs(node.id()))) {
    if (attr.value.kind != AttrKind::kOperand) continue;
    const Node value = node.operand(static_cast<int>(attr.value.operand));
    if (!value.is_tensor()) continue;
    const auto meta = rw.Infer(clone, {{"self", value}});
    if (meta.ok() && *meta == value.meta()) return Site{node.id(), std::string(attr.name)};
  }
  return {};
}

std::vector<Site> SitesOf(Rewriter& rw, Op clone) {
  std::vector<Site> all;
  for (const NodeId id : rw.graph().nodes()) {
    if (auto site = SiteOf(rw, clone, rw.node(id))) all.push_back(*std::move(site));
  }
  const size_t wanted = std::min(std::max<size_t>(rw.graph().num_nodes() / 100, 1), all.size());
  std::vector<Site> sites;
  for (size_t i = 0; i < wanted; ++i) sites.push_back(std::move(all[i * all.size() / wanted]));
  return sites;
}

Op CommonestOp(const Program& program, int64_t& count) {
  std::vector<uint32_t> counts(program.context->ops.size());
  for (const ProgramGraph& owner : program.graphs) {
    const std::vector<uint32_t> here = owner.graph.CountOps();
    for (size_t i = 0; i < here.size(); ++i) counts[i] += here[i];
  }
  counts[op::placeholder.index] = counts[op::output.index] = 0;
  const auto most = std::max_element(counts.begin(), counts.end());
  count = *most;
  return Op{static_cast<uint16_t>(most - counts.begin())};
}

Op AbsentOp(const Program& program) {
  std::vector<bool> occurs(program.context->ops.size());
  for (const ProgramGraph& owner : program.graphs) {
    const std::vector<uint32_t> here = owner.graph.CountOps();
    for (size_t i = 0; i < here.size(); ++i) occurs[i] = occurs[i] || here[i] != 0;
  }
  return Op{static_cast<uint16_t>(std::find(occurs.begin(), occurs.end(), false) - occurs.begin())};
}

// Nanoseconds of one `work`: the best of `repeats` rounds, each of them long enough for the clock.
absl::StatusOr<double> Best(int repeats, int per_round, const std::function<absl::Status()>& work) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < per_round; ++k) TARE_RETURN_IF_ERROR(work());
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count() / per_round);
  }
  return best;
}

Pass Look(std::vector<Op> targets) {
  return Pass(std::shared_ptr<const RewritePass>(std::make_shared<const LookPass>(std::move(targets))));
}

}  // namespace

absl::StatusOr<ReplayTimes> TimeReplays(const Program& program, Inferrer& inferrer, int repeats) {
  ReplayTimes times;
  for (const ProgramGraph& owner : program.graphs) times.nodes += owner.graph.num_nodes();
  const Pass absent = Look({AbsentOp(program)});
  const Pass commonest = Look({CommonestOp(program, times.op_nodes)});
  const Pass every = Look({});
  RunOptions options;
  options.verify = VerifyWhat::kNothing;

  inferrer.UseFacts(program.facts);
  Program copy = program;
  Rewriter rw(copy, inferrer);
  PassRunner runner(rw, options);
  const auto run = [&runner](const Pass& pass) { return [&runner, &pass] { return runner.Run(pass).status(); }; };
  TARE_ASSIGN_OR_RETURN(times.skipped, Best(repeats, 10000, run(absent)));
  TARE_ASSIGN_OR_RETURN(times.unchanged, Best(repeats, 100, run(commonest)));
  TARE_ASSIGN_OR_RETURN(times.every_node, Best(repeats, 20, run(every)));

  if (const Op clone = program.context->ops.Find("aten.clone.default"); clone.has_value()) {
    const std::vector<Site> sites = SitesOf(rw, clone);
    times.changed_nodes = static_cast<int64_t>(sites.size());
    const Pass insert{std::shared_ptr<const GraphPass>(std::make_shared<const InsertClones>(clone, sites))};
    const Pass remove{std::shared_ptr<const GraphPass>(std::make_shared<const RemoveClones>(sites))};
    if (!sites.empty()) {
      TARE_ASSIGN_OR_RETURN(const double pair, Best(repeats, 4, [&]() -> absl::Status {
                              TARE_RETURN_IF_ERROR(runner.Run(insert).status());
                              return runner.Run(remove).status();
                            }));
      times.changed = pair / 2;
    }
  }
  Program other = program;
  TARE_ASSIGN_OR_RETURN(times.alone, Best(repeats, 1, [&] {
                          return RunPasses(other, inferrer, {&commonest, 1}, options).status();
                        }));
  return times;
}

}  // namespace tare
