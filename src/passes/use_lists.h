// Users of every node of one graph, in 12 bytes a node and 4 to 8 bytes a use of values with more than two.
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
    if (--lists_[value.index].uses == 0) Clear(value);
  }
  void Clear(NodeId value) {
    List& list = lists_[value.index];
    list.uses = 0;
    SetSize(list, 0);
  }

  // A superset of the users, with repetitions, in no useful order.
  std::span<const NodeId> Candidates(NodeId value) const;
  // The users, each once, in no useful order.
  void Users(const Graph& graph, NodeId value, llvm::SmallVectorImpl<NodeId>& users) const;
  int64_t MemoryBytes() const;

 private:
  static constexpr uint32_t kBlockMark = UINT32_MAX - 1;  // slots[1] = kBlockMark - log2(words of the block)
  static constexpr int kNumSizes = 32;
  // Up to two entries, filled from the front; or where a block of the pool starts and its mark. A block
  // is a power of two of words: how many entries it has, then the entries.
  struct List {
    uint32_t uses = 0;
    NodeId slots[2];
    bool in_pool() const { return slots[1].index > kBlockMark - kNumSizes && slots[1].index <= kBlockMark; }
    int block_log2() const { return static_cast<int>(kBlockMark - slots[1].index); }
    uint32_t capacity() const { return in_pool() ? (1u << block_log2()) - 1 : 2; }
    void SetBlock(uint32_t block, int log2) {
      slots[0] = NodeId{block};
      slots[1] = NodeId{kBlockMark - static_cast<uint32_t>(log2)};
    }
  };

  uint32_t Size(const List& list) const {
    if (list.in_pool()) return pool_[list.slots[0].index].index;
    return uint32_t{list.slots[0].has_value()} + uint32_t{list.slots[1].has_value()};
  }
  // Entries beyond `size` are dropped.
  void SetSize(List& list, uint32_t size) {
    if (list.in_pool()) {
      pool_[list.slots[0].index].index = size;
    } else {
      for (uint32_t i = size; i < 2; ++i) list.slots[i] = {};
    }
  }
  NodeId* Entries(List& list) { return list.in_pool() ? &pool_[list.slots[0].index + 1] : list.slots; }
  void PushBack(List& list, NodeId user) {
    const uint32_t size = Size(list);
    Entries(list)[size] = user;
    if (list.in_pool()) SetSize(list, size + 1);
  }
  uint32_t NewBlock(int log2);
  void FreeBlock(uint32_t block, int log2);
  void Reserve(const Graph& graph, NodeId value);

  std::vector<List> lists_;
  std::vector<NodeId> pool_;
  NodeId free_blocks_[kNumSizes];  // by log2 of size: the first; each free block begins with the next one
};

// `user` exists and has `value` among its operands.
inline bool IsUser(const Graph& graph, NodeId user, NodeId value) {
  if (!graph.Contains(user)) return false;
  for (const NodeId operand : graph.operands(user))
    if (operand == value) return true;
  return false;
}

}  // namespace tare
