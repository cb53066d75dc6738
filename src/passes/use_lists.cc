#include "passes/use_lists.h"

#include <algorithm>

#include "ir/status.h"

namespace tare {
namespace {

int Log2Ceil(uint32_t n) {
  int log2 = 0;
  while ((uint64_t{1} << log2) < n) ++log2;
  return log2;
}

}  // namespace

void UseLists::Build(const Graph& graph) {
  lists_.assign(graph.id_bound(), {});
  std::fill(std::begin(free_blocks_), std::end(free_blocks_), NodeId{});
  for (const NodeId user : graph.nodes())
    for (const NodeId value : graph.operands(user)) ++lists_[value.index].uses;
  size_t pool_size = 0;
  for (const List& list : lists_)
    if (list.uses > 2) pool_size += size_t{1} << Log2Ceil(list.uses + 1);
  TARE_CHECK(pool_size < UINT32_MAX);
  pool_ = std::vector<NodeId>(pool_size);
  uint32_t block = 0;
  for (List& list : lists_) {
    if (list.uses <= 2) continue;
    const int log2 = Log2Ceil(list.uses + 1);
    list.SetBlock(block, log2);
    SetSize(list, 0);
    block += 1u << log2;
  }
  for (const NodeId user : graph.nodes())
    for (const NodeId value : graph.operands(user)) PushBack(lists_[value.index], user);
}

void UseLists::Grow(uint32_t id_bound) {
  if (lists_.size() < id_bound) lists_.resize(id_bound);
}

uint32_t UseLists::NewBlock(int log2) {
  if (const NodeId free = free_blocks_[log2]; free.has_value()) {
    free_blocks_[log2] = pool_[free.index];
    return free.index;
  }
  TARE_CHECK(pool_.size() + (size_t{1} << log2) < UINT32_MAX);
  const uint32_t block = static_cast<uint32_t>(pool_.size());
  pool_.resize(pool_.size() + (size_t{1} << log2));
  return block;
}

void UseLists::FreeBlock(uint32_t block, int log2) {
  pool_[block] = free_blocks_[log2];
  free_blocks_[log2] = NodeId{block};
}

// Makes room for one more entry: drops stale ones when they are half of the list, else doubles it.
void UseLists::Reserve(const Graph& graph, NodeId value) {
  List& list = lists_[value.index];
  const uint32_t capacity = list.capacity();
  if (Size(list) < capacity) return;
  llvm::SmallVector<NodeId, 64> users;
  Users(graph, value, users);
  const auto size = static_cast<uint32_t>(users.size());
  if (size <= capacity / 2) {
    std::copy(users.begin(), users.end(), Entries(list));
    SetSize(list, size);
    return;
  }
  const bool was_in_pool = list.in_pool();
  const int log2 = was_in_pool ? list.block_log2() + 1 : 2;
  const uint32_t block = NewBlock(log2);
  if (was_in_pool) FreeBlock(list.slots[0].index, log2 - 1);
  list.SetBlock(block, log2);
  std::copy(users.begin(), users.end(), Entries(list));
  SetSize(list, size);
}

void UseLists::Add(const Graph& graph, NodeId value, NodeId user) {
  Reserve(graph, value);
  List& list = lists_[value.index];
  PushBack(list, user);
  ++list.uses;
}

std::span<const NodeId> UseLists::Candidates(NodeId value) const {
  const List& list = lists_[value.index];
  const uint32_t size = Size(list);
  if (list.in_pool()) return {&pool_[list.slots[0].index] + 1, size};
  return {list.slots, size};
}

void UseLists::Users(const Graph& graph, NodeId value, llvm::SmallVectorImpl<NodeId>& users) const {
  users.clear();
  for (const NodeId user : Candidates(value))
    if (IsUser(graph, user, value)) users.push_back(user);
  if (users.size() < 2) return;
  std::sort(users.begin(), users.end(), [](NodeId a, NodeId b) { return a.index < b.index; });
  users.erase(std::unique(users.begin(), users.end()), users.end());
}

int64_t UseLists::MemoryBytes() const {
  return static_cast<int64_t>(lists_.capacity() * sizeof(List) + pool_.capacity() * sizeof(NodeId));
}

}  // namespace tare
