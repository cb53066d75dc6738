#include "eval/eval.h"

#include <utility>

#include "eval/call.h"
#include "eval/graph_run.h"
#include "eval/half.h"
#include "eval/kernels.h"
#include "ir/context.h"
#include "ir/explain.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

// A result of the dtype and extents its node states. Rules say i32, or the type of the input, where TOSA has int48.
bool Fits(const Context& context, MetaId id, const Value& value) {
  const Meta& meta = context.metas.Get(id);
  if (meta.kind == MetaKind::kTuple || meta.kind == MetaKind::kList) {
    if (value.kind != ValueKind::kList || value.items.size() != meta.items.size()) return false;
    for (size_t i = 0; i < value.items.size(); ++i) {
      const Meta& item = context.metas.Get(meta.items[i]);
      if (item.kind == MetaKind::kTensor && !Fits(context, meta.items[i], value.items[i])) return false;
    }
    return true;
  }
  if (meta.kind != MetaKind::kTensor) return true;
  if (value.kind != ValueKind::kTensor) return false;
  const Tensor& tensor = value.tensor;
  const DType stated = meta.tensor.dtype;
  const bool wide = tensor.dtype() == DType::kI48 && (stated == DType::kI32 || stated == DType::kI16);
  if ((tensor.dtype() != stated && !wide) || tensor.shape().size() != meta.tensor.shape.size()) return false;
  for (size_t i = 0; i < meta.tensor.shape.size(); ++i) {
    const Dim dim = meta.tensor.shape[i];
    if (dim.is_static() && dim.value() != tensor.extent(static_cast<int>(i))) return false;
  }
  return true;
}

std::string Describe(const Value& value) {
  switch (value.kind) {
    case ValueKind::kTensor:
      return Describe(value.tensor);
    case ValueKind::kList:
      return Cat("a list of ", value.items.size());
    case ValueKind::kNone:
      return "nothing";
    default:
      return "a number";
  }
}

absl::StatusOr<Value> CallKernel(const Context& context, Op op, std::span<const NamedAttr> attrs,
                                 std::span<const Value> operands, QuantId quant, MetaId meta,
                                 const std::shared_ptr<MemoryBudget>& budget) {
  const std::string_view name = context.ops.Name(op);
  const Kernel kernel = FindKernel(name);
  if (kernel == nullptr) return UnimplementedError("eval_c10", name, ": no kernel evaluates this op");
  const QuantRecord* record = quant.has_value() && quant.index != 0 ? &context.quants.Get(quant) : nullptr;
  const Meta* const stated = meta.has_value() ? &context.metas.Get(meta) : nullptr;
  TARE_ASSIGN_OR_RETURN(const std::vector<Value> widened, WidenHalves(operands, budget));
  KernelCall call(context, op, attrs, widened, record, stated, budget);
  TARE_ASSIGN_OR_RETURN(Value value, kernel(call));
  TARE_RETURN_IF_ERROR(call.status());
  if (stated != nullptr) TARE_RETURN_IF_ERROR(NarrowHalves(context, *stated, value, budget));
  if (meta.has_value() && !Fits(context, meta, value)) {
    return InvalidError("eval_c8", name, " gives ", Describe(value), " where the program states ",
                        PrintMeta(context, meta));
  }
  return value;
}

// One graph on its way.
class GraphRun {
 public:
  GraphRun(Evaluation& evaluation, GraphId id, int nesting)
      : evaluation_(evaluation),
        id_(id),
        graph_(evaluation.program.graphs[id.index].graph),
        context_(*evaluation.program.context),
        nesting_(nesting),
        values_(graph_.id_bound()),
        uses_(graph_.id_bound(), 0),
        as_strided_(context_.ops.Find("aten.as_strided.default")),
        as_strided_copy_(context_.ops.Find("aten.as_strided_copy.default")) {
    for (const NodeId node : graph_.nodes()) {
      for (const NodeId operand : graph_.operands(node)) ++uses_[operand.index];
    }
  }

  absl::StatusOr<std::vector<Value>> Run(std::vector<Value> inputs) {
    const std::span<const NodeId> placeholders = graph_.inputs();
    if (inputs.size() != placeholders.size())
      return InvalidError("eval_c4", inputs.size(), " inputs for a graph of ", placeholders.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const NodeId node = placeholders[i];
      // Tokens and inputs that the program knows without being told have no value.
      if (inputs[i].kind != ValueKind::kNone && !Fits(context_, graph_.meta(node), inputs[i])) {
        return WithNode(InvalidError("eval_c4", "input %", graph_.NameOf(node), " is ", Describe(inputs[i]),
                                     " where the program states ", PrintMeta(context_, graph_.meta(node))),
                        node);
      }
      Tell(node, inputs[i]);
      if (uses_[node.index] > 0) values_[node.index] = std::move(inputs[i]);
      inputs[i] = Value();
    }
    for (const NodeId node : graph_.nodes()) {
      const Op op = graph_.op(node);
      if (op == op::placeholder) continue;
      if (op == op::output) return Outputs(node);
      absl::StatusOr<Value> value = Compute(node);
      if (!value.ok()) return AtNode(evaluation_.program, {id_, node}, value.status());
      Tell(node, *value);
      if (uses_[node.index] > 0) values_[node.index] = *std::move(value);
      Release(node);
    }
    return InvalidError("eval_c4", "the graph has no output");
  }

 private:
  void Tell(NodeId node, const Value& value) const {
    if (id_.index == 0 && evaluation_.options.on_value) evaluation_.options.on_value(node, value);
  }

  void Release(NodeId node) {
    for (const NodeId operand : graph_.operands(node)) {
      if (--uses_[operand.index] == 0) values_[operand.index] = Value();
    }
  }

  std::vector<Value> OperandsOf(NodeId node) const {
    std::vector<Value> operands;
    operands.reserve(graph_.operands(node).size());
    for (const NodeId operand : graph_.operands(node)) operands.push_back(values_[operand.index]);
    return operands;
  }

  std::vector<Value> Outputs(NodeId node) const {
    std::vector<Value> results;
    const std::vector<Value> operands = OperandsOf(node);
    const auto add = [&](const AttrValue& item) -> void {
      switch (item.kind) {
        case AttrKind::kOperand:
          results.push_back(operands[item.operand]);
          break;
        case AttrKind::kInt:
          results.push_back(Value::Int(item.integer));
          break;
        case AttrKind::kFloat:
          results.push_back(Value::Float(item.real));
          break;
        case AttrKind::kBool:
          results.push_back(Value::Bool(item.flag));
          break;
        default:
          results.emplace_back();
      }
    };
    for (const NamedAttr& attr : context_.attrs.Get(graph_.attrs(node))) {
      for (const int64_t i : attr.value.kind == AttrKind::kInts ? attr.value.ints() : std::span<const int64_t>())
        results.push_back(Value::Int(i));
      if (attr.value.kind != AttrKind::kList) continue;
      for (const AttrValue& item : attr.value.items()) add(item);
    }
    return results;
  }

  absl::StatusOr<Value> Compute(NodeId node) {
    const Op op = graph_.op(node);
    const std::span<const NamedAttr> attrs = context_.attrs.Get(graph_.attrs(node));
    if (op == op::getitem) {
      if (!graph_.operands(node).empty()) aliases_.View(node, graph_.operands(node)[0]);
      return Item(node, attrs);
    }
    if (op == op::constant) {
      for (const NamedAttr& attr : attrs) {
        if (attr.value.kind != AttrKind::kInt) continue;
        TARE_ASSIGN_OR_RETURN(Tensor tensor,
                              evaluation_.ConstantOf(ConstId{static_cast<uint32_t>(attr.value.integer)}));
        return Value(std::move(tensor));
      }
    }
    const std::vector<Value> operands = OperandsOf(node);
    if ((op == as_strided_ || op == as_strided_copy_) && !OwnsItsOrder(node))
      return UnimplementedError("eval_c19", "a view by strides of what is no dense row-major tensor");
    if (context_.ops.Has(op, kHigherOrder))
      return RunHigherOrder(evaluation_, context_.ops.Name(op), attrs, operands, nesting_);
    TARE_ASSIGN_OR_RETURN(Value value, CallKernel(context_, op, attrs, operands, graph_.quant(node), graph_.meta(node),
                                                  evaluation_.budget));
    if (context_.ops.Has(op, kMutates)) TARE_RETURN_IF_ERROR(Mutate(node, attrs, value));
    if (context_.ops.Has(op, kView) && !graph_.operands(node).empty()) aliases_.View(node, graph_.operands(node)[0]);
    return value;
  }

  absl::StatusOr<Value> Item(NodeId node, std::span<const NamedAttr> attrs) const {
    int64_t index = -1;
    for (const NamedAttr& attr : attrs) {
      if (attr.name == "index" && attr.value.kind == AttrKind::kInt) index = attr.value.integer;
    }
    const std::span<const NodeId> operands = graph_.operands(node);
    if (operands.empty()) return InvalidError("eval_c6", "getitem of nothing");
    const std::vector<Value>& items = values_[operands[0].index].items;
    if (index < 0) index += static_cast<int64_t>(items.size());
    if (index < 0 || index >= static_cast<int64_t>(items.size()))
      return InvalidError("eval_c6", "item ", index, " of ", items.size());
    return items[index];
  }

  // The first operand takes the value; whoever else sees its storage later would have to see it too.
  absl::Status Mutate(NodeId node, std::span<const NamedAttr> attrs, const Value& value) {
    const Schema* schema = context_.ops.schema(graph_.op(node));
    NodeId written;
    for (const NamedAttr& attr : attrs) {
      const int index = schema == nullptr ? -1 : schema->IndexOf(attr.name);
      if (index < 0 || !schema->args[index].writes) continue;
      if (attr.value.kind != AttrKind::kOperand || written.has_value() || value.kind != ValueKind::kTensor)
        return UnimplementedError("eval_c11", "writing to several tensors cannot be evaluated");
      written = graph_.operands(node)[attr.value.operand];
    }
    if (!written.has_value()) return UnimplementedError("eval_c11", "what is written is not known");
    std::vector<NodeId>& members = aliases_.MembersWith(written);
    std::erase_if(members, [&](NodeId other) { return uses_[other.index] == 0; });
    for (const NodeId other : members) {
      if (aliases_.SameValue(other, written)) {
        values_[other.index] = value;
      } else if (!OnlyUsedBy(other, node)) {
        return UnimplementedError("eval_c11", "it writes to storage that %", graph_.NameOf(other), " shares");
      }
    }
    aliases_.Same(node, written);
    return absl::OkStatus();
  }

  // True when the first operand lies in its storage as its value lies here.
  bool OwnsItsOrder(NodeId node) const {
    const std::span<const NodeId> operands = graph_.operands(node);
    if (operands.empty()) return false;
    const Meta& meta = context_.metas.Get(graph_.meta(operands[0]));
    return meta.kind == MetaKind::kTensor && meta.tensor.offset == 0 && IsContiguous(context_, meta.tensor);
  }

  // True when `node` holds the last uses of `other`.
  bool OnlyUsedBy(NodeId other, NodeId node) const {
    uint32_t here = 0;
    for (const NodeId operand : graph_.operands(node)) here += operand == other ? 1 : 0;
    return uses_[other.index] == here;
  }

  Evaluation& evaluation_;
  GraphId id_;
  const Graph& graph_;
  const Context& context_;
  int nesting_;
  std::vector<Value> values_;
  std::vector<uint32_t> uses_;
  Aliases aliases_;
  Op as_strided_, as_strided_copy_;
};

}  // namespace

absl::StatusOr<Tensor> Evaluation::ConstantOf(ConstId id) {
  if (id.index >= program.constants.size()) return InvalidError("eval_c9", "there is no constant ", id.index);
  if (const auto it = constants.find(id.index); it != constants.end()) return it->second;
  TARE_ASSIGN_OR_RETURN(Tensor tensor, ConstantTensor(*program.context, program.constants[id.index], budget));
  constants.emplace(id.index, tensor);
  return tensor;
}

absl::StatusOr<std::vector<Value>> RunGraph(Evaluation& evaluation, GraphId graph, std::vector<Value> inputs,
                                            int nesting) {
  if (nesting > kMaxBodyNesting)
    return InvalidError("eval_c12", "bodies are nested more than ", kMaxBodyNesting, " deep");
  if (graph.index >= evaluation.program.graphs.size())
    return InvalidError("eval_c12", "there is no graph ", graph.index);
  return GraphRun(evaluation, graph, nesting).Run(std::move(inputs));
}

absl::StatusOr<EvalResult> Evaluate(const Program& program, std::span<const Value> inputs, const EvalOptions& options) {
  Evaluation evaluation{program, options, std::make_shared<MemoryBudget>(options.memory_limit_bytes), {}};
  std::vector<Value> values;
  size_t next = 0;
  for (size_t i = 0; i < program.main().inputs().size(); ++i) {
    const InputSpec spec = i < program.inputs.size() ? program.inputs[i] : InputSpec();
    switch (spec.kind) {
      case InputKind::kUser:
        if (next == inputs.size())
          return InvalidError("eval_c4", "the program has more inputs than the ", inputs.size(), " given");
        values.push_back(inputs[next++]);
        break;
      case InputKind::kParameter:
      case InputKind::kBuffer:
      case InputKind::kTensorConstant: {
        if (spec.constant.index >= program.constants.size())
          return InvalidError("eval_c9", "input ", i, " names no constant");
        TARE_ASSIGN_OR_RETURN(
            Tensor tensor, ConstantTensor(*program.context, program.constants[spec.constant.index], evaluation.budget));
        values.push_back(std::move(tensor));
        break;
      }
      default:
        values.emplace_back();
    }
  }
  if (next != inputs.size()) return InvalidError("eval_c4", inputs.size(), " inputs are given, the program has ", next);
  EvalResult result;
  TARE_ASSIGN_OR_RETURN(result.outputs, RunGraph(evaluation, GraphId{0}, std::move(values), 0));
  result.peak_bytes = evaluation.budget->peak_bytes();
  return result;
}

absl::StatusOr<Value> EvaluateCall(const Context& context, Op op, AttrsId attrs, std::span<const Value> operands,
                                   QuantId quant, MetaId meta, const EvalOptions& options) {
  return CallKernel(context, op, context.attrs.Get(attrs), operands, quant, meta,
                    std::make_shared<MemoryBudget>(options.memory_limit_bytes));
}

bool CanEvaluate(const Context& context, Op op) { return FindKernel(context.ops.Name(op)) != nullptr; }

}  // namespace tare
