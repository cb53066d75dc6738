// Regions of a partly lowered program that can become .tosa files of their own.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "backends/tosa/legality.h"
#include "ir/program.h"

namespace tare {

// A set of nodes that one file holds. What enters and leaves is in program order.
struct Region {
  std::vector<NodeId> nodes;
  std::vector<NodeId> inputs;   // values from outside, constants excepted
  std::vector<NodeId> outputs;  // values that something outside uses
};

// TOSA nodes of the main graph that are not among `outside`, as few regions as there are steps between nodes left
// outside: no region needs a value that depends on its own results. In the order in which they can run. Linear in
// nodes.
std::vector<Region> PartitionRegions(const Program& program, const std::vector<Outside>& outside);

// What no region holds, as a region to be extracted: nodes left outside, with what regions need of them and they of
// regions. Nodes are in program order, which respects what depends on what.
Region RestOf(const Program& program, const std::vector<Region>& regions);

// A program of its own: the inputs of the region are its user inputs, named after the values, then its outputs. The
// quantisation of values stays. `program` is not changed.
absl::StatusOr<Program> ExtractRegion(const Program& program, const Region& region);

}  // namespace tare
