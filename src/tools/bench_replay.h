// What replaying a pass over a program costs, by what the pass does. Each time is the best of repeats.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "ir/inferrer.h"
#include "ir/program.h"

namespace tare {

struct ReplayTimes {
  int64_t nodes = 0;          // of all graphs
  int64_t op_nodes = 0;       // with the commonest op
  int64_t changed_nodes = 0;  // one in a hundred of main's, at least one; 0 = none can be changed
  // Nanoseconds of one replay, in a session that runs many passes:
  double skipped = 0;     // the target does not occur
  double unchanged = 0;   // targets the commonest op, looks at each such node, changes nothing
  double every_node = 0;  // looks at every node, changes nothing
  double changed = 0;     // gives `changed_nodes` another operand: a clone inserted before, or taken out again
  // A session made for one pass that changes nothing, and ended.
  double alone = 0;
};

// Works on a copy of `program`.
absl::StatusOr<ReplayTimes> TimeReplays(const Program& program, Inferrer& inferrer, int repeats);

}  // namespace tare
