// A set of nodes that gives the first in graph order first.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "ir/ids.h"

namespace tare {

// A binary heap that knows where each node stands in it. Positions are asked of the graph, since
// insertions may renumber them; the relative order of nodes never changes.
class NodeQueue {
 public:
  void Grow(uint32_t id_bound) {
    if (slot_.size() < id_bound) slot_.resize(id_bound);
  }
  bool empty() const { return heap_.empty(); }
  NodeId top() const { return heap_.front(); }
  bool Holds(NodeId node) const { return node.index < slot_.size() && slot_[node.index] != 0; }
  void Push(const Graph& graph, NodeId node) {
    if (Holds(node)) return;
    heap_.push_back(node);
    SiftUp(graph, heap_.size() - 1);
  }
  NodeId Pop(const Graph& graph) {
    const NodeId node = heap_.front();
    Remove(graph, 0);
    return node;
  }
  // To be called before `node` is erased and loses its place.
  void Drop(const Graph& graph, NodeId node) {
    if (Holds(node)) Remove(graph, slot_[node.index] - 1);
  }
  void Clear() {
    for (const NodeId node : heap_) slot_[node.index] = 0;
    heap_.clear();
  }
  int64_t MemoryBytes() const {
    return static_cast<int64_t>(slot_.capacity() * sizeof(uint32_t) + heap_.capacity() * sizeof(NodeId));
  }

 private:
  void Put(size_t i, NodeId node) {
    heap_[i] = node;
    slot_[node.index] = static_cast<uint32_t>(i + 1);
  }
  void Remove(const Graph& graph, size_t i) {
    slot_[heap_[i].index] = 0;
    const NodeId moved = heap_.back();
    heap_.pop_back();
    if (i == heap_.size()) return;
    heap_[i] = moved;
    SiftDown(graph, SiftUp(graph, i));
  }
  size_t SiftUp(const Graph& graph, size_t i) {
    const NodeId node = heap_[i];
    for (; i > 0 && graph.Before(node, heap_[(i - 1) / 2]); i = (i - 1) / 2) Put(i, heap_[(i - 1) / 2]);
    Put(i, node);
    return i;
  }
  void SiftDown(const Graph& graph, size_t i) {
    const NodeId node = heap_[i];
    for (size_t child; (child = 2 * i + 1) < heap_.size(); i = child) {
      if (child + 1 < heap_.size() && graph.Before(heap_[child + 1], heap_[child])) ++child;
      if (!graph.Before(heap_[child], node)) break;
      Put(i, heap_[child]);
    }
    Put(i, node);
  }

  std::vector<NodeId> heap_;
  std::vector<uint32_t> slot_;  // by id: place in heap_ plus 1; 0 = not queued
};

}  // namespace tare
