// Which nodes of one graph have which op: what a pass visits, without looking at the others.
//
// Lists may hold nodes that have another op by now; they are compacted when half of them do. A node
// costs 4 bytes, an op that occurs about 44.
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
  void Build(const Graph& graph);
  uint32_t count(Op op) const {
    const List* list = Find(op);
    return list == nullptr ? 0 : list->count;
  }
  bool AnyOf(std::span<const Op> ops) const {
    for (const Op op : ops)
      if (count(op) != 0) return true;
    return false;
  }
  // `node` has `op` now, in `graph` already.
  void Add(const Graph& graph, Op op, NodeId node);
  // `node` no longer has `op`.
  void Remove(Op op) { --ListOf(op).count; }
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
  // Open addressing: place in lists_ plus 1, 0 = free. At least half of the slots are free.
  const List* Find(Op op) const {
    for (size_t at = op.index;; ++at) {
      const uint16_t slot = slots_[at & (slots_.size() - 1)];
      if (slot == 0) return nullptr;
      if (lists_[slot - 1].op == op) return &lists_[slot - 1];
    }
  }
  List& ListOf(Op op);

  std::vector<uint16_t> slots_ = std::vector<uint16_t>(16);
  std::vector<List> lists_;
};

}  // namespace tare
