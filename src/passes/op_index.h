// Which nodes of one graph have which op: what a pass visits, without looking at the others.
//
// Lists may hold nodes that have another op by now; they are compacted when half of them do. An op
// that does not occur costs 2 bytes, a node 4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/ids.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {

class OpIndex {
 public:
  void Build(const Graph& graph, int num_ops);
  uint32_t count(Op op) const {
    const uint16_t slot = op.index < slots_.size() ? slots_[op.index] : 0;
    return slot == 0 ? 0 : lists_[slot - 1].count;
  }
  bool AnyOf(std::span<const Op> ops) const {
    for (const Op op : ops)
      if (count(op) != 0) return true;
    return false;
  }
  // `node` has `op` now, in `graph` already.
  void Add(const Graph& graph, Op op, NodeId node);
  // `node` no longer has `op`.
  void Remove(Op op) { --lists_[slots_[op.index] - 1].count; }
  // The nodes that have one of `ops`, in no useful order, each at least once.
  void Nodes(const Graph& graph, std::span<const Op> ops, llvm::SmallVectorImpl<NodeId>& nodes) const;
  std::vector<Op> Ops() const;  // that occur, by index
  int64_t MemoryBytes() const;

 private:
  struct List {
    Op op;
    uint32_t count = 0;
    std::vector<NodeId> nodes;
  };
  List& ListOf(Op op);

  std::vector<uint16_t> slots_;  // by op: place in lists_ plus 1; 0 = never occurred
  std::vector<List> lists_;
};

}  // namespace tare
