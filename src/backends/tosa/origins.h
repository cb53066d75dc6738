// Which nodes of a program the nodes of its lowering come from.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace tare {

// Marks the provenance of every node of the main graph, so that passes hand the mark on to what they make of it. To be
// used on a copy: the marks show in descriptions, and they point into this object.
class Origins {
 public:
  explicit Origins(Program& program);
  // The marked node that `node` of a later version of the program comes from; no value when there is none.
  NodeId Of(const Program& program, NodeId node) const;

 private:
  std::vector<std::string> marks_;  // by node id
};

}  // namespace tare
