// From the arguments a pass writes to the normal form of a node: operands and an attribute list.
#include <algorithm>
#include <forward_list>

#include "absl/strings/str_cat.h"
#include "ir/normalize.h"
#include "ir/status.h"
#include "passes/session.h"

namespace tare {
namespace {

// Numbers operands in the order in which arguments mention them.
class OperandNumbers {
 public:
  explicit OperandNumbers(llvm::SmallVectorImpl<NodeId>& operands) : operands_(operands) {}

  // `origin` as in DefinitionCache::Entry::operands.
  AttrValue OfNode(NodeId node, int64_t origin) {
    operands_.push_back(node);
    origins_.push_back(origin);
    return AttrValue::Operand(static_cast<uint32_t>(operands_.size() - 1));
  }
  AttrValue OfInit(const ArgInit& init, int64_t origin) {
    switch (init.kind) {
      case ArgInit::kValue:
        return init.value;
      case ArgInit::kNode:
        return init.node.has_value() ? OfNode(init.node.id(), origin) : AttrValue::None();
      case ArgInit::kValues:
        return AttrValue::Ints(init.values);
      case ArgInit::kNodes: {
        std::vector<AttrValue>& items = lists_.emplace_front();
        for (const Node node : init.nodes)
          items.push_back(node.has_value() ? OfNode(node.id(), origin) : AttrValue::None());
        return AttrValue::List(items);
      }
      case ArgInit::kInts: {
        std::vector<AttrValue>& items = lists_.emplace_front();
        for (const ArgInt& item : init.ints)
          items.push_back(item.node.has_value() ? OfNode(item.node.id(), origin) : AttrValue::Int(item.value));
        return AttrValue::List(items);
      }
    }
    return {};
  }
  // A value of a node whose operands are `from`. Nesting of values is bounded by who read them.
  AttrValue Kept(const AttrValue& value, std::span<const NodeId> from) {
    if (value.kind == AttrKind::kOperand) return OfNode(from[value.operand], value.operand);
    if (value.kind != AttrKind::kList && value.kind != AttrKind::kDict) return value;
    std::vector<AttrValue>& items = lists_.emplace_front();
    for (const AttrValue& item : value.items()) items.push_back(Kept(item, from));
    return value.kind == AttrKind::kList ? AttrValue::List(items) : AttrValue::Dict(items);
  }

  std::span<const int64_t> origins() const { return origins_; }

 private:
  llvm::SmallVectorImpl<NodeId>& operands_;
  llvm::SmallVector<int64_t, 8> origins_;
  std::forward_list<std::vector<AttrValue>> lists_;  // what lists point into
};

const ArgInit* FindInit(std::span<const ArgInit> args, std::string_view name) {
  for (const ArgInit& arg : args)
    if (arg.name == name) return &arg;
  return nullptr;
}

}  // namespace

absl::StatusOr<Rewriter::Impl::Definition> Rewriter::Impl::Define(Op op, std::span<const ArgInit> args, NodeId base) {
  const Schema* schema = context.ops.schema(op);
  if (schema == nullptr || schema->variadic) return DefineFreely(op, args, base);
  const AttrsId base_attrs = base.has_value() ? graph().attrs(base) : AttrsId{};
  if (const DefinitionCache::Entry* known = definitions.Find(op, base_attrs, args)) {
    Definition definition;
    definition.attrs = known->attrs;
    for (int i = 0; i < known->num_operands; ++i) {
      const int origin = known->operands[i];
      definition.operands.push_back(origin >= 0 ? graph().operands(base)[origin] : args[~origin].node.id());
    }
    return definition;
  }
  const std::string_view op_name = context.ops.Name(op);

  // By place in the schema: what the pass says, else what the node has.
  struct Given {
    const ArgInit* init = nullptr;
    const AttrValue* kept = nullptr;
  };
  llvm::SmallVector<Given, 16> given(schema->args.size());
  for (const ArgInit& init : args) {
    const int index = schema->IndexOf(init.name);
    if (index < 0) return InvalidError("rewrite_c1", op_name, " has no argument ", init.name);
    if (given[index].init != nullptr) return InvalidError("rewrite_c2", op_name, ": argument ", init.name, " is twice");
    given[index].init = &init;
  }
  std::span<const NodeId> base_operands;
  if (base.has_value()) {
    base_operands = graph().operands(base);
    size_t next = 0;  // a node's arguments are in the order of its schema
    for (const NamedAttr& attr : context.attrs.Get(graph().attrs(base))) {
      while (next < given.size() && schema->args[next].name != attr.name) ++next;
      if (next == given.size()) {
        const int index = schema->IndexOf(attr.name);
        if (index < 0) return InvalidError("rewrite_c1", op_name, " has no argument ", attr.name);
        next = static_cast<size_t>(index);
      }
      given[next].kept = &attr.value;
    }
  }

  Definition definition;
  OperandNumbers numbers(definition.operands);
  llvm::SmallVector<NamedAttr, 12> attrs;
  for (size_t i = 0; i < given.size(); ++i) {
    const SchemaArg& arg = schema->args[i];
    if (given[i].init != nullptr) {
      attrs.push_back({arg.name, NormalizeArg(arg, numbers.OfInit(*given[i].init, ~(given[i].init - args.data())),
                                              context.strings)});
    } else if (given[i].kept != nullptr) {
      attrs.push_back({arg.name, numbers.Kept(*given[i].kept, base_operands)});
    } else if (arg.has_default) {
      continue;
    } else if (arg.optional) {
      attrs.push_back({arg.name, AttrValue::None()});
    } else {
      return InvalidError("rewrite_c2", op_name, ": argument ", arg.name, " is missing");
    }
    if (arg.has_default && attrs.back().value == arg.default_value) attrs.pop_back();
  }
  definition.attrs = context.attrs.Intern({attrs.data(), attrs.size()});
  if (numbers.origins().size() > DefinitionCache::kMaxOperands) return definition;
  for (const int64_t origin : numbers.origins())
    if (origin > INT8_MAX) return definition;
  if (DefinitionCache::Entry* entry = definitions.Make(op, base_attrs, args)) {
    entry->attrs = definition.attrs;
    for (const int64_t origin : numbers.origins()) entry->operands[entry->num_operands++] = static_cast<int8_t>(origin);
    for (size_t i = 0; i < args.size(); ++i) entry->changes[i].name = schema->args[schema->IndexOf(args[i].name)].name;
  }
  return definition;
}

// Of an op without a schema, or with any further arguments: in the order given, changed ones in place.
absl::StatusOr<Rewriter::Impl::Definition> Rewriter::Impl::DefineFreely(Op op, std::span<const ArgInit> args,
                                                                        NodeId base) {
  Definition definition;
  OperandNumbers numbers(definition.operands);
  llvm::SmallVector<NamedAttr, 12> attrs;
  if (base.has_value()) {
    const std::span<const NodeId> operands = graph().operands(base);
    for (const NamedAttr& attr : context.attrs.Get(graph().attrs(base))) {
      const ArgInit* init = attr.name.empty() ? nullptr : FindInit(args, attr.name);
      attrs.push_back(
          {attr.name, init != nullptr ? numbers.OfInit(*init, 0) : numbers.Kept(attr.value, operands), attr.keyword});
    }
  }
  for (const ArgInit& init : args) {
    const bool known = std::any_of(attrs.begin(), attrs.end(), [&](const NamedAttr& a) { return a.name == init.name; });
    if (!known || init.name.empty()) attrs.push_back({init.name, numbers.OfInit(init, 0)});
  }
  TARE_ASSIGN_OR_RETURN(definition.attrs, NormalizeArgs(context, op, {attrs.data(), attrs.size()}));
  return definition;
}

}  // namespace tare
