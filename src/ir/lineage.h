// Names and provenance of the nodes of one graph and of all its versions.
//
// Append-only. One version, the owner, may add to it; a copy of a graph that is edited gets a
// lineage of its own (Graph::mutable_lineage), so names do not depend on what happened to other
// copies. Reading is thread-safe against the owner's writing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ir/ids.h"

namespace tare {

// Where a node comes from, read from the metadata the model's file has for it.
struct SourceLoc {
  std::string_view file;  // of the innermost frame; "" unknown
  int line = 0;
  std::string_view function;
  std::string_view module_path;  // "encoder.layers.0"
  std::string_view module_type;  // "torch.nn.modules.linear.Linear"
};

using MetadataEntry = std::pair<std::string_view, std::string_view>;

class Lineage {
 public:
  Lineage();
  // The same nodes up to `id_bound`, the same locations.
  Lineage(const Lineage& other, uint32_t id_bound);
  Lineage(const Lineage&) = delete;
  ~Lineage();

  // Metadata of one node of the file, kept verbatim: key, value pairs (stack_trace,
  // nn_module_stack, torch_fn, custom, …). Equal lists share one id.
  LocId AddSource(std::span<const MetadataEntry> metadata);
  // `parent` (may have no value) redefined or created by `pass`.
  LocId AddPass(LocId parent, std::string_view pass);
  std::span<const MetadataEntry> Metadata(LocId id) const;  // of its root
  SourceLoc Source(LocId id) const;                         // parsed on demand
  std::string_view PassOf(LocId id) const;                  // last pass, "" = none
  LocId Parent(LocId id) const;                             // before the last pass
  // "model.py:41 in Encoder.forward, redefined by fold-double-permute"; "" when nothing is known.
  std::string Describe(LocId id) const;

  // Reserves and returns wanted, wanted_1, …: the first that is free. Linear in all calls together.
  std::string_view UniqueName(std::string_view wanted);
  std::string_view NameOf(NodeId id) const;
  NodeId Find(std::string_view name) const;
  uint32_t id_bound() const;
  // The next id; `name` is as UniqueName gave it, else it is made unique.
  NodeId AddNode(std::string_view name);

 private:
  struct Shared;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare
