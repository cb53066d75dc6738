// What of a lowered program a target does not run, and why.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/inferrer.h"
#include "ir/program.h"
#include "passes/pass_manager.h"

namespace tare {

// A node left outside, with the reason and what its author can do.
struct Outside {
  NodeId node;
  std::string check_id;  // "tosa_legal_c3"
  std::string why, remedy;
};

// Nodes of the main graph, in program order, that are neither inputs, constants nor the output, and are no TOSA, or
// are TOSA that their rules or a constraint of `spec` (targets/*.toml) forbid. Where no row says why, the last refusal
// of a pass does; `passes` are those that ran. `inferrer` answers for `spec`. Linear in nodes and refusals.
std::vector<Outside> FindOutside(const Program& program, std::string_view spec, Inferrer& inferrer,
                                 std::span<const PassStats> passes);

}  // namespace tare
