// Checks that a program is well-formed: every operand defined before its use, arguments match the
// schema, outputs complete, bodies owned once, metadata present and within limits.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "ir/program.h"

namespace tare {

absl::Status Verify(const Program& program);
absl::Status VerifyGraph(const Program& program, GraphId graph);
absl::Status VerifyNodes(const Program& program, GraphId graph, std::span<const NodeId> nodes);

}  // namespace tare
