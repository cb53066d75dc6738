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
  void View(NodeId view, NodeId base) { Join(view, base, view.index); }
  void Same(NodeId result, NodeId base) { Join(result, base, ClassOf(base)); }
  bool SameValue(NodeId a, NodeId b) const { return ClassOf(a) == ClassOf(b); }
  // Nodes of the storage of `node`, itself included, in the order they joined. The caller may drop entries.
  std::vector<NodeId>& MembersWith(NodeId node) {
    std::vector<NodeId>& members = members_[StorageOf(node)];
    if (members.empty()) members.push_back(node);
    return members;
  }

 private:
  struct Entry {
    uint32_t storage, same;
  };
  uint32_t StorageOf(NodeId node) const {
    const auto it = entries_.find(node.index);
    return it == entries_.end() ? node.index : it->second.storage;
  }
  uint32_t ClassOf(NodeId node) const {
    const auto it = entries_.find(node.index);
    return it == entries_.end() ? node.index : it->second.same;
  }
  void Join(NodeId node, NodeId base, uint32_t same) {
    MembersWith(base).push_back(node);
    entries_[node.index] = {StorageOf(base), same};
  }

  absl::flat_hash_map<uint32_t, Entry> entries_;  // of nodes that joined another's storage
  absl::flat_hash_map<uint32_t, std::vector<NodeId>> members_;
};

}  // namespace tare
