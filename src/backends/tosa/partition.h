// Parts of a partly lowered program that can become files of their own: .tosa for what the target runs, .pt2 for what
// is left.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "backends/tosa/legality.h"
#include "ir/program.h"

namespace tare {

// Nodes that one file holds. What enters and leaves is in program order.
struct Part {
  bool tosa = false;  // a region of the target, else what is left outside
  std::vector<NodeId> nodes;
  std::vector<NodeId> inputs;   // values from outside, constants excepted
  std::vector<NodeId> outputs;  // values that another part uses or the program returns
};

// All nodes of the main graph in as few parts as there are steps between nodes left outside and others, in the order
// in which they run: no part needs a value of a later one. A node of `outside` is never in a part of the target.
// Errors: Unimplemented [tosa_partition_c2] when a node left outside writes storage, which no file shares with another.
// Linear in nodes.
absl::StatusOr<std::vector<Part>> PartitionProgram(const Program& program, const std::vector<Outside>& outside);

// A program of its own: the inputs of the part are its user inputs, named after the values, then its outputs. The
// quantisation of values stays, bodies of higher-order ops go along. `program` is not changed.
absl::StatusOr<Program> ExtractPart(const Program& program, const Part& part);

}  // namespace tare
