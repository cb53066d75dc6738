#include "ir/graph.h"

#include <algorithm>
#include <cstring>

namespace tare {

Page::Page() {
  std::fill_n(op, kPageNodes, kDeadOp);
  std::fill_n(num_operands, kPageNodes, uint16_t{0});  // Repack looks at all slots
}

Page::Page(const Page& other) : live(other.live) {
  std::memcpy(op, other.op, sizeof(op));
  std::memcpy(num_operands, other.num_operands, sizeof(num_operands));
  std::memcpy(operands, other.operands, sizeof(operands));
  std::memcpy(attrs, other.attrs, sizeof(attrs));
  std::memcpy(meta, other.meta, sizeof(meta));
  std::memcpy(quant, other.quant, sizeof(quant));
  std::memcpy(loc, other.loc, sizeof(loc));
  std::memcpy(prev, other.prev, sizeof(prev));
  std::memcpy(next, other.next, sizeof(next));
  std::memcpy(pos, other.pos, sizeof(pos));
  if (other.pool_size == 0) return;
  pool = new NodeId[other.pool_size];
  std::copy_n(other.pool, other.pool_size, pool);
  pool_size = pool_capacity = other.pool_size;
}

Page::~Page() { delete[] pool; }

void Page::SetOperands(uint32_t slot, std::span<const NodeId> values) {
  TARE_CHECK(values.size() <= UINT16_MAX);
  const auto count = static_cast<uint16_t>(values.size());
  if (count > 3 && num_operands[slot] < count) {
    num_operands[slot] = 0;  // its old list, if any, is garbage
    if (pool_capacity - pool_size < count) Repack(count);
    operands[slot][0] = NodeId{pool_size};
    pool_size += count;
  }
  num_operands[slot] = count;
  std::ranges::copy(values, MutableOperands(slot).begin());
}

// Drops lists no slot refers to, and makes room for `room` more ids.
void Page::Repack(uint32_t room) {
  uint32_t used = 0;
  for (uint32_t slot = 0; slot < kPageNodes; ++slot) used += num_operands[slot] > 3 ? num_operands[slot] : 0;
  const uint32_t capacity = std::max<uint32_t>(16, used + room + used / 2);
  auto* packed = new NodeId[capacity];
  uint32_t size = 0;
  for (uint32_t slot = 0; slot < kPageNodes; ++slot) {
    if (num_operands[slot] <= 3) continue;
    std::copy_n(pool + operands[slot][0].index, num_operands[slot], packed + size);
    operands[slot][0] = NodeId{size};
    size += num_operands[slot];
  }
  delete[] pool;
  pool = packed;
  pool_size = size;
  pool_capacity = capacity;
}

Graph::Graph() : lineage_(std::make_shared<Lineage>()) {
  static const auto kNoInputs = std::make_shared<const std::vector<NodeId>>();
  inputs_ = kNoInputs;
}

std::vector<uint32_t> Graph::CountOps() const {
  std::vector<uint32_t> counts;
  for (const PageRef& page : pages_) {
    if (!page) continue;
    for (const Op op : page->op) {
      if (op == kDeadOp) continue;
      if (op.index >= counts.size()) counts.resize(op.index + 1);
      ++counts[op.index];
    }
  }
  return counts;
}

NodeId Graph::FindNode(std::string_view name) const {
  const NodeId id = lineage_->Find(name);
  return id.has_value() && Contains(id) ? id : NodeId{};
}

Lineage& Graph::mutable_lineage() {
  if (!ownership_.held) {
    // Alone and up to date: nobody else's edits can show.
    const bool alone = lineage_.use_count() == 1 && lineage_->id_bound() == id_bound_;
    if (!alone) lineage_ = std::make_shared<Lineage>(*lineage_, id_bound_);
    ownership_.held = true;
  }
  return *lineage_;
}

bool Graph::SameVersion(const Graph& other) const {
  return num_nodes_ == other.num_nodes_ && first_ == other.first_ && last_ == other.last_ &&
         *inputs_ == *other.inputs_ && PagesDiffering(other) == 0;
}

void Graph::Follow(const Graph& newer) {
  pages_.resize(newer.pages_.size());
  for (size_t i = 0; i < pages_.size(); ++i)
    if (pages_[i].get() != newer.pages_[i].get()) pages_[i] = newer.pages_[i];
  if (lineage_ != newer.lineage_) lineage_ = newer.lineage_;
  if (inputs_ != newer.inputs_) inputs_ = newer.inputs_;
  num_nodes_ = newer.num_nodes_;
  id_bound_ = newer.id_bound_;
  first_ = newer.first_;
  last_ = newer.last_;
  ownership_.held = false;
}

int Graph::PagesDiffering(const Graph& other) const {
  int count = 0;
  for (size_t i = 0; i < std::max(pages_.size(), other.pages_.size()); ++i) {
    const Page* mine = i < pages_.size() ? pages_[i].get() : nullptr;
    const Page* theirs = i < other.pages_.size() ? other.pages_[i].get() : nullptr;
    count += mine != theirs;
  }
  return count;
}

int64_t Graph::MemoryBytes() const {
  int64_t bytes = static_cast<int64_t>(sizeof(Graph) + pages_.capacity() * sizeof(PageRef));
  for (const PageRef& page : pages_) {
    if (page) bytes += static_cast<int64_t>(sizeof(Page) + page->pool_capacity * sizeof(NodeId));
  }
  return bytes;
}

}  // namespace tare
