// A node as a pass sees it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/ids.h"
#include "ir/program.h"

namespace tare {

class Rewriter;

// A handle, valid until the node is erased, which is not before the visit that made it useless ends.
// Cheap to copy.
class Node {
 public:
  Node() = default;
  Node(Rewriter* rw, NodeId id) : rw_(rw), id_(id) {}
  NodeId id() const { return id_; }
  bool has_value() const { return id_.has_value(); }
  friend bool operator==(Node a, Node b) { return a.id_ == b.id_; }

  Op op() const;
  std::string_view name() const;  // as printed, without `%`
  MetaId meta() const;
  const TensorMeta& tensor() const;  // TARE_CHECKs that it is one
  bool is_tensor() const;
  QuantId quant() const;
  int num_operands() const;
  Node operand(int i) const;
  std::vector<Node> users() const;  // distinct, in graph order
  int num_uses() const;             // operand slots: add(%x, %x) uses %x twice

  // Arguments by schema name, defaults filled. A tensor argument gives the node; none gives no value.
  Node arg(std::string_view name) const;
  std::vector<Node> arg_list(std::string_view name) const;  // Tensor[]; absent entries have no value
  const AttrValue& attr(std::string_view name) const;       // none when there is no such argument
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;  // int or float constant
  std::optional<bool> flag(std::string_view name) const;
  std::vector<int64_t> ints(std::string_view name) const;  // constant list; a bare int gives one
  bool has_constant_ints(std::string_view name) const;
  // Constant behind a parameter, buffer or lifted-constant placeholder that nothing mutates.
  const Constant* constant() const;

 private:
  Rewriter* rw_ = nullptr;
  NodeId id_;
};

// An integer of a list, constant or a node (sym_size and the like).
struct ArgInt {
  int64_t value = 0;
  Node node;
  ArgInt(int64_t v) : value(v) {}
  ArgInt(Node n) : node(n) {}
};

// One argument of a new definition: a node, a constant, or a list of either.
struct ArgInit {
  std::string_view name;
  AttrValue value;
  Node node;
  std::vector<Node> nodes;      // of a Tensor[]; entries without value are absent tensors
  std::vector<int64_t> values;  // of an int[]
  std::vector<ArgInt> ints;     // of a SymInt[]
  enum Kind : uint8_t { kValue, kNode, kNodes, kValues, kInts } kind = kValue;

  ArgInit(std::string_view n, Node v) : name(n), node(v), kind(kNode) {}
  ArgInit(std::string_view n, std::vector<Node> v) : name(n), nodes(std::move(v)), kind(kNodes) {}
  ArgInit(std::string_view n, std::vector<int64_t> v) : name(n), values(std::move(v)), kind(kValues) {}
  ArgInit(std::string_view n, std::vector<ArgInt> v) : name(n), ints(std::move(v)), kind(kInts) {}
  ArgInit(std::string_view n, const AttrValue& v) : name(n), value(v) {}  // constants only
  ArgInit(std::string_view n, int64_t v) : name(n), value(AttrValue::Int(v)) {}
  ArgInit(std::string_view n, int v) : name(n), value(AttrValue::Int(v)) {}
  ArgInit(std::string_view n, double v) : name(n), value(AttrValue::Float(v)) {}
  ArgInit(std::string_view n, bool v) : name(n), value(AttrValue::Bool(v)) {}
};

// Arguments as a parameter: `{{"self", x}, {"dims", Compose(p, q)}}`. Never kept.
class ArgList {
 public:
  ArgList() = default;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  ArgList(std::initializer_list<ArgInit> args) : args_(args.begin(), args.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  ArgList(const std::vector<ArgInit>& args) : args_(args) {}
  std::span<const ArgInit> args() const { return args_; }

 private:
  std::span<const ArgInit> args_;
};

}  // namespace tare
