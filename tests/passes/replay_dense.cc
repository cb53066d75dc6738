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

std::vector<GraphId> BodiesOf(const Program& program, GraphId graph, NodeId node) {
  std::vector<GraphId> bodies;
  for (uint32_t g = 0; g < program.graphs.size(); ++g)
    if (program.graphs[g].owner_graph == graph && program.graphs[g].owner == node) bodies.push_back(GraphId{g});
  return bodies;
}

std::vector<MetaId> ResultsOf(const Graph& graph) {
  std::vector<MetaId> metas;
  for (const NodeId result : graph.operands(graph.last())) metas.push_back(graph.meta(result));
  return metas;
}

// A stated result must not depend on operands or bodies that have become something else.
absl::Status CheckStated(const Program& program, const std::vector<ProgramGraph>& before) {
  for (size_t g = 0; g < before.size(); ++g) {
    const Graph &was = before[g].graph, &is = program.graphs[g].graph;
    for (const NodeId node : is.nodes()) {
      if (!IsStated(*program.context, is, node) || is.op(node) == op::output || !was.Contains(node)) continue;
      for (const GraphId body : BodiesOf(program, GraphId{static_cast<uint32_t>(g)}, node))
        if (ResultsOf(before[body.index].graph) != ResultsOf(program.graphs[body.index].graph))
          return UnimplementedError("replay_c1", "a body of a stated result changed");
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

bool IsAround(const Program& program, GraphId inside, GraphId graph, NodeId node) {
  for (GraphId at = inside; at.has_value(); at = program.graphs[at.index].owner_graph)
    if (program.graphs[at.index].owner_graph == graph && program.graphs[at.index].owner == node) return true;
  return false;
}

// Every value of a graph and, before their owners, of its bodies. What owners of `inside`, a body that
// is being changed, and of bodies around it give stays as it is.
absl::Status ReinferGraph(Program& program, Inferrer& inferrer, GraphId id, GraphId inside) {
  Context& context = *program.context;
  Graph& graph = program.graphs[id.index].graph;
  for (const NodeId node : graph.nodes()) {
    const NodeDef def = graph.Def(node);
    std::vector<MetaId> operands;
    for (const NodeId operand : def.operands) operands.push_back(graph.meta(operand));
    TARE_ASSIGN_OR_RETURN(const BodyArguments given,
                          inferrer.InferBodyArguments(def.op, def.attrs, operands, {id.index, node}));
    for (const GraphId body : given.bodies.empty() ? BodiesOf(program, id, node) : std::vector<GraphId>())
      TARE_RETURN_IF_ERROR(ReinferGraph(program, inferrer, body, inside));
    for (const BodyArguments::Body& body : given.bodies) {
      Graph& inner = program.graphs[body.graph.index].graph;
      if (inner.inputs().size() != body.inputs.size()) return InvalidError("replay_c2", "another number of inputs");
      for (size_t i = 0; i < body.inputs.size(); ++i)
        if (body.inputs[i].has_value()) GraphEdit(inner).SetMeta(inner.inputs()[i], body.inputs[i]);
      TARE_RETURN_IF_ERROR(ReinferGraph(program, inferrer, body.graph, inside));
    }
    if (IsStated(context, graph, node) || IsAround(program, inside, id, node)) continue;
    TARE_ASSIGN_OR_RETURN(const InferResult result,
                          inferrer.Infer(def.op, def.attrs, operands, def.quant, {id.index, node}));
    MetaId meta = result.meta;
    if (context.ops.Has(def.op, kMintsSymbols)) meta = KeepMintedSymbols(context, def.meta, meta, operands);
    if (meta != def.meta) GraphEdit(graph).SetMeta(node, meta);
  }
  return absl::OkStatus();
}

absl::Status Reinfer(Program& program, Inferrer& inferrer, GraphId inside) {
  const ProgramBodies bodies(program);
  inferrer.UseFacts(program.facts);
  inferrer.UseBodies(&bodies);
  const absl::Status status = ReinferGraph(program, inferrer, GraphId{0}, inside);
  inferrer.UseBodies(nullptr);
  return status;
}

absl::Status ReplayGraph(Program& program, Inferrer& inferrer, const Pass& pass, GraphId id) {
  if (pass.graph) {
    Rewriter rw(program, inferrer);
    rw.EnterGraph(id);
    rw.impl().Begin(pass.name());
    TARE_RETURN_IF_ERROR(pass.graph->Run(rw));
    rw.impl().Sweep();
    rw.impl().Commit();
    return Reinfer(program, inferrer, id);
  }
  const Graph& graph = program.graphs[id.index].graph;
  NodeId cursor;
  for (;;) {
    NodeId next = cursor.has_value() ? graph.next(cursor) : graph.first();
    while (next.has_value() && !IsTarget(pass.targets(), graph.op(next))) next = graph.next(next);
    if (!next.has_value()) return absl::OkStatus();
    cursor = next;
    const std::vector<ProgramGraph> before = program.graphs;
    TARE_RETURN_IF_ERROR(Visit(program, inferrer, pass, id, next, cursor));
    if (graph.SameVersion(before[id.index].graph)) continue;
    TARE_RETURN_IF_ERROR(Reinfer(program, inferrer, id));
    TARE_RETURN_IF_ERROR(CheckStated(program, before));
  }
}

// A graph, then its bodies by owner; an owner is inferred again when all its bodies are done.
absl::Status Replay(Program& program, Inferrer& inferrer, const Pass& pass, GraphId id) {
  TARE_RETURN_IF_ERROR(ReplayGraph(program, inferrer, pass, id));
  std::vector<NodeId> nodes;
  for (const NodeId node : program.graphs[id.index].graph.nodes()) nodes.push_back(node);
  for (const NodeId node : nodes) {
    const std::vector<GraphId> bodies = BodiesOf(program, id, node);
    if (bodies.empty()) continue;
    const std::vector<ProgramGraph> before = program.graphs;
    for (const GraphId body : bodies) TARE_RETURN_IF_ERROR(Replay(program, inferrer, pass, body));
    TARE_RETURN_IF_ERROR(Reinfer(program, inferrer, id));
    TARE_RETURN_IF_ERROR(CheckStated(program, before));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReinferAll(Program& program, Inferrer& inferrer) { return Reinfer(program, inferrer, GraphId{}); }

absl::Status ReplayDense(Program& program, Inferrer& inferrer, const Pass& pass) {
  Program copy = program;
  TARE_RETURN_IF_ERROR(Replay(copy, inferrer, pass, GraphId{0}));
  program = std::move(copy);
  return absl::OkStatus();
}

}  // namespace tare
