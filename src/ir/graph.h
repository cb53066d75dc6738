// A graph of one program: an immutable value made of pages of 64 nodes shared between versions.
//
// A NodeId names a value within one lineage and lives through passes. A version maps ids to
// definitions through a table of reference-counted pages; copying a Graph bumps page counts and a
// copy never changes. Order (prev, next, pos) is apart from definition. One node is one value;
// several results are a tuple meta and `getitem` nodes. Inputs are `placeholder` nodes, in order,
// first; the last node is `output`, whose operands are what the graph returns.
// Nothing here recurses on depth.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/ids.h"
#include "ir/lineage.h"
#include "ir/op_table.h"
#include "ir/page.h"
#include "ir/status.h"

namespace tare {

inline constexpr uint32_t kMaxNodes = 1u << 26;  // of one graph

struct NodeDef {
  Op op;
  AttrsId attrs;
  MetaId meta;
  QuantId quant{0};
  LocId loc;
  std::span<const NodeId> operands;
};

class Graph {
 public:
  Graph();  // empty, a new lineage
  // Copying is O(pages).

  // Nodes of this version, and the bound of their ids, which is the id of the next node made here.
  // Ids of erased nodes are not used again.
  uint32_t num_nodes() const { return num_nodes_; }
  uint32_t id_bound() const { return id_bound_; }
  bool Contains(NodeId id) const {
    if (id.index >= id_bound_) return false;
    const Page* page = pages_[id.index / kPageNodes].get();
    return page != nullptr && (page->live >> (id.index % kPageNodes) & 1) != 0;
  }

  Op op(NodeId id) const { return At(id).op[Slot(id)]; }
  AttrsId attrs(NodeId id) const { return At(id).attrs[Slot(id)]; }
  MetaId meta(NodeId id) const { return At(id).meta[Slot(id)]; }
  QuantId quant(NodeId id) const { return At(id).quant[Slot(id)]; }
  LocId loc(NodeId id) const { return At(id).loc[Slot(id)]; }
  // Valid until the node's page is next written.
  std::span<const NodeId> operands(NodeId id) const { return At(id).Operands(Slot(id)); }
  NodeDef Def(NodeId id) const { return {op(id), attrs(id), meta(id), quant(id), loc(id), operands(id)}; }

  // Topological order as a linked list.
  NodeId first() const { return first_; }
  NodeId last() const { return last_; }                           // the output node of a complete graph
  NodeId next(NodeId id) const { return At(id).next[Slot(id)]; }  // no value at the end
  NodeId prev(NodeId id) const { return At(id).prev[Slot(id)]; }
  bool Before(NodeId a, NodeId b) const { return Position(a) < Position(b); }
  // Grows along the order; other nodes' may change when one is inserted.
  uint32_t Position(NodeId id) const { return At(id).pos[Slot(id)]; }
  std::span<const NodeId> inputs() const { return *inputs_; }  // the placeholders

  class Iterator {
   public:
    Iterator(const Graph* graph, NodeId id) : graph_(graph), id_(id) {}
    NodeId operator*() const { return id_; }
    Iterator& operator++() {
      id_ = graph_->next(id_);
      return *this;
    }
    bool operator==(const Iterator& other) const { return id_ == other.id_; }

   private:
    const Graph* graph_;
    NodeId id_;
  };
  struct NodeRange {
    Iterator begin() const { return b; }
    Iterator end() const { return e; }
    Iterator b, e;
  };
  NodeRange nodes() const { return {{this, first()}, {this, NodeId{}}}; }

  // Columns of 64 nodes, ids page * 64 and on; null where this version has no nodes.
  uint32_t num_pages() const { return static_cast<uint32_t>(pages_.size()); }
  const Page* page(uint32_t index) const { return pages_[index].get(); }
  // Nodes per op, indexed by Op::index; as long as the largest op needs.
  std::vector<uint32_t> CountOps() const;

  // Printed name without `%`. Unique in the lineage.
  std::string_view NameOf(NodeId id) const { return lineage_->NameOf(id); }
  NodeId FindNode(std::string_view name) const;  // linear in nodes the first time
  const Lineage& lineage() const { return *lineage_; }
  // Makes this version the owner of its lineage: an edited copy gets one of its own, linear in nodes.
  Lineage& mutable_lineage();

  // Same pages, hence the same definitions and order: O(pages), no false "equal".
  bool SameVersion(const Graph& other) const;
  // Becomes a copy of `newer`, counting only references to pages that differ: for one that keeps step
  // with a graph under edit.
  void Follow(const Graph& newer);
  // Number of pages not shared with `other`.
  int PagesDiffering(const Graph& other) const;
  int64_t MemoryBytes() const;  // pages and page table, shared pages in full

 private:
  friend class GraphEdit;
  static uint32_t Slot(NodeId id) { return id.index % kPageNodes; }
  const Page& At(NodeId id) const {
    TARE_DCHECK(Contains(id));
    return *pages_[id.index / kPageNodes].get();
  }

  // True for the one version that may add to the lineage; a copy is not it.
  struct Ownership {
    bool held = true;
    Ownership() = default;
    Ownership(const Ownership&) : held(false) {}
    Ownership(Ownership&& other) noexcept : held(std::exchange(other.held, false)) {}
    Ownership& operator=(const Ownership& other) {
      if (this != &other) held = false;
      return *this;
    }
    Ownership& operator=(Ownership&& other) noexcept {
      held = std::exchange(other.held, false);
      return *this;
    }
  };

  std::vector<PageRef> pages_;
  std::shared_ptr<Lineage> lineage_;
  std::shared_ptr<const std::vector<NodeId>> inputs_;
  uint32_t num_nodes_ = 0;
  uint32_t id_bound_ = 0;
  NodeId first_, last_;
  Ownership ownership_;
};

// The writing end of a Graph: copies a page before the first write to it when it is shared.
// Used by builders (importers, text) and by the Rewriter; keeps neither users nor metadata.
class GraphEdit {
 public:
  explicit GraphEdit(Graph& graph) : graph_(graph) {}
  // `name` as Lineage::UniqueName gave it; one that is taken gets a suffix.
  NodeId Append(const NodeDef& def, std::string_view name);  // at the end of the order
  NodeId InsertBefore(NodeId where, const NodeDef& def, std::string_view name);
  void MoveBefore(NodeId node, NodeId where);
  void SetDef(NodeId id, const NodeDef& def);
  void SetMeta(NodeId id, MetaId meta) { Own(id).meta[Graph::Slot(id)] = meta; }
  void SetOperand(NodeId id, uint32_t index, NodeId value) { Own(id).MutableOperands(Graph::Slot(id))[index] = value; }
  void SetLoc(NodeId id, LocId loc) { Own(id).loc[Graph::Slot(id)] = loc; }
  void Erase(NodeId id);  // must have no users
  void SetInputs(std::span<const NodeId> inputs);

 private:
  Page& Own(NodeId id) {
    TARE_DCHECK(graph_.Contains(id));
    return graph_.pages_[id.index / kPageNodes].Own();
  }
  NodeId Make(const NodeDef& def, std::string_view name);
  void Define(NodeId id, const NodeDef& def);
  void LinkBefore(NodeId node, NodeId where);  // no value: at the end
  void Unlink(NodeId node);
  uint32_t LabelBetween(NodeId before, NodeId after);
  void SpreadLabels(NodeId around);

  Graph& graph_;
};

}  // namespace tare
