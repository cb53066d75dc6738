#include "ir/verify.h"

#include <string>

#include "ir/context.h"
#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {
namespace {

template <typename... Parts>
absl::Status Broken(const Program& program, GraphId graph, NodeId node, std::string_view check_id,
                    const Parts&... parts) {
  const ProgramGraph& body = program.graphs[graph.index];
  return WithNode(InvalidError(check_id, program.context->ops.Name(body.graph.op(node)), ": ", parts..., "\n  at %",
                               body.graph.NameOf(node), " of graph ", std::string_view(body.name)),
                  node);
}

// Metadata within the limits: rank, negative extents and strides, number of elements.
absl::Status CheckMeta(const Context& context, MetaId root) {
  llvm::SmallVector<MetaId, 8> open = {root};
  while (!open.empty()) {
    const Meta& meta = context.metas.Get(open.pop_back_val());
    open.append(meta.items.begin(), meta.items.end());
    if (meta.kind != MetaKind::kTensor) continue;
    const TensorMeta& tensor = meta.tensor;
    if (tensor.shape.size() > kMaxRank)
      return InvalidError("verify_c5", "rank ", tensor.shape.size(), " exceeds ", kMaxRank);
    if (tensor.strides.size() != tensor.shape.size()) {
      return InvalidError("verify_c5", tensor.strides.size(), " strides for rank ", tensor.shape.size());
    }
    int64_t elements = 1;
    bool overflow = false, empty = false;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      for (const Dim dim : {tensor.shape[i], tensor.strides[i]}) {
        if (!dim.is_valid()) return InvalidError("verify_c5", "an extent or stride overflows 64 bits");
        if (const auto constant = context.syms.Constant(dim); constant && *constant < 0) {
          return InvalidError("verify_c5", "negative extent or stride ", *constant);
        }
      }
      if (!tensor.shape[i].is_static()) continue;
      empty |= tensor.shape[i].value() == 0;
      overflow |= __builtin_mul_overflow(elements, tensor.shape[i].value(), &elements);
    }
    if ((overflow || elements > kMaxElements) && !empty) {
      return InvalidError("verify_c5", "the number of elements overflows");
    }
  }
  return absl::OkStatus();
}

// Highest operand index an argument names, and every body.
struct ArgUse {
  int64_t operands = 0;
  llvm::SmallVector<GraphId, 2> bodies;
  bool out_of_range = false;
};
void Collect(const AttrValue& root, size_t num_operands, ArgUse& use) {
  llvm::SmallVector<const AttrValue*, 16> open = {&root};
  while (!open.empty()) {
    const AttrValue& value = *open.pop_back_val();
    if (value.kind == AttrKind::kOperand) {
      ++use.operands;
      use.out_of_range |= value.operand >= num_operands;
    } else if (value.kind == AttrKind::kGraph) {
      use.bodies.push_back(value.graph);
    } else if (value.kind == AttrKind::kList || value.kind == AttrKind::kDict) {
      for (const AttrValue& item : value.items()) open.push_back(&item);
    }
  }
}

absl::Status VerifyNode(const Program& program, GraphId graph_id, NodeId node) {
  const Context& context = *program.context;
  const Graph& graph = program.graphs[graph_id.index].graph;
  const NodeDef def = graph.Def(node);
  const auto broken = [&](std::string_view id, const auto&... parts) {
    return Broken(program, graph_id, node, id, parts...);
  };
  if (!def.meta.has_value()) return broken("verify_c4", "has no metadata");
  if (const absl::Status status = CheckMeta(context, def.meta); !status.ok()) return WithNode(status, node);
  for (const NodeId operand : def.operands) {
    if (!graph.Contains(operand)) return broken("verify_c1", "an operand is not in the graph");
    if (!graph.Before(operand, node))
      return broken("verify_c1", "operand %", graph.NameOf(operand), " is defined later");
  }
  ArgUse use;
  for (const NamedAttr& attr : context.attrs.Get(def.attrs)) Collect(attr.value, def.operands.size(), use);
  if (use.out_of_range || (use.operands == 0) != def.operands.empty()) {
    return broken("verify_c2", def.operands.size(), " operands do not match its arguments");
  }
  for (const GraphId body : use.bodies) {
    if (body.index >= program.graphs.size()) return broken("verify_c3", "a body is not in the program");
    const ProgramGraph& owned = program.graphs[body.index];
    if (owned.owner != node || owned.owner_graph != graph_id) {
      return broken("verify_c3", "body ", std::string_view(owned.name), " has another owner");
    }
  }
  if (const Schema* schema = context.ops.schema(def.op); schema != nullptr && !schema->variadic) {
    for (const NamedAttr& attr : context.attrs.Get(def.attrs)) {
      if (schema->IndexOf(attr.name) < 0) return broken("verify_c2", "has no argument ", attr.name);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyNodes(const Program& program, GraphId graph, std::span<const NodeId> nodes) {
  for (const NodeId node : nodes) {
    if (!program.graphs[graph.index].graph.Contains(node)) continue;
    TARE_RETURN_IF_ERROR(VerifyNode(program, graph, node));
  }
  return absl::OkStatus();
}

absl::Status VerifyGraph(const Program& program, GraphId id) {
  const Graph& graph = program.graphs[id.index].graph;
  if (graph.num_nodes() == 0 || graph.op(graph.last()) != op::output) {
    return InvalidError("verify_c6", "graph ", std::string_view(program.graphs[id.index].name),
                        " does not end in its output");
  }
  size_t leading = 0, inputs = 0, count = 0;
  for (const NodeId node : graph.nodes()) {
    const bool is_input = graph.op(node) == op::placeholder;
    if (is_input && inputs == count) ++leading;
    inputs += is_input;
    ++count;
    if (graph.op(node) == op::output && node != graph.last())
      return Broken(program, id, node, "verify_c6", "is not last");
    TARE_RETURN_IF_ERROR(VerifyNode(program, id, node));
  }
  if (leading != inputs || graph.inputs().size() != inputs) {
    return InvalidError("verify_c6", "inputs of graph ", std::string_view(program.graphs[id.index].name),
                        " are not first");
  }
  return absl::OkStatus();
}

absl::Status Verify(const Program& program) {
  if (program.graphs.empty()) return InvalidError("verify_c6", "the program has no graph");
  for (uint32_t i = 0; i < program.graphs.size(); ++i) TARE_RETURN_IF_ERROR(VerifyGraph(program, GraphId{i}));
  const Graph& main = program.main();
  if (program.inputs.size() != main.inputs().size()) {
    return InvalidError("verify_c7", program.inputs.size(), " input specifications for ", main.inputs().size(),
                        " inputs");
  }
  for (const InputSpec& spec : program.inputs) {
    if (spec.constant.has_value() && spec.constant.index >= program.constants.size()) {
      return InvalidError("verify_c7", "constant ", std::string_view(spec.target), " is not in the program");
    }
  }
  const auto returned = program.context->attrs.Get(main.attrs(main.last()));
  const size_t outputs = returned.empty()                            ? 0
                         : returned[0].value.kind == AttrKind::kInts ? returned[0].value.ints().size()
                                                                     : returned[0].value.items().size();
  if (program.outputs.size() != outputs) {
    return InvalidError("verify_c7", program.outputs.size(), " output specifications for ", outputs, " outputs");
  }
  return absl::OkStatus();
}

}  // namespace tare
