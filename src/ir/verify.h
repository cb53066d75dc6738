// Checks that a program is well-formed: every operand defined before its use, arguments match the
// schema, outputs complete, bodies owned once, metadata present and within limits.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "ir/program.h"

namespace tare {

// Errors: InvalidArgument with the node as payload (NodeOf): verify_c1 inputs first, c2 output last,
// c3 order, c4 operator, c5 operands, c6 operands against arguments, c7 arguments against the schema,
// c8 owners of bodies, c9 no metadata, c10 metadata out of limits, c11 signature.
absl::Status Verify(const Program& program);
absl::Status VerifyGraph(const Program& program, GraphId graph);
// Only these nodes; erased ones are passed over.
absl::Status VerifyNodes(const Program& program, GraphId graph, std::span<const NodeId> nodes);

}  // namespace tare
