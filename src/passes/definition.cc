// From the arguments a pass writes to the normal form of a node: operands and an attribute list.
#include <algorithm>
#include <deque>

#include "absl/strings/str_cat.h"
#include "ir/normalize.h"
#include "ir/status.h"
#include "passes/session.h"

namespace tare {
namespace {

// One argument on its way: `init` from the pass, else `kept` from the node that is amended.
struct Pending {
  std::string_view name;
  int rank = 0;  // place in the schema, or in the order given
  const ArgInit* init = nullptr;
  const AttrValue* kept = nullptr;
};

// Numbers operands in the order in which arguments mention them.
class OperandNumbers {
 public:
  explicit OperandNumbers(llvm::SmallVectorImpl<NodeId>& operands) : operands_(operands) {}

  AttrValue OfNode(NodeId node) {
    operands_.push_back(node);
    return AttrValue::Operand(static_cast<uint32_t>(operands_.size() - 1));
  }
  AttrValue OfInit(const ArgInit& init) {
    switch (init.kind) {
      case ArgInit::kValue:
        return init.value;
      case ArgInit::kNode:
        return init.node.has_value() ? OfNode(init.node.id()) : AttrValue::None();
      case ArgInit::kValues:
        return AttrValue::Ints(init.values);
      case ArgInit::kNodes: {
        std::vector<AttrValue>& items = lists_.emplace_back();
        for (const Node node : init.nodes) items.push_back(node.has_value() ? OfNode(node.id()) : AttrValue::None());
        return AttrValue::List(items);
      }
      case ArgInit::kInts: {
        std::vector<AttrValue>& items = lists_.emplace_back();
        for (const ArgInt& item : init.ints)
          items.push_back(item.node.has_value() ? OfNode(item.node.id()) : AttrValue::Int(item.value));
        return AttrValue::List(items);
      }
    }
    return {};
  }
  // A value of a node whose operands are `from`. Nesting of values is bounded by who read them.
  AttrValue Kept(const AttrValue& value, std::span<const NodeId> from) {
    if (value.kind == AttrKind::kOperand) return OfNode(from[value.operand]);
    if (value.kind != AttrKind::kList && value.kind != AttrKind::kDict) return value;
    const size_t list = lists_.size();
    lists_.emplace_back(value.items().size());
    for (size_t i = 0; i < value.items().size(); ++i) {
      const AttrValue item = Kept(value.items()[i], from);
      lists_[list][i] = item;
    }
    return value.kind == AttrKind::kList ? AttrValue::List(lists_[list]) : AttrValue::Dict(lists_[list]);
  }

 private:
  llvm::SmallVectorImpl<NodeId>& operands_;
  std::deque<std::vector<AttrValue>> lists_;
};

absl::Status CheckRequired(const Schema& schema, std::string_view op_name, std::span<const Pending> args) {
  size_t next = 0;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (next < args.size() && args[next].rank == static_cast<int>(i)) {
      ++next;
    } else if (!schema.args[i].has_default) {
      return InvalidError("rewrite_c2", op_name, ": argument ", schema.args[i].name, " is missing");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Rewriter::Impl::Definition> Rewriter::Impl::Define(Op op, std::span<const ArgInit> args, NodeId base) {
  const Schema* schema = context.ops.schema(op);
  const std::string_view op_name = context.ops.Name(op);
  llvm::SmallVector<Pending, 12> pending;
  for (const ArgInit& init : args) {
    int rank = static_cast<int>(pending.size());
    if (schema != nullptr) {
      rank = schema->IndexOf(init.name);
      if (rank < 0) return InvalidError("rewrite_c1", op_name, " has no argument ", init.name);
    }
    pending.push_back({init.name, rank, &init, nullptr});
  }
  std::span<const NodeId> base_operands;
  if (base.has_value()) {
    base_operands = graph().operands(base);
    for (const NamedAttr& attr : context.attrs.Get(graph().attrs(base))) {
      const bool changed = std::any_of(args.begin(), args.end(), [&](const ArgInit& a) { return a.name == attr.name; });
      if (changed) continue;
      const int rank = schema != nullptr ? schema->IndexOf(attr.name) : static_cast<int>(pending.size());
      if (rank < 0) return InvalidError("rewrite_c1", op_name, " has no argument ", attr.name);
      pending.push_back({attr.name, rank, nullptr, &attr.value});
    }
  }
  std::stable_sort(pending.begin(), pending.end(), [](const Pending& a, const Pending& b) { return a.rank < b.rank; });
  if (schema != nullptr) TARE_RETURN_IF_ERROR(CheckRequired(*schema, op_name, pending));

  Definition definition;
  OperandNumbers numbers(definition.operands);
  llvm::SmallVector<NamedAttr, 12> attrs;
  for (const Pending& arg : pending)
    attrs.push_back({arg.name, arg.init ? numbers.OfInit(*arg.init) : numbers.Kept(*arg.kept, base_operands)});
  TARE_ASSIGN_OR_RETURN(definition.attrs, NormalizeArgs(context, op, attrs));
  return definition;
}

}  // namespace tare
