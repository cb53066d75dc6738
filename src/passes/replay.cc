// Driving passes: transactions, the walk over targets, the wave of re-inference.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "ir/explain.h"
#include "ir/status.h"
#include "ir/text.h"
#include "passes/minted.h"
#include "passes/session.h"

namespace tare {
namespace {

bool Contains(std::span<const Op> ops, Op op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

}  // namespace

void Rewriter::Impl::Begin(std::string_view pass_name) {
  pass = pass_name;
  counters = {};
}

void Rewriter::Impl::StartWalk(std::span<const Op> targets) {
  GraphSession& s = session();
  s.targets = targets;
  s.walking = true;
  s.pending.clear();
  s.next_pending = 0;
  s.arrivals.Clear();
  s.cursor = NodeId{};
  if (targets.empty()) return;
  s.index.Nodes(graph(), targets, s.pending);
  const auto before = [&](NodeId a, NodeId b) { return graph().Before(a, b); };
  if (!std::is_sorted(s.pending.begin(), s.pending.end(), before))
    std::sort(s.pending.begin(), s.pending.end(), before);
}

void Rewriter::Impl::Arrive(NodeId node) {
  GraphSession& s = session();
  if (!s.walking || s.targets.empty() || !Contains(s.targets, graph().op(node))) return;
  if (s.cursor.has_value() && !graph().Before(s.cursor, node)) return;
  s.arrivals.Grow(graph().id_bound());
  s.arrivals.Push(graph(), node);
}

absl::StatusOr<NodeId> Rewriter::Impl::NextVisit() {
  GraphSession& s = session();
  const auto is_due = [&](NodeId n) {
    return graph().Contains(n) && Contains(s.targets, graph().op(n)) &&
           (!s.cursor.has_value() || graph().Before(s.cursor, n));
  };
  NodeId next;
  if (s.targets.empty()) {
    next = s.cursor.has_value() ? graph().next(s.cursor) : graph().first();
  } else {
    while (s.next_pending < s.pending.size() && !is_due(s.pending[s.next_pending])) ++s.next_pending;
    if (s.next_pending < s.pending.size()) next = s.pending[s.next_pending];
    while (!s.arrivals.empty() && !is_due(s.arrivals.top())) s.arrivals.Pop(graph());
    if (!s.arrivals.empty() && (!next.has_value() || graph().Before(s.arrivals.top(), next))) next = s.arrivals.top();
  }
  const absl::Status drained = DrainUpTo(next);
  if (!drained.ok()) return drained;
  if (!next.has_value()) {
    s.walking = false;
    return next;
  }
  s.cursor = next;
  ++counters.visited;
  return next;
}

absl::Status Rewriter::Impl::DrainUpTo(NodeId last) {
  NodeQueue& queue = session().queue;
  while (!queue.empty() && (!last.has_value() || !graph().Before(last, queue.top())))
    TARE_RETURN_IF_ERROR(Reinfer(queue.Pop(graph())));
  return absl::OkStatus();
}

absl::Status Rewriter::Impl::ReinferAs(NodeId node, Reason reason) {
  const NodeDef def = graph().Def(node);
  if (def.op == op::output) return absl::OkStatus();
  absl::StatusOr<InferResult> result = InferResultOf(def.op, def.attrs, def.operands, def.quant, node);
  const bool unknown_inside = reason == Reason::kOperand && HasBodies(def);
  if (result.ok() && (unknown_inside || result->declared)) {
    result =
        UnimplementedError("replay_c1", "the metadata of an operand changed, and what that does to ",
                           unknown_inside ? "a body of " : "the result of ", context.ops.Name(def.op), " is not known");
  }
  if (!result.ok()) return Explain(result.status(), node);
  if (context.ops.Has(def.op, kMintsSymbols)) {
    llvm::SmallVector<MetaId, 8> operands;
    for (const NodeId operand : def.operands) operands.push_back(graph().meta(operand));
    result->meta = KeepMintedSymbols(context, def.meta, result->meta, operands);
  }
  ++counters.reinferred;
  Touch(node);
  if (result->meta == def.meta) return absl::OkStatus();
  Save();
  SetMeta(node, result->meta);
  return absl::OkStatus();
}

bool Rewriter::Impl::HasBodies(const NodeDef& def) const {
  if (!context.ops.Has(def.op, kHigherOrder)) return false;
  for (const NamedAttr& attr : context.attrs.Get(def.attrs))
    if (attr.value.kind == AttrKind::kGraph) return true;
  return false;
}

// Inner graphs first, since what a body returns is metadata of its owner.
absl::Status Rewriter::Impl::Finish() {
  std::vector<std::pair<int, uint32_t>> order;  // depth, graph
  for (uint32_t g = 0; g < sessions.size(); ++g) {
    int depth = 0;
    for (GraphId at{g}; program.graphs[at.index].owner_graph.has_value() && depth <= static_cast<int>(sessions.size());
         at = program.graphs[at.index].owner_graph)
      ++depth;
    order.push_back({-depth, g});
  }
  std::sort(order.begin(), order.end());
  absl::Status status;
  for (const auto& [depth, g] : order) {
    current = GraphId{g};
    Sweep();
    session().walking = false;
    status = DrainUpTo(NodeId{});
    if (status.ok()) status = TellOwner(GraphId{g});
    if (!status.ok()) break;
  }
  if (status.ok()) current = GraphId{0};
  return status;
}

absl::Status Rewriter::Impl::TellOwner(GraphId body) {
  const ProgramGraph& inner = program.graphs[body.index];
  if (!inner.owner_graph.has_value() || !sessions[body.index].edited) return absl::OkStatus();
  const Graph &was = *sessions[body.index].before, &is = inner.graph;
  const std::span<const NodeId> old_results = was.operands(was.last()), results = is.operands(is.last());
  bool same = old_results.size() == results.size();
  for (size_t i = 0; same && i < results.size(); ++i) same = was.meta(old_results[i]) == is.meta(results[i]);
  current = inner.owner_graph;
  if (same || !graph().Contains(inner.owner)) return absl::OkStatus();
  return ReinferAs(inner.owner, Reason::kBody);
}

bool Rewriter::Impl::changed() const {
  if (signature_before.has_value()) return true;
  for (size_t g = 0; g < sessions.size(); ++g)
    if (sessions[g].edited && !program.graphs[g].graph.SameVersion(*sessions[g].before)) return true;
  return false;
}

PassCounters Rewriter::Impl::Commit() {
  counters.cold = 0;
  for (size_t g = 0; g < sessions.size(); ++g) {
    GraphSession& s = sessions[g];
    const Graph& graph = program.graphs[g].graph;
    counters.cold += graph.num_nodes() - s.index.count(op::placeholder) - s.index.count(op::output);
    for (const NodeId node : s.touched_list) {
      s.touched[node.index / 64] &= ~(uint64_t{1} << (node.index % 64));
      if (graph.Contains(node) && graph.op(node) != op::placeholder) --counters.cold;
    }
    s.touched_list.clear();
    if (s.edited) s.before->Follow(graph);
    s.edited = false;
    s.walking = false;
  }
  signature_before.reset();
  return counters;
}

void Rewriter::Impl::Rollback() {
  for (uint32_t g = 0; g < sessions.size(); ++g) {
    GraphSession& s = sessions[g];
    if (s.edited) {
      program.graphs[g].graph = *s.before;
      BuildSession(GraphId{g});
      continue;
    }
    for (const NodeId node : s.touched_list) s.touched[node.index / 64] &= ~(uint64_t{1} << (node.index % 64));
    s.touched_list.clear();
    s.orphans.clear();
    s.queue.Clear();
    s.walking = false;
  }
  if (signature_before.has_value()) {
    program.inputs = std::move(signature_before->inputs);
    program.constants.resize(signature_before->num_constants);
    signature_before.reset();
    input_index.clear();
    pass_constants.clear();
  }
}

absl::Status Rewriter::Impl::Explain(const absl::Status& status, NodeId node, Op op) const {
  return AtNode(program, {current, node, op, pass}, status);
}

}  // namespace tare
