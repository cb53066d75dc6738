#include "backends/tosa/partition.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

bool IsTosa(const Program& program, NodeId node) {
  return program.context->ops.Name(program.main().op(node)).substr(0, 5) == "tosa.";
}

// The input spec of each placeholder, by node.
absl::flat_hash_map<NodeId, const InputSpec*> SpecsOf(const Program& program) {
  absl::flat_hash_map<NodeId, const InputSpec*> specs;
  const std::span<const NodeId> inputs = program.main().inputs();
  for (size_t i = 0; i < inputs.size() && i < program.inputs.size(); ++i) specs.emplace(inputs[i], &program.inputs[i]);
  return specs;
}

}  // namespace

std::vector<Region> PartitionRegions(const Program& program, const std::vector<Outside>& outside) {
  const Graph& graph = program.main();
  std::vector<bool> left(graph.id_bound(), false);
  for (const Outside& row : outside) left[row.node.index] = true;
  const absl::flat_hash_map<NodeId, const InputSpec*> specs = SpecsOf(program);
  const auto is_constant = [&](NodeId node) {
    const auto it = specs.find(node);
    return it != specs.end() && it->second->constant.has_value();
  };
  // Steps outside that a value depends on. A node left outside is one step after its operands.
  std::vector<uint32_t> level(graph.id_bound(), 0), region_of(graph.id_bound(), UINT32_MAX);
  std::vector<Region> regions;
  for (const NodeId node : graph.nodes()) {
    const Op op = graph.op(node);
    if (op == op::placeholder) continue;
    const bool inside = IsTosa(program, node) && !left[node.index];
    uint32_t steps = 0;
    for (const NodeId operand : graph.operands(node))
      steps = std::max(steps, level[operand.index] + (!inside && region_of[operand.index] != UINT32_MAX ? 1 : 0));
    level[node.index] = steps;
    if (!inside) continue;
    region_of[node.index] = steps;
    if (steps >= regions.size()) regions.resize(steps + 1);
    regions[steps].nodes.push_back(node);
  }
  std::vector<bool> entered(graph.id_bound(), false), leaves(graph.id_bound(), false);
  for (const NodeId node : graph.nodes())
    for (const NodeId operand : graph.operands(node))
      if (region_of[operand.index] != UINT32_MAX && region_of[operand.index] != region_of[node.index])
        leaves[operand.index] = true;
  for (Region& region : regions) {
    for (const NodeId node : region.nodes) {
      for (const NodeId operand : graph.operands(node)) {
        if (region_of[operand.index] == region_of[node.index] || is_constant(operand) || entered[operand.index])
          continue;
        entered[operand.index] = true;
        region.inputs.push_back(operand);
      }
      if (leaves[node.index]) region.outputs.push_back(node);
    }
    for (const NodeId input : region.inputs) entered[input.index] = false;
    std::sort(region.inputs.begin(), region.inputs.end(), [&](NodeId a, NodeId b) { return graph.Before(a, b); });
  }
  regions.erase(std::remove_if(regions.begin(), regions.end(), [](const Region& r) { return r.nodes.empty(); }),
                regions.end());
  return regions;
}

Region RestOf(const Program& program, const std::vector<Region>& regions) {
  const Graph& graph = program.main();
  std::vector<bool> inside(graph.id_bound(), false), entered(graph.id_bound(), false), leaves(graph.id_bound(), false);
  for (const Region& region : regions)
    for (const NodeId node : region.nodes) inside[node.index] = true;
  const absl::flat_hash_map<NodeId, const InputSpec*> specs = SpecsOf(program);
  Region rest;
  const auto is_rest = [&](NodeId node) {
    const Op op = graph.op(node);
    return op != op::placeholder && op != op::output && !inside[node.index];
  };
  for (const NodeId node : graph.nodes()) {
    for (const NodeId operand : graph.operands(node))
      if (is_rest(operand) && !is_rest(node)) leaves[operand.index] = true;
    if (!is_rest(node)) continue;
    rest.nodes.push_back(node);
    for (const NodeId operand : graph.operands(node)) {
      const auto it = specs.find(operand);
      if (is_rest(operand) || entered[operand.index] || (it != specs.end() && it->second->constant.has_value()))
        continue;
      entered[operand.index] = true;
      rest.inputs.push_back(operand);
    }
  }
  for (const NodeId node : rest.nodes)
    if (leaves[node.index]) rest.outputs.push_back(node);
  return rest;
}

absl::StatusOr<Program> ExtractRegion(const Program& program, const Region& region) {
  Context& context = *program.context;
  const Graph& graph = program.main();
  const absl::flat_hash_map<NodeId, const InputSpec*> specs = SpecsOf(program);
  Program part;
  part.context = program.context;
  part.name = program.name;
  part.facts = program.facts;
  part.verifiers = program.verifiers;
  part.graphs.emplace_back();
  part.graphs[0].name = "main";
  Graph& target = part.graphs[0].graph;
  GraphEdit edit(target);
  absl::flat_hash_map<NodeId, NodeId> moved;
  std::vector<NodeId> inputs;
  const auto add_input = [&](NodeId node, InputSpec spec) {
    const NodeId made = edit.Append(
        {op::placeholder, context.attrs.Empty(), graph.meta(node), graph.quant(node), LocId{}, {}}, graph.NameOf(node));
    moved.emplace(node, made);
    inputs.push_back(made);
    part.inputs.push_back(std::move(spec));
  };
  // Constants first, as exporters write them.
  for (const NodeId node : region.nodes) {
    for (const NodeId operand : graph.operands(node)) {
      const auto it = specs.find(operand);
      if (it == specs.end() || !it->second->constant.has_value() || moved.contains(operand)) continue;
      InputSpec spec = *it->second;
      part.constants.push_back(program.constants[spec.constant.index]);
      spec.constant = ConstId{static_cast<uint32_t>(part.constants.size() - 1)};
      add_input(operand, std::move(spec));
    }
  }
  for (const NodeId input : region.inputs) add_input(input, InputSpec{});
  edit.SetInputs(inputs);
  std::vector<NodeId> operands;
  for (const NodeId node : region.nodes) {
    operands.clear();
    for (const NodeId operand : graph.operands(node)) {
      const auto it = moved.find(operand);
      if (it == moved.end())
        return CheckError(absl::StatusCode::kInternal, "tosa_partition_c1", "a region uses a value it does not have");
      operands.push_back(it->second);
    }
    moved.emplace(
        node, edit.Append({graph.op(node), graph.attrs(node), graph.meta(node), graph.quant(node), LocId{}, operands},
                          graph.NameOf(node)));
  }
  operands.clear();
  std::vector<AttrValue> values;
  std::vector<QuantParams> params;
  for (const NodeId output : region.outputs) {
    values.push_back(AttrValue::Operand(static_cast<uint32_t>(operands.size())));
    operands.push_back(moved.at(output));
    QuantParams none;
    none.storage = DType::kBool;
    const QuantRecord& record = context.quants.Get(graph.quant(output));
    params.push_back(record.has_result ? record.result : none);
    part.outputs.emplace_back();
  }
  const NamedAttr args[] = {{"args", AttrValue::List(values)}};
  QuantRecord record;
  if (std::any_of(params.begin(), params.end(), [](const QuantParams& p) { return !p.scales.empty(); }))
    record.operands = params;
  edit.Append(
      {op::output, context.attrs.Intern(args), context.metas.None(), context.quants.Intern(record), LocId{}, operands},
      "output");
  return part;
}

}  // namespace tare
