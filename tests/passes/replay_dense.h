// The slow twin of the editing session: replays a pass the obvious way.
//
// Before each visit it scans the whole graph for the next target; for each visit it builds a session
// from nothing, and after it re-infers every node of the program from its operands. What the session
// keeps from visit to visit (users, op lists, queue, cut-off) plays no part.
#pragma once

#include "absl/status/status.h"
#include "ir/inferrer.h"
#include "ir/program.h"
#include "passes/pass.h"

namespace tare {

absl::Status ReplayDense(Program& program, Inferrer& inferrer, const Pass& pass);

// Every value as its rule says, from the inputs down. Symbols that rules mint stay themselves;
// `declared` ops keep what they state, and so do bodies that no rule gives anything.
absl::Status ReinferAll(Program& program, Inferrer& inferrer);

}  // namespace tare
