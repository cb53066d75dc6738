// The only way the IR and passes reach rules: "what would this node be?"
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/ids.h"

namespace tare {

struct Facts;     // sym.h
struct Constant;  // program.h

// An assumption a rule made about symbols: holds whenever the answer does.
struct Guard {
  ExprId condition;
  enum Kind : uint8_t { kGuard, kRuntimeAssert } kind = kGuard;  // backed by a hint / unbacked, deferred
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct InferResult {
  MetaId meta;
  int32_t alias_of = -1;          // operand whose storage the result shares; -1 = none
  std::span<const Guard> guards;  // live as long as the memo
  bool declared = false;          // the op has no rule; `meta` is not set
  bool minted = false;            // `meta` names symbols of this node
};

struct NodePlace {       // where symbols are minted and diagnostics point
  uint64_t lineage = 0;  // index of the graph
  NodeId node;
  // For rules that read values: which operands are constants that nothing writes, others have no
  // value; may be shorter than the operands.
  std::span<const ConstId> constants = {};
};

// What higher-order rules ask of the body a graph argument names. program.h has the one of a Program.
struct BodyMetas {
  std::vector<MetaId> inputs, results;
  bool single_tensor_return = false;  // one bare tensor, not a tuple of one
};
class Bodies {
 public:
  virtual ~Bodies() = default;
  virtual BodyMetas Find(GraphId id) const = 0;  // of a graph that exists
  // The dtype that automatic mixed precision casts to in a graph that exists; none where it is off.
  virtual std::optional<DType> AutocastOf(GraphId id) const { return (void)id, std::nullopt; }
  virtual bool HasAutocast() const { return false; }  // of some graph
  virtual const Constant* ConstantOf(ConstId id) const { return (void)id, nullptr; }
};

// What an op gives its bodies, in the order of their inputs.
struct BodyArguments {
  struct Body {
    GraphId graph;
    std::vector<MetaId> inputs;  // no value: what the body states
  };
  std::vector<Body> bodies;
  std::vector<Guard> guards;
};

struct InferCounters {
  int64_t memo_hits = 0, memo_misses = 0;
};

class Inferrer {
 public:
  virtual ~Inferrer() = default;
  // How often the memo answered so far, and how often a rule had to.
  virtual InferCounters counters() const { return {}; }
  // The facts of the program whose nodes are asked about from now on; may be null.
  virtual void UseFacts(std::shared_ptr<const Facts> facts) { (void)facts; }
  // The bodies that graph arguments name from now on; null where there are none. Must outlive its use.
  virtual void UseBodies(const Bodies* bodies) { (void)bodies; }
  // `attrs` in normal form. Errors carry a check id, not the place.
  virtual absl::StatusOr<InferResult> Infer(Op op, AttrsId attrs, std::span<const MetaId> operands, QuantId quant,
                                            NodePlace place) = 0;
  // What `op` gives its bodies; empty when its row does not say. Not remembered. Errors as Infer.
  virtual absl::StatusOr<BodyArguments> InferBodyArguments(Op op, AttrsId attrs, std::span<const MetaId> operands,
                                                           NodePlace place) {
    (void)op, (void)attrs, (void)operands, (void)place;
    return BodyArguments();
  }
};

}  // namespace tare
