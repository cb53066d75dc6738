#include <algorithm>
#include <cmath>

#include "ir/graph.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {
namespace {

constexpr uint64_t kLabels = uint64_t{1} << 32;
constexpr uint32_t kGap = 64;  // between appended nodes

}  // namespace

NodeId GraphEdit::Append(const NodeDef& def, std::string_view name) {
  const NodeId id = Make(def, name);
  LinkBefore(id, NodeId{});
  return id;
}

NodeId GraphEdit::InsertBefore(NodeId where, const NodeDef& def, std::string_view name) {
  const NodeId id = Make(def, name);
  LinkBefore(id, where);
  return id;
}

void GraphEdit::MoveBefore(NodeId node, NodeId where) {
  if (node == where || graph_.next(node) == where) return;
  Unlink(node);
  LinkBefore(node, where);
}

void GraphEdit::SetDef(NodeId id, const NodeDef& def) { Define(id, def); }

void GraphEdit::Erase(NodeId id) {
  Unlink(id);
  const uint32_t index = id.index / kPageNodes;
  Page& page = Own(id);
  page.live &= ~(uint64_t{1} << Graph::Slot(id));
  page.op[Graph::Slot(id)] = kDeadOp;
  page.num_operands[Graph::Slot(id)] = 0;
  --graph_.num_nodes_;
  if (page.live == 0) graph_.pages_[index] = PageRef();
}

void GraphEdit::SetInputs(std::span<const NodeId> inputs) {
  graph_.inputs_ = std::make_shared<const std::vector<NodeId>>(inputs.begin(), inputs.end());
}

NodeId GraphEdit::Make(const NodeDef& def, std::string_view name) {
  TARE_CHECK(graph_.id_bound_ < kMaxNodes);
  const NodeId id = graph_.mutable_lineage().AddNode(name);
  TARE_CHECK(id.index == graph_.id_bound_);
  ++graph_.id_bound_;
  ++graph_.num_nodes_;
  const uint32_t index = id.index / kPageNodes;
  if (index >= graph_.pages_.size()) graph_.pages_.resize(index + 1);
  Page& page = graph_.pages_[index].Own();
  page.live |= uint64_t{1} << Graph::Slot(id);
  page.num_operands[Graph::Slot(id)] = 0;
  Define(id, def);
  return id;
}

void GraphEdit::Define(NodeId id, const NodeDef& def) {
  const llvm::SmallVector<NodeId, 8> operands(def.operands.begin(), def.operands.end());  // may be this page's
  Page& page = Own(id);
  const uint32_t slot = Graph::Slot(id);
  page.op[slot] = def.op;
  page.attrs[slot] = def.attrs;
  page.meta[slot] = def.meta;
  page.quant[slot] = def.quant;
  page.loc[slot] = def.loc;
  page.SetOperands(slot, {operands.data(), operands.size()});
}

void GraphEdit::LinkBefore(NodeId node, NodeId where) {
  const NodeId before = where.has_value() ? graph_.prev(where) : graph_.last_;
  Own(node).pos[Graph::Slot(node)] = LabelBetween(before, where);
  Own(node).prev[Graph::Slot(node)] = before;
  Own(node).next[Graph::Slot(node)] = where;
  if (before.has_value()) {
    Own(before).next[Graph::Slot(before)] = node;
  } else {
    graph_.first_ = node;
  }
  if (where.has_value()) {
    Own(where).prev[Graph::Slot(where)] = node;
  } else {
    graph_.last_ = node;
  }
}

void GraphEdit::Unlink(NodeId node) {
  const NodeId before = graph_.prev(node);
  const NodeId after = graph_.next(node);
  if (before.has_value()) {
    Own(before).next[Graph::Slot(before)] = after;
  } else {
    graph_.first_ = after;
  }
  if (after.has_value()) {
    Own(after).prev[Graph::Slot(after)] = before;
  } else {
    graph_.last_ = before;
  }
}

uint32_t GraphEdit::LabelBetween(NodeId before, NodeId after) {
  for (;;) {
    const int64_t low = before.has_value() ? static_cast<int64_t>(graph_.Position(before)) : -1;
    const int64_t high = after.has_value() ? graph_.Position(after) : static_cast<int64_t>(kLabels);
    if (!after.has_value() && low + kGap < high) return static_cast<uint32_t>(low + kGap);
    if (high - low >= 2) return static_cast<uint32_t>(low + (high - low) / 2);
    SpreadLabels(after.has_value() ? after : before);
  }
}

// Makes room around a node: takes the smallest aligned range of labels around its own that is
// sparse enough and spreads the nodes in it evenly. The bound on a range's density falls with its
// size, from 1 to that of the whole, which makes insertion logarithmic, amortised.
// Source: Bender, Cole, Demaine, Farach-Colton, Zito, "Two simplified algorithms for maintaining
// order in a list" (2002).
void GraphEdit::SpreadLabels(NodeId around) {
  const double overflow = std::pow(static_cast<double>(kLabels) / (2.0 * (graph_.num_nodes_ + 2.0)), 1.0 / 32);
  NodeId left = around, right = around;
  uint64_t count = 1;
  for (int bits = 4; bits <= 32; ++bits) {
    const uint64_t size = uint64_t{1} << bits;
    const uint64_t base = graph_.Position(around) & ~(size - 1);
    for (NodeId id = graph_.prev(left); id.has_value() && graph_.Position(id) >= base; id = graph_.prev(id)) {
      left = id;
      ++count;
    }
    for (NodeId id = graph_.next(right); id.has_value() && graph_.Position(id) < base + size; id = graph_.next(id)) {
      right = id;
      ++count;
    }
    const bool sparse = static_cast<double>(count + 1) <= std::pow(2 / overflow, bits) && 4 * (count + 2) <= size;
    if (!sparse && bits < 32) continue;
    // The whole range keeps its upper half free for nodes appended later.
    const uint64_t step = (bits == 32 ? size / 2 : size) / (count + 1);
    uint64_t label = base + step / 2;
    for (NodeId id = left;; id = graph_.next(id), label += step) {
      Own(id).pos[Graph::Slot(id)] = static_cast<uint32_t>(label);
      if (id == right) return;
    }
  }
}

}  // namespace tare
