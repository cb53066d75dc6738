// Bodies of higher-order ops in a program made of a part of another.
#pragma once

#include "absl/status/status.h"
#include "ir/program.h"

namespace tare {

// Copies the bodies that nodes of `part`'s main graph name by their number in `program`, and the constants these
// bodies name, and makes the numbers those of `part`. Errors: Internal [tosa_partition_c3] a number that is none.
absl::Status TakeBodies(const Program& program, Program& part);

}  // namespace tare
