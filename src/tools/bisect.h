// Which pass breaks a program, by a command that says good or bad.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/program.h"

namespace tare {

struct Version {
  std::string after;  // the pass that made it; "" = as read
  Program program;
};

// Runs `command FILE.pt2` on versions until it knows the first that fails while the one before it
// passes: log2 of their number. -1 when the last one passes, 0 when the first one fails.
// The command's output goes to stderr. Errors: the program cannot be written, the command not run.
absl::StatusOr<int> FirstBad(const std::vector<Version>& versions, const std::string& command);

}  // namespace tare
