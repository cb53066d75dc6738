#include "backends/tosa/integer_edge.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/integer_range.h"
#include "backends/tosa/tosa_ops.h"
#include "ir/context.h"
#include "meta/infer.h"
#include "passes/pass_list.h"
#include "passes/rewriter.h"

namespace tare {
namespace {

constexpr std::string_view kAsserts[] = {
    "aten._assert_async.default",         "aten._assert_async.msg",
    "aten._assert_scalar.default",        "aten._assert_tensor_metadata.default",
    "aten.sym_constrain_range.default",   "aten.sym_constrain_range_for_size.default",
    "aten._functional_assert_scalar.msg",
};

bool IsOf(const Program& program, NodeId node, DType dtype) {
  const MetaId id = program.main().meta(node);
  if (!id.has_value()) return false;
  const Meta& meta = program.context->metas.Get(id);
  return meta.kind == MetaKind::kTensor && meta.tensor.dtype == dtype;
}

// Whether operand `i` of the output is a result for the user.
bool IsReturned(const Program& program, size_t i) {
  return i >= program.outputs.size() || program.outputs[i].kind == OutputKind::kUser;
}

// A cast of `value` before the output; no value when the rules refuse it.
NodeId InsertCast(Program& program, Inferrer& inferrer, Op copy, NodeId value, DType dtype) {
  Context& context = *program.context;
  Graph& graph = program.main();
  const NamedAttr args[] = {{"self", AttrValue::Operand(0)}, {"dtype", AttrValue::OfDType(dtype)}};
  NodeDef def;
  def.op = copy;
  def.attrs = context.attrs.Intern(args);
  def.loc = graph.loc(value);
  def.operands = {&value, 1};
  const MetaId operands[] = {graph.meta(value)};
  const absl::StatusOr<InferResult> result = inferrer.Infer(copy, def.attrs, operands, def.quant, {});
  if (!result.ok()) return NodeId{};
  def.meta = result->meta;
  return GraphEdit(graph).InsertBefore(graph.last(), def, graph.NameOf(value));
}

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

void CastReturned(Program& program) {
  Context& context = *program.context;
  const Op copy = context.ops.Find(kCastOps[0]);
  const NodeId output = program.main().last();
  const std::vector<NodeId> values(program.main().operands(output).begin(), program.main().operands(output).end());
  const auto is_wide = [&](NodeId value) { return IsOf(program, value, DType::kI64); };
  if (!copy.has_value() || program.main().op(output) != op::output ||
      std::none_of(values.begin(), values.end(), is_wide))
    return;
  InferrerOptions options;
  options.facts = program.facts;
  const std::unique_ptr<Inferrer> inferrer = MakeInferrer(context, options);
  std::vector<std::optional<IntegerRange>> ranges;
  {
    Rewriter reading(program, *inferrer);
    ranges = IntegerRanges(reading);
  }
  Graph& graph = program.main();
  for (uint32_t i = 0; i < values.size(); ++i) {
    const std::optional<IntegerRange>& range = ranges[values[i].index];
    if (!is_wide(values[i]) || !IsReturned(program, i) || !range.has_value() || !range->fits_i32()) continue;
    NodeId value = values[i];
    for (const DType dtype : {DType::kI32, DType::kI64})
      if (value.has_value()) value = InsertCast(program, *inferrer, copy, value, dtype);
    if (value.has_value()) GraphEdit(graph).SetOperand(output, i, value);
  }
}

void MoveOutputCasts(Program& program) {
  const std::vector<Op> conversions = FindOps(*program.context, kCastOps);
  Graph& graph = program.main();
  const NodeId output = graph.last();
  if (graph.op(output) != op::output) return;
  std::vector<int> uses(graph.id_bound(), 0);
  for (const NodeId id : graph.nodes())
    for (const NodeId operand : graph.operands(id)) ++uses[operand.index];
  // What `node` casts, when it does so from one dtype to the other.
  const auto cast_of = [&](NodeId node, DType from, DType to) {
    const bool casts = std::find(conversions.begin(), conversions.end(), graph.op(node)) != conversions.end();
    if (!casts || !IsOf(program, node, to) || !IsOf(program, graph.operands(node)[0], from)) return NodeId{};
    return graph.operands(node)[0];
  };
  const auto replace = [&](uint32_t i, NodeId old, NodeId value) {
    GraphEdit(graph).SetOperand(output, i, value);
    ++uses[value.index];
    if (--uses[old.index] > 0) return;
    for (const NodeId operand : graph.operands(old)) --uses[operand.index];
    GraphEdit(graph).Erase(old);
  };
  for (uint32_t i = 0; i < graph.operands(output).size(); ++i) {
    const NodeId wide = graph.operands(output)[i];
    const NodeId narrow = IsReturned(program, i) ? cast_of(wide, DType::kI32, DType::kI64) : NodeId{};
    if (!narrow.has_value()) continue;
    replace(i, wide, narrow);
    // Of what was not narrowed the casts of CastReturned are left.
    if (const NodeId origin = cast_of(narrow, DType::kI64, DType::kI32); origin.has_value()) replace(i, narrow, origin);
  }
}

}  // namespace tare
