// A graph of one program: an immutable value made of pages of 64 nodes shared between versions.
//
// A NodeId names a value within one lineage and lives through passes. A version maps ids to
// definitions through a table of reference-counted pages; copying a Graph bumps page counts and a
// copy never changes. Order (prev, next, pos) is apart from definition. One node is one value;
// several results are a tuple meta and `getitem` nodes. Inputs are `placeholder` nodes, in order,
// first; the last node is `output`, whose operands are what the graph returns.
// Nothing here recurses on depth.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/ids.h"
#include "ir/op_table.h"

namespace tare {

inline constexpr uint32_t kPageNodes = 64;
inline constexpr uint32_t kMaxNodes = 1u << 26;  // of one graph
inline constexpr int kMaxOperands = 1 << 16;     // of one node

struct Page;    // graph.cc: columns of 64 nodes
class PageRef;  // intrusive reference to a Page

// Names and provenance of one lineage; append-only, shared by all its versions, one writer.
class Lineage;

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
  Graph();              // empty, a new lineage
  Graph(const Graph&);  // O(pages)
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  // Nodes of this version, and the bound of their ids (ids of erased nodes are not used again).
  uint32_t num_nodes() const;
  uint32_t id_bound() const;
  bool Contains(NodeId id) const;

  Op op(NodeId id) const;
  AttrsId attrs(NodeId id) const;
  MetaId meta(NodeId id) const;
  QuantId quant(NodeId id) const;
  LocId loc(NodeId id) const;
  std::span<const NodeId> operands(NodeId id) const;
  NodeDef Def(NodeId id) const;

  // Topological order as a linked list.
  NodeId first() const;
  NodeId last() const;           // the output node of a complete graph
  NodeId next(NodeId id) const;  // no value at the end
  NodeId prev(NodeId id) const;
  bool Before(NodeId a, NodeId b) const;
  std::span<const NodeId> inputs() const;  // the placeholders

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

  // Printed name without `%`. Unique in the lineage.
  std::string_view NameOf(NodeId id) const;
  NodeId FindNode(std::string_view name) const;  // linear in nodes the first time
  const Lineage& lineage() const;
  Lineage& mutable_lineage();

  // Same pages, hence the same definitions and order: O(pages), no false "equal".
  bool SameVersion(const Graph& other) const;
  // Number of pages not shared with `other`.
  int PagesDiffering(const Graph& other) const;
  int64_t MemoryBytes() const;  // pages and page table, shared pages in full

 private:
  friend class GraphEdit;
  struct Impl;
  Impl* impl_;
};

// The writing end of a Graph: copies a page before the first write to it when it is shared.
// Used by builders (importers, text) and by the Rewriter; keeps neither users nor metadata.
class GraphEdit {
 public:
  explicit GraphEdit(Graph& graph);
  NodeId Append(const NodeDef& def, std::string_view name);  // before the end of the order
  NodeId InsertBefore(NodeId where, const NodeDef& def, std::string_view name);
  void MoveBefore(NodeId node, NodeId where);
  void SetDef(NodeId id, const NodeDef& def);
  void SetMeta(NodeId id, MetaId meta);
  void SetOperand(NodeId id, uint32_t index, NodeId value);
  void SetLoc(NodeId id, LocId loc);
  void Erase(NodeId id);  // must have no users
  void SetInputs(std::span<const NodeId> inputs);

 private:
  Graph& graph_;
};

// Where a node comes from: the model's source (stack trace, module path) as the file gives it, and
// the passes that redefined it since.
struct SourceLoc {
  std::string_view file;  // of the innermost frame; "" unknown
  int line = 0;
  std::string_view function;
  std::string_view module_path;  // "encoder.layers.0"
  std::string_view module_type;
};

class Lineage {
 public:
  Lineage();
  ~Lineage();
  // Metadata of one node of the file, kept verbatim: key, value pairs (stack_trace,
  // nn_module_stack, torch_fn, custom, …). Equal lists share one id.
  LocId AddSource(std::span<const std::pair<std::string_view, std::string_view>> metadata);
  // `parent` redefined or created by `pass`.
  LocId AddPass(LocId parent, std::string_view pass);
  std::span<const std::pair<std::string_view, std::string_view>> Metadata(LocId id) const;  // of its root
  SourceLoc Source(LocId id) const;                                                         // parsed on demand
  std::string_view PassOf(LocId id) const;                                                  // last pass, "" = none
  // "model.py:41 in Encoder.forward, redefined by fold-double-permute"; "" when nothing is known.
  std::string Describe(LocId id) const;
  std::string_view UniqueName(std::string_view wanted);  // wanted, wanted_1, … ; copied

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare
