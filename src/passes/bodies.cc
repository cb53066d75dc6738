// Bodies of higher-order ops: what their owner's operands make of them.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "passes/session.h"

namespace tare {
namespace {

constexpr int kMaxBodyNesting = 64;

absl::Status TooDeep() { return InvalidError("replay_c2", "bodies are nested deeper than ", kMaxBodyNesting); }

}  // namespace

bool Rewriter::Impl::OwnsBodies(Op op, AttrsId attrs) const {
  if (!context.ops.Has(op, kHigherOrder)) return false;
  for (const NamedAttr& attr : context.attrs.Get(attrs))
    if (attr.value.kind == AttrKind::kGraph) return true;
  return false;
}

absl::Status Rewriter::Impl::FeedBodies(NodeId node, Op op, AttrsId attrs, std::span<const NodeId> operands) {
  llvm::SmallVector<MetaId, 8> metas;
  for (const NodeId operand : operands) metas.push_back(graph().meta(operand));
  const absl::StatusOr<BodyArguments> given = inferrer.InferBodyArguments(op, attrs, metas, {current.index, node});
  absl::Status status = given.status();
  if (status.ok()) KeepGuards(given->guards);
  if (status.ok() && given->bodies.empty()) {
    status = UnimplementedError("replay_c1", "the metadata of an operand changed, and what that does to the bodies of ",
                                context.ops.Name(op), " is not known");
  }
  for (size_t i = 0; status.ok() && i < given->bodies.size(); ++i)
    status = FeedBody(node, given->bodies[i].graph, given->bodies[i].inputs);
  return status.ok() ? status : Fail(Explain(status, node, op));
}

absl::Status Rewriter::Impl::FeedBody(NodeId owner, GraphId body, std::span<const MetaId> inputs) {
  const ProgramGraph* inner = body.index < program.graphs.size() ? &program.graphs[body.index] : nullptr;
  if (inner == nullptr || inner->owner != owner || inner->owner_graph != current)
    return InvalidError("replay_c2", "a body belongs to another node");
  const std::span<const NodeId> placeholders = inner->graph.inputs();
  if (placeholders.size() != inputs.size()) {
    return InvalidError("replay_c2", inputs.size(), " values for body ", inner->name, ", which takes ",
                        placeholders.size());
  }
  if (nesting == kMaxBodyNesting) return TooDeep();
  const GraphId outer = std::exchange(current, body);
  ++nesting;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_value() || inputs[i] == graph().meta(placeholders[i])) continue;
    Save();
    Touch(placeholders[i]);
    SetMeta(placeholders[i], inputs[i]);
  }
  const absl::Status status = DrainUpTo(NodeId{});
  session().owner_unaware = false;  // its owner is inferred next
  --nesting;
  current = outer;
  return status;
}

absl::Status Rewriter::Impl::Descend(GraphId id, absl::FunctionRef<absl::Status()> visit) {
  if (nesting == kMaxBodyNesting) return TooDeep();
  current = id;
  TARE_RETURN_IF_ERROR(visit());
  current = id;
  Sweep();
  session().walking = false;
  TARE_RETURN_IF_ERROR(DrainUpTo(NodeId{}));
  const std::vector<GraphId>& bodies = bodies_of[id.index];
  ++nesting;
  for (size_t i = 0; i < bodies.size();) {
    const NodeId owner = program.graphs[bodies[i].index].owner;
    bool unaware = false;
    for (; i < bodies.size() && program.graphs[bodies[i].index].owner == owner; ++i) {
      TARE_RETURN_IF_ERROR(Descend(bodies[i], visit));
      unaware |= std::exchange(sessions[bodies[i].index].owner_unaware, false);
    }
    current = id;
    if (!unaware || !graph().Contains(owner)) continue;
    session().queue.Push(graph(), owner);
    TARE_RETURN_IF_ERROR(DrainUpTo(NodeId{}));
  }
  --nesting;
  return absl::OkStatus();
}

void Rewriter::Impl::FindBodies() {
  bodies_of.resize(program.graphs.size());
  for (uint32_t g = 1; g < program.graphs.size(); ++g)
    if (const GraphId above = program.graphs[g].owner_graph; above.index < bodies_of.size())
      bodies_of[above.index].push_back(GraphId{g});
  for (size_t g = 0; g < bodies_of.size(); ++g) {
    const Graph& graph = program.graphs[g].graph;
    std::stable_sort(bodies_of[g].begin(), bodies_of[g].end(), [&](GraphId a, GraphId b) {
      return graph.Before(program.graphs[a.index].owner, program.graphs[b.index].owner);
    });
  }
}

}  // namespace tare
