#include "passes/op_index.h"

#include <algorithm>

namespace tare {

OpIndex::List& OpIndex::ListOf(Op op) {
  if (op.index >= slots_.size()) slots_.resize(op.index + 1);
  uint16_t& slot = slots_[op.index];
  if (slot == 0) {
    lists_.push_back({op, 0, {}});
    slot = static_cast<uint16_t>(lists_.size());
  }
  return lists_[slot - 1];
}

void OpIndex::Build(const Graph& graph, int num_ops) {
  slots_.assign(num_ops, 0);
  lists_.clear();
  for (const NodeId node : graph.nodes()) ++ListOf(graph.op(node)).count;
  for (List& list : lists_) list.nodes.reserve(list.count);
  for (const NodeId node : graph.nodes()) ListOf(graph.op(node)).nodes.push_back(node);
}

void OpIndex::Add(const Graph& graph, Op op, NodeId node) {
  List& list = ListOf(op);
  if (list.nodes.size() == list.nodes.capacity() && list.count < list.nodes.size() / 2) {
    std::vector<NodeId>& nodes = list.nodes;
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                               [&](NodeId n) { return n == node || !graph.Contains(n) || graph.op(n) != op; }),
                nodes.end());
    std::sort(nodes.begin(), nodes.end(), [](NodeId a, NodeId b) { return a.index < b.index; });
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
  list.nodes.push_back(node);
  ++list.count;
}

void OpIndex::Nodes(const Graph& graph, std::span<const Op> ops, llvm::SmallVectorImpl<NodeId>& nodes) const {
  for (const Op op : ops) {
    if (count(op) == 0) continue;
    for (const NodeId node : lists_[slots_[op.index] - 1].nodes)
      if (graph.Contains(node) && graph.op(node) == op) nodes.push_back(node);
  }
}

std::vector<Op> OpIndex::Ops() const {
  std::vector<Op> ops;
  for (const List& list : lists_)
    if (list.count != 0) ops.push_back(list.op);
  std::sort(ops.begin(), ops.end(), [](Op a, Op b) { return a.index < b.index; });
  return ops;
}

int64_t OpIndex::MemoryBytes() const {
  int64_t bytes = static_cast<int64_t>(slots_.capacity() * sizeof(uint16_t) + lists_.capacity() * sizeof(List));
  for (const List& list : lists_) bytes += static_cast<int64_t>(list.nodes.capacity() * sizeof(NodeId));
  return bytes;
}

}  // namespace tare
