#include "passes/op_index.h"

#include <algorithm>

namespace tare {

OpIndex::List& OpIndex::ListOf(Op op) {
  if (const List* list = Find(op)) return const_cast<List&>(*list);
  lists_.push_back({op, 0, {}});
  const auto place = [&](size_t list) {
    size_t at = lists_[list].op.index & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<uint16_t>(list + 1);
  };
  if (2 * lists_.size() <= slots_.size()) {
    place(lists_.size() - 1);
  } else {
    slots_.assign(2 * slots_.size(), 0);
    for (size_t i = 0; i < lists_.size(); ++i) place(i);
  }
  return lists_.back();
}

void OpIndex::Build(const Graph& graph) {
  std::fill(slots_.begin(), slots_.end(), uint16_t{0});
  lists_.clear();
  for (const NodeId node : graph.nodes()) ++ListOf(graph.op(node)).count;
  lists_.shrink_to_fit();
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
    const List* list = Find(op);
    if (list == nullptr || list->count == 0) continue;
    for (const NodeId node : list->nodes)
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
