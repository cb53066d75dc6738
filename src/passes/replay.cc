// Driving passes: transactions, the walk over targets, the wave of re-inference.
#include <algorithm>
#include <utility>

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
  nesting = 0;
  failure = absl::OkStatus();
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

absl::Status Rewriter::Impl::Reinfer(NodeId node) {
  const NodeDef def = graph().Def(node);
  if (def.op == op::output) {
    session().owner_unaware = true;
    return absl::OkStatus();
  }
  absl::StatusOr<InferResult> result = InferNode(def.op, def.attrs, def.operands, def.quant, node);
  if (result.ok() && result->declared) {
    result = UnimplementedError("replay_c1", "the metadata of an operand changed, and what that does to the result of ",
                                context.ops.Name(def.op), " is not known");
  }
  if (!result.ok()) return Fail(Explain(result.status(), node));
  if (context.ops.Has(def.op, kMintsSymbols)) {
    llvm::SmallVector<MetaId, 8> metas;
    for (const NodeId operand : def.operands) metas.push_back(graph().meta(operand));
    result->meta = KeepMintedSymbols(context, def.meta, result->meta, metas);
  }
  ++counters.reinferred;
  Touch(node);
  if (result->meta == def.meta) return absl::OkStatus();
  Save();
  SetMeta(node, result->meta);
  return absl::OkStatus();
}

absl::Status Rewriter::Impl::Finish() {
  if (!failure.ok()) return failure;
  return Descend(GraphId{0}, [] { return absl::OkStatus(); });
}

absl::Status Rewriter::Impl::Fail(absl::Status status) {
  if (failure.ok()) failure = status;
  return status;
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
    s.owner_unaware = false;
    s.walking = false;
  }
  if (signature_before.has_value()) {
    program.inputs = std::move(signature_before->inputs);
    if (signature_before->constants.has_value()) program.constants = *std::move(signature_before->constants);
    program.constants.resize(signature_before->num_constants);
    signature_before.reset();
    input_index.clear();
    constant_names.reset();
    pass_constants.clear();
  }
}

absl::Status Rewriter::Impl::Explain(const absl::Status& status, NodeId node, Op op) const {
  return AtNode(program, {current, node, op, pass}, status);
}

}  // namespace tare
