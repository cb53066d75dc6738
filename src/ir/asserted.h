// What a program's asserts say of its symbols.
#pragma once

#include <vector>

#include "ir/program.h"

namespace tare {

inline constexpr size_t kMaxAsserted = 256;  // conditions that become facts; more only prove less

// Conditions of the `aten._assert_scalar` and `aten.sym_constrain_range` nodes of the main graph, in
// order. A run that gets past them satisfies them; the exporter knew them when it made later values.
std::vector<ExprId> AssertedConditions(const Program& program);

}  // namespace tare
