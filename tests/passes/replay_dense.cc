#include "replay_dense.h"

#include <algorithm>
#include <vector>

#include "ir/status.h"
#include "passes/minted.h"
#include "passes/session.h"

namespace tare {
namespace {

bool IsStated(const Context& context, const Graph& graph, NodeId node) {
  const Op op = graph.op(node);
  return op == op::placeholder || op == op::output || (context.ops.Get(op).rule < 0 && op != op::getitem);
}

bool HasBodies(const Context& context, const Graph& graph, NodeId node) {
  for (const NamedAttr& attr : context.attrs.Get(graph.attrs(node)))
    if (attr.value.kind == AttrKind::kGraph) return true;
  return false;
}

// A stated result and a body must not depend on operands that have become something else.
absl::Status CheckStated(const Program& program, const std::vector<ProgramGraph>& before) {
  for (size_t g = 0; g < before.size(); ++g) {
    const Graph &was = before[g].graph, &is = program.graphs[g].graph;
    for (const NodeId node : is.nodes()) {
      if (!IsStated(*program.context, is, node) && !HasBodies(*program.context, is, node)) continue;
      if (is.op(node) == op::output || !was.Contains(node)) continue;
      const auto old_operands = was.operands(node), operands = is.operands(node);
      for (size_t i = 0; i < operands.size() && i < old_operands.size(); ++i)
        if (was.meta(old_operands[i]) != is.meta(operands[i]))
          return UnimplementedError("replay_c1", "an operand of a stated result changed");
    }
  }
  return absl::OkStatus();
}

bool IsTarget(std::span<const Op> targets, Op op) {
  return targets.empty() || std::find(targets.begin(), targets.end(), op) != targets.end();
}

// One visit in a session of its own; `cursor` becomes the node after which the walk goes on.
absl::Status Visit(Program& program, Inferrer& inferrer, const Pass& pass, GraphId graph, NodeId node, NodeId& cursor) {
  Rewriter rw(program, inferrer);
  rw.EnterGraph(graph);
  Rewriter::Impl& impl = rw.impl();
  impl.Begin(pass.name());
  impl.session().walking = true;
  impl.session().cursor = node;
  TARE_RETURN_IF_ERROR(pass.rewrite->Rewrite(Node(&rw, node), rw));
  impl.Sweep();
  cursor = impl.session().cursor;
  impl.Commit();
  return absl::OkStatus();
}

absl::Status Replay(Program& program, Inferrer& inferrer, const Pass& pass) {
  for (uint32_t g = 0; g < program.graphs.size(); ++g) {
    if (pass.graph) {
      Rewriter rw(program, inferrer);
      rw.EnterGraph(GraphId{g});
      rw.impl().Begin(pass.name());
      TARE_RETURN_IF_ERROR(pass.graph->Run(rw));
      rw.impl().Sweep();
      rw.impl().Commit();
      TARE_RETURN_IF_ERROR(ReinferAll(program, inferrer));
      continue;
    }
    const Graph& graph = program.graphs[g].graph;
    NodeId cursor;
    for (;;) {
      NodeId next = cursor.has_value() ? graph.next(cursor) : graph.first();
      while (next.has_value() && !IsTarget(pass.targets(), graph.op(next))) next = graph.next(next);
      if (!next.has_value()) break;
      cursor = next;
      const std::vector<ProgramGraph> before = program.graphs;
      TARE_RETURN_IF_ERROR(Visit(program, inferrer, pass, GraphId{g}, next, cursor));
      if (graph.SameVersion(before[g].graph)) continue;
      TARE_RETURN_IF_ERROR(ReinferAll(program, inferrer));
      TARE_RETURN_IF_ERROR(CheckStated(program, before));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReinferAll(Program& program, Inferrer& inferrer) {
  Context& context = *program.context;
  const ProgramBodies bodies(program);
  inferrer.UseFacts(program.facts);
  inferrer.UseBodies(&bodies);
  for (uint32_t g = static_cast<uint32_t>(program.graphs.size()); g-- > 0;) {  // bodies stand behind owners
    Graph& graph = program.graphs[g].graph;
    for (const NodeId node : graph.nodes()) {
      if (IsStated(context, graph, node)) continue;
      const NodeDef def = graph.Def(node);
      std::vector<MetaId> operands;
      for (const NodeId operand : def.operands) operands.push_back(graph.meta(operand));
      absl::StatusOr<InferResult> result = inferrer.Infer(def.op, def.attrs, operands, def.quant, {g, node});
      if (!result.ok()) {
        inferrer.UseBodies(nullptr);
        return result.status();
      }
      MetaId meta = result->meta;
      if (context.ops.Has(def.op, kMintsSymbols)) meta = KeepMintedSymbols(context, def.meta, meta, operands);
      if (meta != def.meta) GraphEdit(graph).SetMeta(node, meta);
    }
  }
  inferrer.UseBodies(nullptr);
  return absl::OkStatus();
}

absl::Status ReplayDense(Program& program, Inferrer& inferrer, const Pass& pass) {
  Program copy = program;
  TARE_RETURN_IF_ERROR(Replay(copy, inferrer, pass));
  program = std::move(copy);
  return absl::OkStatus();
}

}  // namespace tare
