#include "backends/tosa/summary.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/tosa/constants.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

const TensorMeta* TensorOf(const Program& program, NodeId node) {
  const MetaId id = program.main().meta(node);
  if (!id.has_value()) return nullptr;
  const Meta& meta = program.context->metas.Get(id);
  return meta.kind == MetaKind::kTensor ? &meta.tensor : nullptr;
}

int64_t Elements(const Program& program, NodeId node) {
  const TensorMeta* tensor = TensorOf(program, node);
  return tensor == nullptr ? 0 : ElementCount(*tensor).value_or(0);
}

// Bytes as the file and a device have them: 6 for int48.
int64_t Bytes(const Program& program, NodeId node) {
  const TensorMeta* tensor = TensorOf(program, node);
  if (tensor == nullptr) return 0;
  return (Elements(program, node) * std::max(BitsOf(tensor->dtype), 8) + 7) / 8;
}

// Multiplications of one node.
int64_t MacsOf(const Program& program, NodeId node, std::string_view kind) {
  const Graph& graph = program.main();
  const std::span<const NodeId> operands = graph.operands(node);
  if (operands.size() < 2) return 0;
  const TensorMeta* second = TensorOf(program, operands[1]);
  if (second == nullptr || !StaticShape(*second).has_value()) return 0;
  const std::vector<int64_t> shape = *StaticShape(*second);
  const int64_t out = Elements(program, node);
  if (kind == "CONV2D" || kind == "CONV3D")
    return shape[0] == 0 ? 0 : out * (Elements(program, operands[1]) / shape[0]);
  if (kind == "DEPTHWISE_CONV2D") return out * shape[0] * shape[1];
  if (kind == "TRANSPOSE_CONV2D")
    return shape[0] == 0 ? 0 : Elements(program, operands[0]) * Elements(program, operands[1]) / shape[3];
  if (kind == "MATMUL") return out * shape[1];
  return 0;
}

// Largest sum of values that are live at once. A reshape is its operand.
int64_t PeakBytes(const Program& program, Op reshape) {
  const Graph& graph = program.main();
  std::vector<NodeId> storage(graph.id_bound());
  std::vector<int> uses(graph.id_bound(), 0);
  const auto is_constant = [&](NodeId node) {
    const std::span<const NodeId> inputs = graph.inputs();
    const size_t i = std::find(inputs.begin(), inputs.end(), node) - inputs.begin();
    return i < program.inputs.size() && program.inputs[i].constant.has_value();
  };
  for (const NodeId node : graph.nodes()) {
    storage[node.index] = graph.op(node) == reshape ? storage[graph.operands(node)[0].index] : node;
    for (const NodeId operand : graph.operands(node)) ++uses[storage[operand.index].index];
  }
  int64_t live = 0, peak = 0;
  std::vector<bool> counted(graph.id_bound(), false);
  for (const NodeId node : graph.nodes()) {
    const bool counts = graph.op(node) != reshape && graph.op(node) != op::output &&
                        !(graph.op(node) == op::placeholder && is_constant(node));
    if (counts) {
      counted[node.index] = true;
      live += Bytes(program, node);
    }
    peak = std::max(peak, live);
    for (const NodeId operand : graph.operands(node)) {
      const NodeId value = storage[operand.index];
      if (--uses[value.index] == 0 && counted[value.index]) live -= Bytes(program, value);
    }
  }
  return peak;
}

}  // namespace

LowerSummary Summarize(const Program& program, const StatedEdge& stated) {
  const Graph& graph = program.main();
  const Context& context = *program.context;
  LowerSummary summary;
  constexpr std::string_view kTosa = "tosa.";
  for (size_t i = 0; i < graph.inputs().size() && i < program.inputs.size(); ++i) {
    const NodeId node = graph.inputs()[i];
    if (program.inputs[i].constant.has_value()) {
      summary.parameter_bytes += Bytes(program, node);
      ++summary.ops["CONST"];
      continue;
    }
    EdgeValue value{std::string(graph.NameOf(node)), PrintMeta(context, graph.meta(node)), {}, {}};
    const auto own = stated.inputs.find(node.index);
    if (own != stated.inputs.end()) value.stated = PrintMeta(context, own->second);
    if (const QuantRecord& record = context.quants.Get(graph.quant(node)); record.has_result)
      value.q.push_back(AffineOf(record.result));
    summary.inputs.push_back(std::move(value));
    summary.activation_bytes += Bytes(program, node);
  }
  for (const NodeId node : graph.nodes()) {
    const std::string_view name = context.ops.Name(graph.op(node));
    if (name.substr(0, kTosa.size()) != kTosa) continue;
    std::string_view kind = name.substr(kTosa.size());
    kind = kind.substr(0, kind.find('.'));
    ++summary.ops[std::string(kind)];
    if (kind == "CONST_SHAPE") continue;
    ++summary.nodes;
    summary.macs += MacsOf(program, node, kind);
    summary.activation_bytes += Bytes(program, node);
    summary.transposes += kind == "TRANSPOSE";
    summary.rescales += kind == "RESCALE";
  }
  summary.peak_bytes = PeakBytes(program, context.ops.Find("tosa.RESHAPE.default"));
  const NodeId output = graph.last();
  const QuantRecord& record = context.quants.Get(graph.quant(output));
  for (size_t i = 0; i < graph.operands(output).size(); ++i) {
    const NodeId node = graph.operands(output)[i];
    EdgeValue value{std::string(graph.NameOf(node)), PrintMeta(context, graph.meta(node)), {}, {}};
    if (i < stated.outputs.size()) value.stated = PrintMeta(context, stated.outputs[i]);
    if (i < record.operands.size() && !record.operands[i].scales.empty())
      value.q.push_back(AffineOf(record.operands[i]));
    summary.outputs.push_back(std::move(value));
  }
  return summary;
}

}  // namespace tare
