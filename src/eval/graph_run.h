// The state of one evaluation: values of one graph's nodes as they are computed. Internal to src/eval.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "eval/eval.h"
#include "eval/tensor.h"
#include "ir/program.h"

namespace tare {

inline constexpr int kMaxBodyNesting = 32;
inline constexpr int64_t kMaxLoopTurns = int64_t{1} << 24;

// What all graphs of one evaluation share.
struct Evaluation {
  const Program& program;
  const EvalOptions& options;
  std::shared_ptr<MemoryBudget> budget;
  absl::flat_hash_map<uint32_t, Tensor> constants;  // loaded so far, by ConstId

  absl::StatusOr<Tensor> ConstantOf(ConstId id);
};

// Runs one graph. `inputs` pair with its placeholders. Returns what `output` returns.
absl::StatusOr<std::vector<Value>> RunGraph(Evaluation& evaluation, GraphId graph, std::vector<Value> inputs,
                                            int nesting);

// cond, while_loop, map, scan and the wrappers: `attrs` of a higher-order node with its operands' values.
absl::StatusOr<Value> RunHigherOrder(Evaluation& evaluation, std::string_view op, std::span<const NamedAttr> attrs,
                                     std::span<const Value> operands, int nesting);

// Who shares storage with whom, so that a mutation is either seen by all or refused. One group per storage;
// within it a class of nodes that name the whole of it alike, such as %x and relu_(%x).
class Aliases {
 public:
  explicit Aliases(uint32_t id_bound) : same_(id_bound), storage_(id_bound) {
    for (uint32_t i = 0; i < id_bound; ++i) same_[i] = storage_[i] = i;
  }
  void View(NodeId view, NodeId base) { storage_[view.index] = storage_[base.index]; }
  void Same(NodeId result, NodeId base) {
    View(result, base);
    same_[result.index] = same_[base.index];
  }
  bool SameStorage(NodeId a, NodeId b) const { return storage_[a.index] == storage_[b.index]; }
  bool SameValue(NodeId a, NodeId b) const { return same_[a.index] == same_[b.index]; }

 private:
  std::vector<uint32_t> same_, storage_;
};

}  // namespace tare
