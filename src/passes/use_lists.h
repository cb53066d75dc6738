// Users of every node of one graph, in 16 bytes a node and 4 bytes a use beyond the second.
//
// Removing a use only lowers the count: entries whose user has moved on stay until the list is
// compacted, so that taking a user from a value with 100,000 of them costs nothing. Who reads a list
// asks the graph which entries still hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/ids.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {

class UseLists {
 public:
  // Counts and lists all uses of `graph`: linear.
  void Build(const Graph& graph);
  void Grow(uint32_t id_bound);

  uint32_t count(NodeId value) const { return lists_[value.index].uses; }  // operand slots, not users
  // `user`, whose operands in `graph` hold `value` already or soon, has one more slot with it.
  void Add(const Graph& graph, NodeId value, NodeId user);
  // One more slot of a user that is listed.
  void AddAgain(NodeId value) { ++lists_[value.index].uses; }
  void Remove(NodeId value) {
    List& list = lists_[value.index];
    if (--list.uses == 0) list.size = 0;
  }
  void Clear(NodeId value) { lists_[value.index].size = lists_[value.index].uses = 0; }

  // A superset of the users, with repetitions, in no useful order.
  std::span<const NodeId> Candidates(NodeId value) const;
  // The users, each once, in no useful order.
  void Users(const Graph& graph, NodeId value, llvm::SmallVectorImpl<NodeId>& users) const;
  int64_t MemoryBytes() const;

 private:
  static constexpr uint32_t kBlockMark = UINT32_MAX - 1;  // slots[1] = kBlockMark - log2(capacity)
  static constexpr int kNumSizes = 32;
  struct List {
    uint32_t uses = 0, size = 0;
    NodeId slots[2];  // up to two entries; or where a block of the pool starts and its mark
    bool in_pool() const { return slots[1].index > kBlockMark - kNumSizes && slots[1].index <= kBlockMark; }
    int capacity_log2() const { return static_cast<int>(kBlockMark - slots[1].index); }
  };

  NodeId* Entries(List& list) { return list.in_pool() ? &pool_[list.slots[0].index] : list.slots; }
  uint32_t NewBlock(int capacity_log2);
  void Reserve(const Graph& graph, NodeId value);

  std::vector<List> lists_;
  std::vector<NodeId> pool_;
  std::vector<uint32_t> free_blocks_[kNumSizes];
};

// `user` exists and has `value` among its operands.
inline bool IsUser(const Graph& graph, NodeId user, NodeId value) {
  if (!graph.Contains(user)) return false;
  for (const NodeId operand : graph.operands(user))
    if (operand == value) return true;
  return false;
}

}  // namespace tare
