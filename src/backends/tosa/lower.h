// From an exported program to TOSA: the edge, the pipeline of the target, and what came of it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/tosa/legality.h"
#include "backends/tosa/targets.h"
#include "ir/program.h"
#include "passes/pass_manager.h"

namespace tare {

// What the program takes and gives before its edge is moved.
struct StatedEdge {
  std::map<uint32_t, MetaId> inputs;  // by index of the input's node, which stays
  std::vector<MetaId> outputs;        // operands of the output, in order
};

struct LowerResult {
  std::vector<PassStats> passes;
  std::vector<Outside> outside;  // nodes the target does not run, in program order; empty = the whole program fits
  StatedEdge stated;
};

// Lowers the main graph of `program` in place. Nodes that cannot be lowered, and those whose TOSA the accelerator does
// not run, stay as they are and are listed with a reason; an error leaves the program as it was before the pass that
// failed. The spec becomes an entry of Program::verifiers.
absl::StatusOr<LowerResult> LowerToTosa(Program& program, const TosaTarget& target, const RunOptions& options = {});

}  // namespace tare
