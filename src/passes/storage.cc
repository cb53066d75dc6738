// What shares storage with what.
#include <algorithm>
#include <iterator>

#include "ir/status.h"
#include "meta/op_names.h"
#include "passes/session.h"

namespace tare {
namespace {

// Composite ops whose result may be their input although their schema does not say so.
constexpr Op kUnannotatedAliases[] = {
    op::aten_dropout_default,
    op::aten_feature_dropout_default,
    op::aten_alpha_dropout_default,
    op::aten_type_as_default,
    op::aten_feature_alpha_dropout_default,
    op::aten_einsum_default,
    op::aten_atleast_1d_default,
    op::aten_broadcast_tensors_default,
    op::aten_atleast_2d_default,
    op::aten_atleast_3d_default,
    op::aten_meshgrid_default,
    op::aten_meshgrid_indexing,
};

// Ops that look at the storage behind their input, not at its elements.
constexpr Op kRestriding[] = {op::aten_as_strided_default, op::aten_as_strided_copy_default,
                              op::aten_as_strided_scatter_default, op::aten__reshape_alias_default,
                              op::aten__reshape_alias_copy_default};

constexpr int kMaxAliasSteps = 1 << 14;  // of one question; beyond it everything is taken to be so

}  // namespace

uint8_t Rewriter::Impl::AliasingOf(Op op) const {
  if (op.index >= aliasing.size()) aliasing.resize(context.ops.size());
  uint8_t& known = aliasing[op.index];
  if (known == 0) {
    const Schema* schema = context.ops.schema(op);
    const uint16_t traits = context.ops.Get(op).traits;
    bool may = schema == nullptr || (traits & (kView | kMutates | kHigherOrder)) != 0 || op == op::getitem;
    if (schema != nullptr)
      for (const SchemaArg& result : schema->returns) may |= result.alias != 0;
    may |=
        std::find(std::begin(kUnannotatedAliases), std::end(kUnannotatedAliases), op) != std::end(kUnannotatedAliases);
    if (op == op::placeholder || op == op::output || op == op::constant) may = false;
    known = may ? 2 : 1;
    if (std::find(std::begin(kRestriding), std::end(kRestriding), op) != std::end(kRestriding)) known |= 4;
  }
  return known;
}

// Without a schema we do not know what an op writes.
bool Rewriter::Impl::MayWrite(Op op) const {
  const uint16_t traits = context.ops.Get(op).traits;
  return (traits & kMutates) != 0 || (context.ops.schema(op) == nullptr && (traits & kPseudo) == 0);
}

// What the bodies of `owner`, and bodies in those, may do to anything they are given.
StorageUse Rewriter::Impl::UseInBodies(NodeId owner) const {
  StorageUse use;
  std::vector<GraphId> stack;
  for (const GraphId body : bodies_of[current.index])
    if (program.graphs[body.index].owner == owner) stack.push_back(body);
  // An op that is given an operator to call, and not a body.
  if (stack.empty()) use.mutated = true;
  while (!stack.empty()) {
    const GraphId body = stack.back();
    stack.pop_back();
    for (const Op op : sessions[body.index].index.Ops()) {
      use.mutated |= MayWrite(op);
      use.restrided |= IsRestriding(op);
    }
    stack.insert(stack.end(), bodies_of[body.index].begin(), bodies_of[body.index].end());
  }
  return use;
}

// Walks the values that may share storage with `node`: up to the operands of aliasing ops and down to
// their results.
StorageUse Rewriter::StorageOf(Node node) const {
  const Impl& impl = *impl_;
  const Graph& graph = impl.graph();
  StorageUse use;
  llvm::SmallVector<NodeId, 16> stack = {node.id()};
  absl::flat_hash_set<NodeId> seen = {node.id()};
  const auto reach = [&](NodeId id) {
    const MetaId meta = graph.meta(id);
    const bool holds_tensors = !meta.has_value() || impl.context.metas.Get(meta).kind == MetaKind::kTensor ||
                               impl.context.metas.Get(meta).kind == MetaKind::kTuple ||
                               impl.context.metas.Get(meta).kind == MetaKind::kList;
    if (holds_tensors && seen.insert(id).second) stack.push_back(id);
  };
  int steps = 0;
  while (!stack.empty()) {
    const NodeId id = stack.pop_back_val();
    const Op op = graph.op(id);
    if (op == op::placeholder || op == op::constant) use.from_input = true;
    if (impl.IsRestriding(op)) use.restrided = true;
    if (impl.MayAlias(op))
      for (const NodeId operand : graph.operands(id)) reach(operand);
    for (const NodeId user : impl.session().uses.Candidates(id)) {
      if (++steps > kMaxAliasSteps) return {true, true, true, true};
      if (!IsUser(graph, user, id)) continue;
      const Op user_op = graph.op(user);
      if (user_op == op::output) use.returned = true;
      if (impl.IsRestriding(user_op)) use.restrided = true;
      const uint16_t traits = impl.context.ops.Get(user_op).traits;
      if (impl.MayWrite(user_op)) use.mutated = true;
      if ((traits & kHigherOrder) != 0) {
        const StorageUse inside = impl.UseInBodies(user);
        use.mutated |= inside.mutated;
        use.restrided |= inside.restrided;
      }
      if (impl.MayAlias(user_op)) reach(user);
    }
  }
  return use;
}

bool Rewriter::CanForwardCopy(Node copy, Node source) const {
  const StorageUse of_copy = StorageOf(copy), of_source = StorageOf(source);
  if (of_copy.mutated || of_source.mutated) return false;
  return !of_copy.returned || (!of_source.from_input && !of_source.returned);
}

}  // namespace tare
