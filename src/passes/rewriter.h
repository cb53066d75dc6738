// The one exclusive editing session over a Program. One thread.
//
// It keeps order, users, metadata, dead code and provenance: a pass says what it wants. An edit
// whose result has other metadata queues its users; before a later node is visited the queue is
// drained up to it, each affected node is inferred once, and the wave stops where the new MetaId
// equals the old. A node whose last use goes is erased when the visit ends, unless it has an effect.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/inferrer.h"
#include "ir/program.h"
#include "passes/node.h"

namespace tare {

struct PassCounters {
  int64_t redefined = 0, inserted = 0, erased = 0, reinferred = 0, visited = 0;
  int64_t cold = 0;  // nodes that are as before, inputs and outputs not counted
};

// A node that a pass left as it is although it targets its op.
struct Refusal {
  GraphId graph;
  NodeId node;
  Op op;  // what the node was
  std::string check_id, why;
};

// What may happen to the storage behind a value; every answer errs towards yes.
struct StorageUse {
  bool mutated = false;     // some node writes it
  bool from_input = false;  // it may be that of an input, parameter or constant
  bool returned = false;    // an output of the graph may share it
  bool restrided = false;   // an op reads it by strides of its own, whatever the value's strides
};

class Rewriter {
 public:
  Rewriter(Program& program, Inferrer& inferrer);
  ~Rewriter();
  Rewriter(const Rewriter&) = delete;

  Program& program();
  Context& context();
  GraphId graph_id() const;  // graph being edited; main at first
  const Graph& graph() const;
  Node node(NodeId id) { return Node(this, id); }
  // Turns to another graph of the program (bodies of higher-order ops).
  void EnterGraph(GraphId id);
  bool Occurs(Op op) const;  // in any graph

  // --- verbs
  // What would this be? Nothing is inserted.
  absl::StatusOr<MetaId> Infer(Op op, ArgList args);
  // A new node before `where`. Arguments by schema name, in any order; those left out have their
  // defaults. Named after `name_hint`, else after the op.
  absl::StatusOr<Node> InsertBefore(Node where, Op op, ArgList args, std::string_view name_hint = {});
  // Same id, same users, new definition. Prefer it.
  absl::Status Redefine(Node node, Op op, ArgList args);
  // The same with tensor arguments by position: Redefine(outer, outer.op(), {x}, {{"dims", p}}).
  absl::Status Redefine(Node node, Op op, std::initializer_list<Node> operands, ArgList args);
  // Redefines with the arguments it has, but for `changed`; the op may be another with the same ones.
  absl::Status Amend(Node node, Op op, ArgList changed);
  absl::Status Amend(Node node, ArgList changed) { return Amend(node, node.op(), std::move(changed)); }
  // Every use of `node` becomes a use of `value`, but for uses by `value` itself.
  absl::Status ReplaceUses(Node node, Node value);
  // What the integers of `node` and its operands mean. Redefining a node keeps it, metadata does not depend on it.
  void SetQuant(Node node, const QuantRecord& record);
  absl::Status Erase(Node node);  // FailedPrecondition when it has users or an effect
  // The pass looked at `node` and leaves it as it is, for the reason in `why`: kept for reports (PassStats).
  void Refuse(Node node, const absl::Status& why);
  // A constant made by a pass, content-addressed: equal ones are one input of kind tensor constant,
  // named after `name_hint`. Main graph only. `bytes` are the elements of `meta`, row-major.
  absl::StatusOr<Node> AddConstant(std::string_view name_hint, const TensorMeta& meta, std::vector<std::byte> bytes);
  // The same with bytes that lie somewhere already, as those of another constant.
  absl::StatusOr<Node> AddConstant(std::string_view name_hint, const TensorMeta& meta, const Payload& payload);
  // Takes away parameters, buffers and constants of main that nothing uses and no output is named after,
  // and their bytes; constants behind them get other ids. What the user gives stays. Linear in the
  // inputs. Returns how many went.
  int64_t RemoveUnusedConstants();

  // --- questions
  bool CanErase(Node node) const;  // pure, not an input or the output
  StorageUse StorageOf(Node node) const;
  // Uses of `copy`, whose elements always equal those of `source`, may become uses of `source`: no
  // one writes either storage, and no output starts to share memory with an input or another output.
  bool CanForwardCopy(Node copy, Node source) const;
  // Assumptions about symbols that metadata inferred in this session rests on.
  std::span<const Guard> guards() const;
  int64_t MemoryBytes() const;  // of the session, all graphs; not of the graphs themselves

  // --- for whoever drives passes (session.h)
  struct Impl;
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare
