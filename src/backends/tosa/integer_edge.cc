#include "backends/tosa/integer_edge.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/tosa_ops.h"
#include "ir/context.h"
#include "passes/pass_list.h"

namespace tare {
namespace {

constexpr std::string_view kAsserts[] = {
    "aten._assert_async.default",         "aten._assert_async.msg",
    "aten._assert_scalar.default",        "aten._assert_tensor_metadata.default",
    "aten.sym_constrain_range.default",   "aten.sym_constrain_range_for_size.default",
    "aten._functional_assert_scalar.msg",
};

}  // namespace

void DropAsserts(Program& program) {
  const std::vector<Op> asserts = FindOps(*program.context, kAsserts);
  for (ProgramGraph& owner : program.graphs) {
    Graph& graph = owner.graph;
    absl::flat_hash_set<NodeId> used;
    for (const NodeId id : graph.nodes())
      for (const NodeId operand : graph.operands(id)) used.insert(operand);
    for (NodeId id = graph.first(); id.has_value();) {
      const NodeId next = graph.next(id);
      if (std::find(asserts.begin(), asserts.end(), graph.op(id)) != asserts.end() && !used.contains(id))
        GraphEdit(graph).Erase(id);
      id = next;
    }
  }
}

void MoveInputCasts(Program& program) {
  Context& context = *program.context;
  const std::vector<Op> conversions = FindOps(context, kCastOps);
  Graph& graph = program.main();
  std::vector<std::vector<NodeId>> users(graph.id_bound());
  for (const NodeId id : graph.nodes())
    for (const NodeId operand : graph.operands(id)) users[operand.index].push_back(id);
  const auto dtype_of = [&](NodeId id) {
    const Meta& meta = context.metas.Get(graph.meta(id));
    return meta.kind == MetaKind::kTensor ? meta.tensor.dtype : DType::kF32;
  };
  const std::vector<NodeId> inputs(graph.inputs().begin(), graph.inputs().end());
  for (size_t i = 0; i < inputs.size() && i < program.inputs.size(); ++i) {
    const std::vector<NodeId>& casts = users[inputs[i].index];
    if (program.inputs[i].kind != InputKind::kUser || casts.empty() || dtype_of(inputs[i]) != DType::kI64) continue;
    bool only = true;
    for (const NodeId user : casts) {
      const bool converts = std::find(conversions.begin(), conversions.end(), graph.op(user)) != conversions.end();
      only = only && converts && dtype_of(user) == DType::kI32;
    }
    const auto shape = StaticShape(context.metas.Get(graph.meta(inputs[i])).tensor);
    if (!only || !shape.has_value()) continue;
    Meta narrow;
    narrow.kind = MetaKind::kTensor;
    narrow.tensor = DenseMeta(context, DType::kI32, *shape);
    GraphEdit(graph).SetMeta(inputs[i], context.metas.Intern(narrow));
    for (const NodeId old : casts) {
      for (const NodeId user : users[old.index])
        for (uint32_t k = 0; k < graph.operands(user).size(); ++k)
          if (graph.operands(user)[k] == old) GraphEdit(graph).SetOperand(user, k, inputs[i]);
      GraphEdit(graph).Erase(old);
    }
  }
}

}  // namespace tare
