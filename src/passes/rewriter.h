// The one exclusive editing session over a Program. One thread.
//
// It keeps order, users, metadata, dead code and provenance: a pass says what it wants. An edit
// whose result has other metadata queues its users; before a later node is visited the queue is
// drained up to it, each affected node is inferred once, and the wave stops where the new MetaId
// equals the old. A node whose last use goes is erased, unless it has an effect.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/inferrer.h"
#include "ir/program.h"

namespace tare {

class Rewriter;

// A node as a pass sees it: a handle, valid until the node is erased. Cheap to copy.
class Node {
 public:
  Node() = default;
  Node(Rewriter* rw, NodeId id) : rw_(rw), id_(id) {}
  NodeId id() const { return id_; }
  bool has_value() const { return id_.has_value(); }
  friend bool operator==(Node a, Node b) { return a.id_ == b.id_; }

  Op op() const;
  std::string_view name() const;
  MetaId meta() const;
  const TensorMeta& tensor() const;  // TARE_CHECKs that it is one
  bool is_tensor() const;
  QuantId quant() const;
  int num_operands() const;
  Node operand(int i) const;
  std::vector<Node> users() const;  // distinct, in graph order
  int num_uses() const;

  // Arguments by schema name, defaults filled. A tensor argument gives the node; none gives no value.
  Node arg(std::string_view name) const;
  std::vector<Node> arg_list(std::string_view name) const;  // Tensor[]; absent entries have no value
  const AttrValue& attr(std::string_view name) const;
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

// An argument of a new definition: a node, a constant, or a list of them.
struct ArgInit {
  std::string_view name;
  AttrValue value;  // unless node or nodes is set
  Node node;
  std::vector<Node> nodes;  // Tensor[]
  bool is_node = false, is_list = false;
  std::vector<int64_t> ints_storage;

  ArgInit(std::string_view n, Node v) : name(n), node(v), is_node(true) {}
  ArgInit(std::string_view n, std::vector<Node> v) : name(n), nodes(std::move(v)), is_list(true) {}
  ArgInit(std::string_view n, const AttrValue& v) : name(n), value(v) {}
  ArgInit(std::string_view n, int64_t v) : name(n), value(AttrValue::Int(v)) {}
  ArgInit(std::string_view n, std::vector<int64_t> v) : name(n), ints_storage(std::move(v)) {
    value.kind = AttrKind::kInts;
  }
};

struct PassCounters {
  int64_t redefined = 0, inserted = 0, erased = 0, reinferred = 0, visited = 0;
  int64_t memo_hits = 0, memo_misses = 0;
};

class Rewriter {
 public:
  Rewriter(Program& program, Inferrer& inferrer);
  ~Rewriter();

  Program& program();
  Context& context();
  GraphId graph_id() const;  // graph being edited
  const Graph& graph() const;
  Node node(NodeId id) { return Node(this, id); }
  // Rewinds to another graph of the program (bodies of higher-order ops).
  void EnterGraph(GraphId id);

  // What would this be? Nothing is inserted.
  absl::StatusOr<MetaId> Infer(Op op, std::vector<ArgInit> args);
  // A new node before `where`. Arguments by schema name, in any order; defaults are filled.
  absl::StatusOr<Node> InsertBefore(Node where, Op op, std::vector<ArgInit> args, std::string_view name_hint = {});
  // Same id, same users, new definition. Prefer it.
  absl::Status Redefine(Node node, Op op, std::vector<ArgInit> args);
  // Every use of `node` becomes a use of `value`; `node` is erased if nothing else keeps it.
  absl::Status ReplaceUses(Node node, Node value);
  absl::Status Erase(Node node);  // FailedPrecondition when it has users or an effect
  // A constant made by a pass, content-addressed; returns its node (a new placeholder of kind
  // tensor constant or parameter, named after `name_hint`).
  absl::StatusOr<Node> AddConstant(std::string_view name_hint, const TensorMeta& meta, std::vector<std::byte> bytes);

  // --- used by the pass manager
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  friend class Node;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare
