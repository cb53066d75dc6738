#include "passes/node.h"

#include <algorithm>

#include "ir/context.h"
#include "ir/status.h"
#include "passes/session.h"

namespace tare {
namespace {

const AttrValue& Absent() {
  static const AttrValue absent;
  return absent;
}

}  // namespace

Op Node::op() const { return rw_->graph().op(id_); }
std::string_view Node::name() const { return rw_->graph().NameOf(id_); }
MetaId Node::meta() const { return rw_->graph().meta(id_); }
QuantId Node::quant() const { return rw_->graph().quant(id_); }

const TensorMeta& Node::tensor() const {
  const Meta& meta = rw_->context().metas.Get(this->meta());
  TARE_CHECK(meta.kind == MetaKind::kTensor);
  return meta.tensor;
}

bool Node::is_tensor() const {
  const MetaId id = meta();
  return id.has_value() && rw_->context().metas.Get(id).kind == MetaKind::kTensor;
}

int Node::num_operands() const { return static_cast<int>(rw_->graph().operands(id_).size()); }
Node Node::operand(int i) const { return Node(rw_, rw_->graph().operands(id_)[i]); }

std::vector<Node> Node::users() const {
  llvm::SmallVector<NodeId, 16> ids;
  const Graph& graph = rw_->graph();
  rw_->impl().session().uses.Users(graph, id_, ids);
  std::sort(ids.begin(), ids.end(), [&](NodeId a, NodeId b) { return graph.Before(a, b); });
  std::vector<Node> nodes;
  nodes.reserve(ids.size());
  for (const NodeId id : ids) nodes.emplace_back(rw_, id);
  return nodes;
}

int Node::num_uses() const { return static_cast<int>(rw_->impl().session().uses.count(id_)); }

const AttrValue& Node::attr(std::string_view name) const {
  for (const NamedAttr& attr : rw_->context().attrs.Get(rw_->graph().attrs(id_)))
    if (attr.name == name) return attr.value;
  const Schema* schema = rw_->context().ops.schema(op());
  const int i = schema == nullptr ? -1 : schema->IndexOf(name);
  return i >= 0 && schema->args[i].has_default ? schema->args[i].default_value : Absent();
}

Node Node::arg(std::string_view name) const {
  const AttrValue& value = attr(name);
  return value.kind == AttrKind::kOperand ? operand(static_cast<int>(value.operand)) : Node();
}

std::vector<Node> Node::arg_list(std::string_view name) const {
  std::vector<Node> nodes;
  const AttrValue& value = attr(name);
  if (value.kind != AttrKind::kList) return nodes;
  for (const AttrValue& item : value.items())
    nodes.push_back(item.kind == AttrKind::kOperand ? operand(static_cast<int>(item.operand)) : Node());
  return nodes;
}

std::optional<int64_t> Node::integer(std::string_view name) const {
  const AttrValue& value = attr(name);
  if (value.kind == AttrKind::kInt) return value.integer;
  return std::nullopt;
}

std::optional<double> Node::number(std::string_view name) const {
  const AttrValue& value = attr(name);
  if (value.kind == AttrKind::kInt) return static_cast<double>(value.integer);
  if (value.kind == AttrKind::kFloat) return value.real;
  return std::nullopt;
}

std::optional<bool> Node::flag(std::string_view name) const {
  const AttrValue& value = attr(name);
  if (value.kind == AttrKind::kBool) return value.flag;
  return std::nullopt;
}

std::vector<int64_t> Node::ints(std::string_view name) const {
  const AttrValue& value = attr(name);
  if (value.kind == AttrKind::kInt) return {value.integer};
  if (value.kind != AttrKind::kInts) return {};
  return {value.ints().begin(), value.ints().end()};
}

bool Node::has_constant_ints(std::string_view name) const {
  const AttrValue& value = attr(name);
  return value.kind == AttrKind::kInts || value.kind == AttrKind::kInt ||
         (value.kind == AttrKind::kList && value.items().empty());
}

const Constant* Node::constant() const {
  const Rewriter::Impl& impl = rw_->impl();
  const InputSpec* input = impl.InputOf(id_);
  if (input == nullptr || !input->constant.has_value() || impl.IsMutatedInput(*input)) return nullptr;
  if (rw_->StorageOf(*this).mutated) return nullptr;
  return &impl.program.constants[input->constant.index];
}

}  // namespace tare
