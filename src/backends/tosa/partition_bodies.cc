#include "backends/tosa/partition_bodies.h"

#include <vector>

#include "ir/context.h"
#include "ir/status.h"

namespace tare {

absl::Status TakeBodies(const Program& program, Program& part) {
  Context& context = *program.context;
  std::vector<uint32_t> constants(program.constants.size(), UINT32_MAX);
  // Bodies are appended while the loop runs, and are looked at in their turn.
  for (uint32_t g = 0; g < part.graphs.size(); ++g) {
    std::vector<NodeId> nodes;
    for (const NodeId node : part.graphs[g].graph.nodes()) nodes.push_back(node);
    for (const NodeId node : nodes) {
      const bool constant = g > 0 && part.graphs[g].graph.op(node) == op::constant;
      std::vector<NamedAttr> attrs;
      bool changed = false;
      for (NamedAttr attr : context.attrs.Get(part.graphs[g].graph.attrs(node))) {
        if (attr.value.kind == AttrKind::kGraph) {
          const uint32_t from = attr.value.graph.index;
          if (from == 0 || from >= program.graphs.size())
            return CheckError(absl::StatusCode::kInternal, "tosa_partition_c3", "a node names a body that is none");
          attr.value = AttrValue::OfGraph(GraphId{static_cast<uint32_t>(part.graphs.size())});
          part.graphs.push_back(program.graphs[from]);
          part.graphs.back().owner_graph = GraphId{g};
          part.graphs.back().owner = node;
          changed = true;
        } else if (constant && attr.value.kind == AttrKind::kInt) {
          if (attr.value.integer < 0 || attr.value.integer >= static_cast<int64_t>(constants.size()))
            return CheckError(absl::StatusCode::kInternal, "tosa_partition_c3", "a body names a constant that is none");
          uint32_t& to = constants[static_cast<size_t>(attr.value.integer)];
          if (to == UINT32_MAX) {
            to = static_cast<uint32_t>(part.constants.size());
            part.constants.push_back(program.constants[static_cast<size_t>(attr.value.integer)]);
          }
          attr.value = AttrValue::Int(to);
          changed = true;
        }
        attrs.push_back(attr);
      }
      if (!changed) continue;
      Graph& graph = part.graphs[g].graph;
      NodeDef def = graph.Def(node);
      const std::vector<NodeId> operands(def.operands.begin(), def.operands.end());
      def.operands = operands;
      def.attrs = context.attrs.Intern(attrs);
      GraphEdit(graph).SetDef(node, def);
    }
  }
  return absl::OkStatus();
}

}  // namespace tare
