#include "backends/tosa/memory_order.h"

#include <string>

#include "backends/tosa/tosa_ops.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

class MemoryOrder {
 public:
  MemoryOrder(Program& program, Inferrer& inferrer, const std::vector<Outside>& outside)
      : context_(*program.context),
        inferrer_(inferrer),
        graph_(program.main()),
        clone_(context_.ops.Find("aten.clone.default")),
        states_(graph_.id_bound()),
        row_major_(graph_.id_bound()) {
    for (const NodeId node : graph_.nodes()) states_[node.index].runs = IsTosa(context_, graph_.op(node));
    for (const Outside& row : outside) states_[row.node.index].runs = false;
    const std::span<const NodeId> inputs = graph_.inputs();
    for (size_t i = 0; i < inputs.size() && i < program.inputs.size(); ++i) {
      states_[inputs[i].index].constant = program.inputs[i].constant.has_value();
      states_[inputs[i].index].input = !states_[inputs[i].index].constant;
    }
  }

  absl::Status Run() {
    for (const NodeId node : graph_.nodes())
      for (const NodeId operand : graph_.operands(node))
        if (!states_[node.index].runs) states_[operand.index].read_outside = true;
    std::vector<NodeId> nodes;
    for (const NodeId node : graph_.nodes())
      if (states_[node.index].runs) nodes.push_back(node);
    for (const NodeId node : nodes) {
      for (uint32_t i = 0; i < graph_.operands(node).size(); ++i) {
        const NodeId operand = graph_.operands(node)[i];
        if (!IsForeign(operand)) continue;
        TARE_RETURN_IF_ERROR(Settle(operand, node));
        GraphEdit(graph_).SetOperand(node, i, row_major_[operand.index]);
      }
    }
    return absl::OkStatus();
  }

 private:
  struct State {
    bool runs = false;  // on the target
    bool constant = false, input = false, read_outside = false;
  };

  // In another order, and not made by the target.
  bool IsForeign(NodeId value) const {
    if (states_[value.index].runs || states_[value.index].constant) return false;
    if (graph_.op(value) == op::getitem && states_[graph_.operands(value)[0].index].runs) return false;
    const Meta& meta = context_.metas.Get(graph_.meta(value));
    return meta.kind == MetaKind::kTensor && meta.tensor.layout == Layout::kStrided &&
           !IsContiguous(context_, meta.tensor);
  }

  absl::Status Settle(NodeId value, NodeId before) {
    NodeId& settled = row_major_[value.index];
    if (settled.has_value()) return absl::OkStatus();
    const NamedAttr args[] = {
        {"self", AttrValue::Operand(0)},
        {"memory_format", AttrValue::OfMemoryFormat(MemoryFormat::kContiguous)},
    };
    const AttrsId attrs = context_.attrs.Intern(args);
    const MetaId operand[] = {graph_.meta(value)};
    TARE_ASSIGN_OR_RETURN(const InferResult result, inferrer_.Infer(clone_, attrs, operand, graph_.quant(value), {}));
    settled = value;
    if (states_[value.index].input && !states_[value.index].read_outside) {
      GraphEdit(graph_).SetMeta(value, result.meta);
      return absl::OkStatus();
    }
    const NodeId operands[] = {value};
    const std::string name(graph_.mutable_lineage().UniqueName("clone"));
    settled = GraphEdit(graph_).InsertBefore(
        before, {clone_, attrs, result.meta, QuantId{0}, graph_.loc(value), operands}, name);
    return absl::OkStatus();
  }

  Context& context_;
  Inferrer& inferrer_;
  Graph& graph_;
  const Op clone_;
  std::vector<State> states_;      // by node that was there before
  std::vector<NodeId> row_major_;  // of a foreign value
};

}  // namespace

absl::Status SettleMemoryOrder(Program& program, Inferrer& inferrer, const std::vector<Outside>& outside) {
  return MemoryOrder(program, inferrer, outside).Run();
}

}  // namespace tare
