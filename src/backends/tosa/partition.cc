#include "backends/tosa/partition.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/tosa/partition_bodies.h"
#include "backends/tosa/tosa_ops.h"
#include "ir/context.h"
#include "ir/json_text.h"
#include "ir/status.h"

namespace tare {
namespace {

bool IsTosa(const Program& program, NodeId node) { return IsTosa(*program.context, program.main().op(node)); }

// The input spec of each placeholder, by node.
absl::flat_hash_map<NodeId, const InputSpec*> SpecsOf(const Program& program) {
  absl::flat_hash_map<NodeId, const InputSpec*> specs;
  const std::span<const NodeId> inputs = program.main().inputs();
  for (size_t i = 0; i < inputs.size() && i < program.inputs.size(); ++i) specs.emplace(inputs[i], &program.inputs[i]);
  return specs;
}

// How torch calls a program of so many tensors: all of them by position, results as a tuple. Its `module()` needs it.
std::string CallGraph(const Program& part) {
  constexpr absl::string_view kLeaf = R"({"type": null, "context": null, "children_spec": []})";
  const auto tuple = [&](size_t count) {
    return absl::StrCat(R"({"type": "builtins.tuple", "context": "null", "children_spec": [)",
                        absl::StrJoin(std::vector<absl::string_view>(count, kLeaf), ", "), "]}");
  };
  size_t given = 0;
  std::vector<std::string> names;
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    if (part.inputs[i].constant.has_value()) continue;
    ++given;
    AppendJsonString(names.emplace_back(), part.main().NameOf(part.main().inputs()[i]));
  }
  const std::string both =
      absl::StrCat(R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)", tuple(given),
                   R"(, {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])");
  const std::string results = absl::StrCat("[1, ", tuple(part.outputs.size()), "]");
  const auto text = [](const std::string& json) { return absl::StrReplaceAll(json, {{"\"", "\\\""}}); };
  return absl::StrCat(R"([{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": ")", text(both),
                      R"(", "out_spec": ")", text(results), R"(", "forward_arg_names": [)", absl::StrJoin(names, ", "),
                      "]}}]");
}

}  // namespace

absl::StatusOr<std::vector<Part>> PartitionProgram(const Program& program, const std::vector<Outside>& outside) {
  const Graph& graph = program.main();
  const Context& context = *program.context;
  std::vector<bool> left(graph.id_bound(), false);
  for (const Outside& row : outside) left[row.node.index] = true;
  const absl::flat_hash_map<NodeId, const InputSpec*> specs = SpecsOf(program);
  const auto is_constant = [&](NodeId node) {
    const auto it = specs.find(node);
    return it != specs.end() && it->second->constant.has_value();
  };
  // What is left before any region is part 0, then come the first region, what is left after it, the second one …
  // A node of a region is in the first one behind all that it needs, one left outside behind the regions it needs.
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> part_of(graph.id_bound(), kNone);
  std::vector<Part> parts;
  for (const NodeId node : graph.nodes()) {
    const Op op = graph.op(node);
    if (op == op::placeholder || op == op::output) continue;
    const std::span<const NodeId> operands = graph.operands(node);
    const bool element = op == op::getitem && !operands.empty();
    const bool inside =
        IsTosa(program, element ? operands[0] : node) && !left[element ? operands[0].index : node.index];
    if (!inside && context.ops.Has(op, kMutates))
      return UnimplementedError("tosa_partition_c2", "%", graph.NameOf(node), " = ", context.ops.Name(op),
                                " writes storage, which parts of a program do not share: make the program functional");
    uint32_t at = inside ? 1 : 0;
    for (const NodeId operand : operands)
      if (const uint32_t from = part_of[operand.index]; from != kNone)
        at = std::max(at, from % 2 == at % 2 ? from : from + 1);
    if (element) at = part_of[operands[0].index];
    part_of[node.index] = at;
    if (at >= parts.size()) parts.resize(at + 1);
    parts[at].tosa = inside;
    parts[at].nodes.push_back(node);
  }
  std::vector<bool> entered(graph.id_bound(), false), leaves(graph.id_bound(), false);
  for (const NodeId node : graph.nodes())
    for (const NodeId operand : graph.operands(node))
      if (part_of[operand.index] != part_of[node.index]) leaves[operand.index] = true;
  for (Part& part : parts) {
    for (const NodeId node : part.nodes) {
      for (const NodeId operand : graph.operands(node)) {
        if (part_of[operand.index] == part_of[node.index] || is_constant(operand) || entered[operand.index]) continue;
        entered[operand.index] = true;
        part.inputs.push_back(operand);
      }
      if (leaves[node.index]) part.outputs.push_back(node);
    }
    for (const NodeId input : part.inputs) entered[input.index] = false;
    std::sort(part.inputs.begin(), part.inputs.end(), [&](NodeId a, NodeId b) { return graph.Before(a, b); });
  }
  parts.erase(std::remove_if(parts.begin(), parts.end(), [](const Part& part) { return part.nodes.empty(); }),
              parts.end());
  return parts;
}

absl::StatusOr<Program> ExtractPart(const Program& program, const Part& from) {
  Context& context = *program.context;
  const Graph& graph = program.main();
  const absl::flat_hash_map<NodeId, const InputSpec*> specs = SpecsOf(program);
  Program part;
  part.context = program.context;
  part.name = program.name;
  part.facts = program.facts;
  for (const std::string& verifier : program.verifiers)
    if (from.tosa == (verifier.rfind("TOSA-", 0) == 0)) part.verifiers.push_back(verifier);
  part.torch_version = program.torch_version;
  part.schema_major = program.schema_major;
  part.schema_minor = program.schema_minor;
  part.opset_version = program.opset_version;
  part.ranges = program.ranges;
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
  for (const NodeId node : from.nodes) {
    for (const NodeId operand : graph.operands(node)) {
      const auto it = specs.find(operand);
      if (it == specs.end() || !it->second->constant.has_value() || moved.contains(operand)) continue;
      InputSpec spec = *it->second;
      part.constants.push_back(program.constants[spec.constant.index]);
      spec.constant = ConstId{static_cast<uint32_t>(part.constants.size() - 1)};
      add_input(operand, std::move(spec));
    }
  }
  for (const NodeId input : from.inputs) add_input(input, InputSpec{});
  edit.SetInputs(inputs);
  std::vector<NodeId> operands;
  for (const NodeId node : from.nodes) {
    operands.clear();
    for (const NodeId operand : graph.operands(node)) {
      const auto it = moved.find(operand);
      if (it == moved.end())
        return CheckError(absl::StatusCode::kInternal, "tosa_partition_c1", "a part uses a value it does not have");
      operands.push_back(it->second);
    }
    moved.emplace(
        node, edit.Append({graph.op(node), graph.attrs(node), graph.meta(node), graph.quant(node), LocId{}, operands},
                          graph.NameOf(node)));
  }
  operands.clear();
  std::vector<AttrValue> values;
  std::vector<QuantParams> params;
  for (const NodeId output : from.outputs) {
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
  TARE_RETURN_IF_ERROR(TakeBodies(program, part));
  if (!from.tosa) part.raw_json["module_call_graph"] = CallGraph(part);
  return part;
}

}  // namespace tare
