#include "ir/verify.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/context.h"
#include "ir/notation.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

class Verifier {
 public:
  Verifier(const Program& program, GraphId id)
      : program_(program), context_(*program.context), id_(id), graph_(program.graphs[id.index].graph) {}

  absl::Status Shape() {
    const std::span<const NodeId> inputs = graph_.inputs();
    NodeId node = graph_.first();
    for (const NodeId input : inputs) {
      if (!graph_.Contains(input)) return InvalidError("verify_c1", "graph ", Name(), " has an input that was erased");
      if (node != input || graph_.op(input) != op::placeholder) {
        return Error(input, "verify_c1", "inputs come first, in order");
      }
      node = graph_.next(node);
    }
    const NodeId last = graph_.last();
    if (!last.has_value() || graph_.op(last) != op::output) {
      return InvalidError("verify_c2", "graph ", Name(), " does not end with its output");
    }
    const size_t count = program_.graphs[id_.index].graph.num_nodes();
    size_t seen = 0;
    for (const NodeId each : graph_.nodes()) {
      if (graph_.op(each) == op::placeholder && seen >= inputs.size()) {
        return Error(each, "verify_c1", "an input after other nodes");
      }
      if (graph_.op(each) == op::output && each != last) return Error(each, "verify_c2", "an output before the end");
      if (++seen > count) return InvalidError("verify_c3", "graph ", Name(), " has a cycle in its order");
    }
    return seen == count ? absl::OkStatus()
                         : InvalidError("verify_c3", "graph ", Name(), " has nodes out of its order");
  }

  absl::Status Node(NodeId node) {
    const Op op = graph_.op(node);
    if (op.index >= context_.ops.size()) return Error(node, "verify_c4", "no such operator");
    const std::span<const NodeId> operands = graph_.operands(node);
    for (const NodeId operand : operands) {
      if (!graph_.Contains(operand)) return Error(node, "verify_c5", "an operand was erased");
      if (!graph_.Before(operand, node)) {
        return Error(node, "verify_c5",
                     Cat("%", QuoteUnlessWord(graph_.NameOf(operand)), " is used before it is defined"));
      }
      if (graph_.op(operand) == op::output) return Error(node, "verify_c5", "the output is no operand");
    }
    TARE_RETURN_IF_ERROR(Args(node, op, operands.size()));
    if (!graph_.meta(node).has_value()) return Error(node, "verify_c9", "there is no metadata");
    return Metadata(node, graph_.meta(node));
  }

 private:
  std::string Name() const { return QuoteUnlessWord(program_.graphs[id_.index].name); }
  absl::Status Error(NodeId node, std::string_view check, std::string_view what) const {
    return WithNode(InvalidError(check, "%", QuoteUnlessWord(graph_.NameOf(node)), " = ",
                                 QuoteUnlessWord(context_.ops.Name(graph_.op(node))), ": ", what),
                    node);
  }

  absl::Status Args(NodeId node, Op op, size_t operands) {
    const std::span<const NamedAttr> attrs = context_.attrs.Get(graph_.attrs(node));
    next_operand_ = 0;
    for (const NamedAttr& attr : attrs) TARE_RETURN_IF_ERROR(Value(node, attr.value));
    if (next_operand_ != operands) {
      return Error(node, "verify_c6", Cat(operands, " operands, but its arguments use ", next_operand_));
    }
    const Schema* schema = context_.ops.schema(op);
    if (schema == nullptr) return absl::OkStatus();
    size_t at = 0;  // arguments are in schema order
    for (const SchemaArg& arg : schema->args) {
      if (at < attrs.size() && attrs[at].name == arg.name) {
        TARE_RETURN_IF_ERROR(Fits(node, arg, attrs[at++].value));
      } else if (!arg.has_default) {
        return Error(node, "verify_c7", Cat("argument ", arg.name, " is missing or out of order"));
      }
    }
    if (at < attrs.size() && !schema->variadic) {
      return Error(node, "verify_c7", Cat("argument ", attrs[at].name, " is not in the schema or out of order"));
    }
    return absl::OkStatus();
  }

  // Operands are numbered by first use; every body is this node's.
  absl::Status Value(NodeId node, const AttrValue& root) {
    stack_.assign(1, {&root, 0});
    while (!stack_.empty()) {
      const auto [value, depth] = stack_.back();
      stack_.pop_back();
      if (depth > kMaxAttrDepth) return Error(node, "verify_c6", "arguments are nested too deeply");
      switch (value->kind) {
        case AttrKind::kOperand:
          if (value->operand > next_operand_) return Error(node, "verify_c6", "operands are out of order");
          next_operand_ = std::max(next_operand_, value->operand + 1);
          break;
        case AttrKind::kGraph: {
          if (value->graph.index >= program_.graphs.size()) return Error(node, "verify_c8", "no such graph");
          const ProgramGraph& body = program_.graphs[value->graph.index];
          if (body.owner_graph != id_ || body.owner != node) {
            return Error(node, "verify_c8", Cat("graph ", QuoteUnlessWord(body.name), " has another owner"));
          }
          break;
        }
        case AttrKind::kDict:
        case AttrKind::kList:
          for (size_t i = value->items().size(); i-- > 0;) stack_.push_back({&value->items()[i], depth + 1});
          break;
        default:
          break;
      }
    }
    return absl::OkStatus();
  }

  absl::Status Fits(NodeId node, const SchemaArg& arg, const AttrValue& value) const {
    if (value.is_none()) {
      const bool absent_default = arg.has_default && arg.default_value.is_none();
      const bool any = arg.type == SchemaType::kAny || arg.type == SchemaType::kGenerator;
      if (arg.optional || absent_default || any) return absl::OkStatus();
      return Error(node, "verify_c7", Cat("argument ", arg.name, " cannot be none"));
    }
    const bool is_list = value.kind == AttrKind::kInts || value.kind == AttrKind::kList;
    if (is_list && !arg.list && arg.type != SchemaType::kAny) {
      return Error(node, "verify_c7", Cat("argument ", arg.name, " is a list"));
    }
    const bool graph = value.kind == AttrKind::kGraph;
    if (graph && arg.type != SchemaType::kGraph && arg.type != SchemaType::kAny) {
      return Error(node, "verify_c7", Cat("argument ", arg.name, " is a graph"));
    }
    return absl::OkStatus();
  }

  absl::Status Metadata(NodeId node, MetaId root) {
    metas_.assign(1, root);
    size_t count = 0;
    while (!metas_.empty()) {
      const Meta& meta = context_.metas.Get(metas_.back());
      metas_.pop_back();
      if (++count > kMaxItems) return Error(node, "verify_c10", "metadata has too many items");
      for (const MetaId item : meta.items) metas_.push_back(item);
      if (meta.kind == MetaKind::kTensor) TARE_RETURN_IF_ERROR(Tensor(node, meta.tensor));
    }
    return absl::OkStatus();
  }

  absl::Status Tensor(NodeId node, const TensorMeta& tensor) const {
    if (tensor.shape.size() > static_cast<size_t>(kMaxRank)) {
      return Error(node, "verify_c10", Cat("rank ", tensor.shape.size(), " exceeds ", kMaxRank));
    }
    if (tensor.layout == Layout::kStrided && tensor.strides.size() != tensor.shape.size()) {
      return Error(node, "verify_c10", Cat(tensor.strides.size(), " strides for ", tensor.shape.size(), " dims"));
    }
    // No overflow message for tensors without elements: 0 wins over every other extent.
    const bool empty = std::ranges::any_of(tensor.shape, [](Dim dim) { return dim == 0; });
    int64_t elements = 1;
    for (const Dim dim : tensor.shape) {
      TARE_RETURN_IF_ERROR(NotNegative(node, "extent", dim));
      if (empty || !dim.is_static()) continue;
      if (__builtin_mul_overflow(elements, dim.value(), &elements) || elements > kMaxElements) {
        return Error(node, "verify_c10", "the number of elements overflows");
      }
    }
    for (const Dim stride : tensor.strides) TARE_RETURN_IF_ERROR(NotNegative(node, "stride", stride));
    return NotNegative(node, "storage offset", tensor.offset);
  }

  absl::Status NotNegative(NodeId node, std::string_view what, Dim dim) const {
    if (dim.is_static()) return absl::OkStatus();
    if (!dim.is_valid()) return Error(node, "verify_c10", Cat("the ", what, " overflows"));
    const std::optional<int64_t> value = context_.syms.Constant(dim);
    if (!value || *value >= 0) return absl::OkStatus();
    return Error(node, "verify_c10", Cat("the ", what, " ", *value, " is negative"));
  }

  static constexpr size_t kMaxItems = 1 << 20;
  const Program& program_;
  const Context& context_;
  GraphId id_;
  const Graph& graph_;
  uint32_t next_operand_ = 0;
  std::vector<std::pair<const AttrValue*, int>> stack_;
  std::vector<MetaId> metas_;
};

absl::Status VerifyOwner(const Program& program, GraphId id) {
  const ProgramGraph& body = program.graphs[id.index];
  const std::string name = QuoteUnlessWord(body.name);
  if (id.index == 0) {
    if (body.owner.has_value()) return InvalidError("verify_c8", "the main graph ", name, " has an owner");
    return absl::OkStatus();
  }
  if (body.owner_graph.index >= program.graphs.size() ||
      !program.graphs[body.owner_graph.index].graph.Contains(body.owner)) {
    return InvalidError("verify_c8", "graph ", name, " has no owner");
  }
  // Owners lead to the main graph: no body owns itself.
  GraphId above = body.owner_graph;
  for (size_t steps = 0; above.index != 0; above = program.graphs[above.index].owner_graph) {
    if (++steps > program.graphs.size() || above.index >= program.graphs.size()) {
      return InvalidError("verify_c8", "graph ", name, " is not below the main graph");
    }
  }
  return absl::OkStatus();
}

absl::Status VerifySignature(const Program& program) {
  const Graph& main = program.main();
  if (!program.inputs.empty() && program.inputs.size() != main.inputs().size()) {
    return InvalidError("verify_c11", "the signature has ", program.inputs.size(), " inputs, the graph ",
                        main.inputs().size());
  }
  for (const InputSpec& spec : program.inputs) {
    if (spec.constant.has_value() && spec.constant.index >= program.constants.size()) {
      return InvalidError("verify_c11", "input ", spec.target, " refers to a constant that is not there");
    }
  }
  if (program.outputs.empty()) return absl::OkStatus();
  size_t returned = 0;
  for (const NamedAttr& attr : program.context->attrs.Get(main.attrs(main.last()))) {
    returned += attr.value.kind == AttrKind::kInts   ? attr.value.ints().size()
                : attr.value.kind == AttrKind::kList ? attr.value.items().size()
                                                     : 1;
  }
  if (program.outputs.size() == returned) return absl::OkStatus();
  return InvalidError("verify_c11", "the signature has ", program.outputs.size(), " outputs, the graph ", returned);
}

}  // namespace

absl::Status VerifyNodes(const Program& program, GraphId graph, std::span<const NodeId> nodes) {
  Verifier verifier(program, graph);
  for (const NodeId node : nodes) {
    if (program.graphs[graph.index].graph.Contains(node)) TARE_RETURN_IF_ERROR(verifier.Node(node));
  }
  return absl::OkStatus();
}

absl::Status VerifyGraph(const Program& program, GraphId graph) {
  Verifier verifier(program, graph);
  TARE_RETURN_IF_ERROR(verifier.Shape());
  for (const NodeId node : program.graphs[graph.index].graph.nodes()) TARE_RETURN_IF_ERROR(verifier.Node(node));
  return absl::OkStatus();
}

absl::Status Verify(const Program& program) {
  if (program.graphs.empty()) return InvalidError("verify_c2", "the program has no graph");
  for (uint32_t i = 0; i < program.graphs.size(); ++i) {
    TARE_RETURN_IF_ERROR(VerifyOwner(program, GraphId{i}));
    TARE_RETURN_IF_ERROR(VerifyGraph(program, GraphId{i}));
  }
  return VerifySignature(program);
}

}  // namespace tare
