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
  pool_.clear();
  for (auto& blocks : free_blocks_) blocks.clear();
  for (const NodeId user : graph.nodes())
    for (const NodeId value : graph.operands(user)) ++lists_[value.index].uses;
  size_t pool_size = 0;
  for (const List& list : lists_)
    if (list.uses > 2) pool_size += size_t{1} << Log2Ceil(list.uses);
  pool_.resize(pool_size);
  uint32_t block = 0;
  for (List& list : lists_) {
    if (list.uses <= 2) continue;
    const int log2 = Log2Ceil(list.uses);
    list.slots[0] = NodeId{block};
    list.slots[1] = NodeId{kBlockMark - log2};
    block += 1u << log2;
  }
  for (const NodeId user : graph.nodes()) {
    for (const NodeId value : graph.operands(user)) {
      List& list = lists_[value.index];
      Entries(list)[list.size++] = user;
    }
  }
}

void UseLists::Grow(uint32_t id_bound) {
  if (lists_.size() < id_bound) lists_.resize(id_bound);
}

uint32_t UseLists::NewBlock(int capacity_log2) {
  auto& blocks = free_blocks_[capacity_log2];
  if (!blocks.empty()) {
    const uint32_t block = blocks.back();
    blocks.pop_back();
    return block;
  }
  TARE_CHECK(pool_.size() + (size_t{1} << capacity_log2) < UINT32_MAX);
  const uint32_t block = static_cast<uint32_t>(pool_.size());
  pool_.resize(pool_.size() + (size_t{1} << capacity_log2));
  return block;
}

// Makes room for one more entry: drops stale ones when they are half of the list, else doubles it.
void UseLists::Reserve(const Graph& graph, NodeId value) {
  const bool was_in_pool = lists_[value.index].in_pool();
  const uint32_t capacity = was_in_pool ? 1u << lists_[value.index].capacity_log2() : 2;
  if (lists_[value.index].size < capacity) return;
  llvm::SmallVector<NodeId, 64> users;
  Users(graph, value, users);
  List& list = lists_[value.index];
  if (users.size() <= capacity / 2 || (!was_in_pool && users.size() < 2)) {
    std::copy(users.begin(), users.end(), Entries(list));
    list.size = static_cast<uint32_t>(users.size());
    return;
  }
  const int log2 = was_in_pool ? list.capacity_log2() + 1 : 2;
  const uint32_t block = NewBlock(log2);
  if (was_in_pool) free_blocks_[log2 - 1].push_back(list.slots[0].index);
  std::copy(users.begin(), users.end(), &pool_[block]);
  list.size = static_cast<uint32_t>(users.size());
  list.slots[0] = NodeId{block};
  list.slots[1] = NodeId{kBlockMark - log2};
}

void UseLists::Add(const Graph& graph, NodeId value, NodeId user) {
  Reserve(graph, value);
  List& list = lists_[value.index];
  Entries(list)[list.size++] = user;
  ++list.uses;
}

std::span<const NodeId> UseLists::Candidates(NodeId value) const {
  const List& list = lists_[value.index];
  if (list.in_pool()) return {&pool_[list.slots[0].index], list.size};
  return {list.slots, list.size};
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
  int64_t bytes = static_cast<int64_t>(lists_.capacity() * sizeof(List) + pool_.capacity() * sizeof(NodeId));
  for (const auto& blocks : free_blocks_) bytes += static_cast<int64_t>(blocks.capacity() * sizeof(uint32_t));
  return bytes;
}

}  // namespace tare
