#include "backends/tosa/boundary.h"

#include <optional>
#include <vector>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

const NamedAttr* FindAttr(const Context& context, const Graph& graph, NodeId node, std::string_view name) {
  for (const NamedAttr& attr : context.attrs.Get(graph.attrs(node)))
    if (attr.name == name) return &attr;
  return nullptr;
}

std::optional<double> NumberOf(const NamedAttr* attr) {
  if (attr == nullptr) return std::nullopt;
  if (attr->value.kind == AttrKind::kInt) return static_cast<double>(attr->value.integer);
  if (attr->value.kind == AttrKind::kFloat) return attr->value.real;
  return std::nullopt;
}

// Per-tensor parameters given as numbers.
std::optional<Affine> ReadPerTensor(const Context& context, const Graph& graph, NodeId node) {
  const auto number = [&](std::string_view name) { return NumberOf(FindAttr(context, graph, node, name)); };
  const std::optional<double> scale = number("scale"), zero_point = number("zero_point"), qmin = number("quant_min"),
                              qmax = number("quant_max");
  const NamedAttr* dtype = FindAttr(context, graph, node, "dtype");
  if (!scale.has_value() || !(*scale > 0) || !zero_point.has_value() || !qmin.has_value() || !qmax.has_value() ||
      dtype == nullptr || dtype->value.kind != AttrKind::kDType)
    return std::nullopt;
  return Affine{
      dtype->value.dtype,         -1, {*scale}, {static_cast<int64_t>(*zero_point)}, static_cast<int64_t>(*qmin),
      static_cast<int64_t>(*qmax)};
}

std::vector<std::vector<NodeId>> UsersOf(const Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.id_bound());
  for (const NodeId id : graph.nodes())
    for (const NodeId operand : graph.operands(id))
      if (users[operand.index].empty() || users[operand.index].back() != id) users[operand.index].push_back(id);
  return users;
}

void ReplaceOperand(Graph& graph, NodeId user, NodeId old, NodeId value) {
  const size_t count = graph.operands(user).size();
  for (uint32_t i = 0; i < count; ++i)
    if (graph.operands(user)[i] == old) GraphEdit(graph).SetOperand(user, i, value);
}

void MoveInputs(Program& program, Op quantize) {
  Context& context = *program.context;
  Graph& graph = program.main();
  const std::vector<std::vector<NodeId>> users = UsersOf(graph);
  const std::vector<NodeId> inputs(graph.inputs().begin(), graph.inputs().end());
  for (size_t i = 0; i < inputs.size() && i < program.inputs.size(); ++i) {
    if (program.inputs[i].kind != InputKind::kUser || users[inputs[i].index].empty()) continue;
    std::optional<Affine> first;
    bool same = true;
    for (const NodeId user : users[inputs[i].index]) {
      const std::optional<Affine> affine =
          graph.op(user) == quantize ? ReadPerTensor(context, graph, user) : std::nullopt;
      same = same && affine.has_value() && (!first.has_value() || *first == *affine);
      if (affine.has_value() && !first.has_value()) first = affine;
    }
    if (!same || !first.has_value()) continue;
    const Meta& meta = context.metas.Get(graph.meta(inputs[i]));
    const auto shape = meta.kind == MetaKind::kTensor ? StaticShape(meta.tensor) : std::nullopt;
    if (!shape.has_value()) continue;
    NodeDef def = graph.Def(inputs[i]);
    Meta integers;
    integers.kind = MetaKind::kTensor;
    integers.tensor = DenseMeta(context, first->storage, *shape);
    def.meta = context.metas.Intern(integers);
    QuantRecord record;
    record.has_result = true;
    record.result = first->Params();
    def.quant = context.quants.Intern(record);
    def.operands = {};
    GraphEdit(graph).SetDef(inputs[i], def);
    for (const NodeId old : users[inputs[i].index]) {
      for (const NodeId user : users[old.index]) ReplaceOperand(graph, user, old, inputs[i]);
      GraphEdit(graph).Erase(old);
    }
  }
}

void MoveOutputs(Program& program, Op dequantize) {
  Context& context = *program.context;
  Graph& graph = program.main();
  const NodeId output = graph.last();
  const std::vector<NodeId> operands(graph.operands(output).begin(), graph.operands(output).end());
  std::vector<std::optional<Affine>> affines(operands.size());
  bool any = false;
  for (uint32_t i = 0; i < operands.size(); ++i) {
    if (graph.op(operands[i]) != dequantize) continue;
    affines[i] = ReadPerTensor(context, graph, operands[i]);
    if (!affines[i].has_value()) continue;
    any = true;
    GraphEdit(graph).SetOperand(output, i, graph.operands(operands[i])[0]);
  }
  if (!any) return;
  std::vector<QuantParams> params;
  for (const std::optional<Affine>& affine : affines) {
    QuantParams none;
    none.storage = DType::kBool;
    params.push_back(affine.has_value() ? affine->Params() : none);
  }
  QuantRecord record;
  record.operands = params;
  NodeDef def = graph.Def(output);
  const std::vector<NodeId> kept(def.operands.begin(), def.operands.end());
  def.operands = kept;
  def.quant = context.quants.Intern(record);
  GraphEdit(graph).SetDef(output, def);
}

}  // namespace

absl::Status MoveBoundary(Program& program) {
  const Context& context = *program.context;
  const Op quantize = context.ops.Find("quantized_decomposed.quantize_per_tensor.default");
  const Op dequantize = context.ops.Find("quantized_decomposed.dequantize_per_tensor.default");
  if (!quantize.has_value() || !dequantize.has_value()) return absl::OkStatus();
  MoveOutputs(program, dequantize);
  MoveInputs(program, quantize);
  return absl::OkStatus();
}

void DropUnusedInputs(Program& program) {
  const Context& context = *program.context;
  Graph& graph = program.main();
  std::vector<bool> used(graph.id_bound(), false);
  bool numbered = false;  // some node names a constant by its number: then all keep theirs
  for (const NodeId id : graph.nodes()) {
    numbered = numbered || graph.op(id) == op::constant;
    for (const NodeId operand : graph.operands(id)) used[operand.index] = true;
  }
  for (size_t g = 1; g < program.graphs.size(); ++g)
    for (const NodeId id : program.graphs[g].graph.nodes())
      numbered = numbered || program.graphs[g].graph.op(id) == op::constant;
  const auto is_dropped = [&](const InputSpec& spec, NodeId input) {
    if (used[input.index]) return false;
    if (spec.constant.has_value()) return !numbered;
    const MetaId meta = graph.meta(input);
    return !meta.has_value() || context.metas.Get(meta).kind != MetaKind::kTensor;
  };
  std::vector<NodeId> kept_inputs;
  std::vector<InputSpec> kept_specs;
  std::vector<Constant> kept_constants;
  const std::vector<NodeId> inputs(graph.inputs().begin(), graph.inputs().end());
  std::vector<uint32_t> renumbered(program.constants.size(), UINT32_MAX);
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputSpec spec = program.inputs[i];
    if (is_dropped(spec, inputs[i])) {
      GraphEdit(graph).Erase(inputs[i]);
      continue;
    }
    if (spec.constant.has_value() && !numbered) {
      uint32_t& number = renumbered[spec.constant.index];
      if (number == UINT32_MAX) {
        number = static_cast<uint32_t>(kept_constants.size());
        kept_constants.push_back(std::move(program.constants[spec.constant.index]));
      }
      spec.constant = ConstId{number};
    }
    kept_inputs.push_back(inputs[i]);
    kept_specs.push_back(std::move(spec));
  }
  GraphEdit(graph).SetInputs(kept_inputs);
  program.inputs = std::move(kept_specs);
  if (!numbered) program.constants = std::move(kept_constants);
}

}  // namespace tare
