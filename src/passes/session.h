// The state behind a Rewriter, and how passes are driven: begin, visit, drain, commit or roll back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "ir/context.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/definition_cache.h"
#include "passes/node_queue.h"
#include "passes/op_index.h"
#include "passes/rewriter.h"
#include "passes/use_lists.h"

namespace tare {

// One graph of the program under edit.
struct GraphSession {
  UseLists uses;
  OpIndex index;
  NodeQueue queue;              // operands' metadata changed
  std::vector<NodeId> orphans;  // lost their last use during this visit; may have a new one

  bool owner_unaware = false;  // a body: what it returns changed since its owner was inferred

  // Of the pass in progress.
  std::optional<Graph> before;  // the version at Begin; taken before the first edit, then it keeps step
  bool edited = false;
  std::vector<uint64_t> touched;  // bit per id: redefined, inserted or re-inferred
  std::vector<NodeId> touched_list;

  // Of the walk in progress.
  bool walking = false;
  std::span<const Op> targets;           // empty = every node
  llvm::SmallVector<NodeId, 0> pending;  // targets found at the start, in order
  size_t next_pending = 0;
  NodeQueue arrivals;  // became targets behind the cursor
  NodeId cursor;       // last node visited, or the live one before it
};

struct Rewriter::Impl {
  Impl(Program& program, Inferrer& inferrer);
  ~Impl();

  // --- driving
  // Starts a transaction of `pass`; edits name it in provenance and messages.
  void Begin(std::string_view pass);
  // Visits nodes with one of `targets` in order, new ones behind the cursor too. Before each the
  // queue is drained up to it. No value at the end, when everything is drained.
  void StartWalk(std::span<const Op> targets);
  absl::StatusOr<NodeId> NextVisit();
  // Erases orphans; to be called when a visit ends.
  void Sweep();
  absl::Status DrainUpTo(NodeId last);  // inclusive; no value = all
  // Calls `visit` in a graph, finishes what is queued there, then does the same in its bodies, owner by
  // owner in graph order. An owner learns what its bodies return now when all of them are done.
  absl::Status Descend(GraphId id, absl::FunctionRef<absl::Status()> visit);
  absl::Status Finish();  // finishes what is queued in all graphs
  bool changed() const;   // some graph or constant is not as it was at Begin
  PassCounters Commit();
  void Rollback();
  // Message with pass and place; the check id stays. `op`: what the node should become.
  absl::Status Explain(const absl::Status& status, NodeId node, Op op = {}) const;

  // --- editing, shared by the verbs
  struct Definition {
    AttrsId attrs;
    llvm::SmallVector<NodeId, 8> operands;
  };
  // `base`: a node whose arguments stand where `args` does not say otherwise; may have no value.
  absl::StatusOr<Definition> Define(Op op, std::span<const ArgInit> args, NodeId base);
  absl::StatusOr<Definition> DefineFreely(Op op, std::span<const ArgInit> args, NodeId base);
  absl::StatusOr<InferResult> InferResultOf(Op op, AttrsId attrs, std::span<const NodeId> operands, QuantId quant,
                                            NodeId place);
  // The same for a node of the graph: its bodies get what these operands are first.
  absl::StatusOr<InferResult> InferNode(Op op, AttrsId attrs, std::span<const NodeId> operands, QuantId quant,
                                        NodeId node);
  void KeepGuards(std::span<const Guard> more);
  absl::Status CheckOperands(std::span<const NodeId> operands, NodeId user) const;
  absl::Status RedefineFrom(NodeId node, Op op, std::span<const ArgInit> args, NodeId base);
  absl::Status Redefine(NodeId node, Op op, const Definition& definition);
  absl::Status Reinfer(NodeId node);  // queued: an operand, or what a body returns, has other metadata
  bool OwnsBodies(Op op, AttrsId attrs) const;
  // Gives the bodies of a node what its operands are, and infers what that changes in them (bodies.cc).
  absl::Status FeedBodies(NodeId node, Op op, AttrsId attrs, std::span<const NodeId> operands);
  absl::Status FeedBody(NodeId owner, GraphId body, std::span<const MetaId> inputs);
  // An edit that failed after it had changed something: the pass cannot go on.
  absl::Status Fail(absl::Status status);
  void SetMeta(NodeId node, MetaId meta);
  void QueueUsers(NodeId node);
  void DropUse(NodeId value);
  void EraseNow(NodeId node);
  bool CanErase(NodeId node) const;
  void Touch(NodeId node);
  void Arrive(NodeId node);
  void Save();  // before the first edit of this graph in the transaction
  void SaveSignature();
  void DropUnheldConstants();
  void GrowTo(uint32_t id_bound);
  LocId Provenance(LocId parent);  // `parent` redefined by this pass

  GraphSession& session() { return sessions[current.index]; }
  const GraphSession& session() const { return sessions[current.index]; }
  Graph& graph() { return program.graphs[current.index].graph; }
  const Graph& graph() const { return program.graphs[current.index].graph; }
  void BuildSession(GraphId id);
  void FindBodies();

  uint8_t AliasingOf(Op op) const;
  bool MayAlias(Op op) const { return (AliasingOf(op) & 2) != 0; }      // results may share an operand's storage
  bool IsRestriding(Op op) const { return (AliasingOf(op) & 4) != 0; }  // reads storage by strides of its own
  bool MayWrite(Op op) const;
  StorageUse UseInBodies(NodeId owner) const;
  const InputSpec* InputOf(NodeId node) const;  // main's placeholders only
  bool IsMutatedInput(const InputSpec& spec) const;
  ConstId ReadableConstant(NodeId node) const;  // as ReadableConstants; no value where there is none

  Program& program;
  Context& context;
  Inferrer& inferrer;
  ProgramBodies bodies;
  GraphId current{0};
  std::vector<GraphSession> sessions;           // by graph
  std::vector<std::vector<GraphId>> bodies_of;  // by graph: of owners there, in their order
  DefinitionCache definitions;
  std::string pass;
  PassCounters counters;
  std::vector<Refusal> refusals;  // of this pass
  absl::Status failure;           // of this pass, if it could not be undone alone
  int nesting = 0;                // bodies within bodies at work
  std::vector<Guard> guards;
  absl::flat_hash_set<ExprId> guard_conditions;

  struct Signature {
    std::vector<InputSpec> inputs;
    size_t num_constants = 0;
    std::optional<std::vector<Constant>> constants;  // before some were removed
  };
  std::optional<Signature> signature_before;
  mutable absl::flat_hash_map<NodeId, uint32_t> input_index;  // of main; built on demand
  // What AddConstant needs to know, built when it is first called; reset where the signature changes otherwise.
  struct Names {
    absl::flat_hash_set<std::string> taken;
    absl::flat_hash_map<std::string, int> next_suffix;  // by name without a suffix
    size_t first_user_input = 0;
  };
  std::optional<Names> constant_names;
  Names& ConstantNames();
  mutable std::optional<absl::flat_hash_set<std::string>> mutated_inputs;
  mutable std::optional<bool> functional;                                    // when first asked
  absl::flat_hash_map<size_t, llvm::SmallVector<NodeId, 1>> pass_constants;  // placeholders by hash of meta and bytes
  mutable std::vector<uint8_t> aliasing;  // by op: 0 unknown, 1 fresh, 2 may alias, 4 restriding
};

}  // namespace tare
