// What an accelerator cannot run although it is legal TOSA.
#pragma once

#include <string_view>
#include <vector>

#include "backends/tosa/legality.h"

namespace tare {

// Reasons, by check id ethos_u_c1 …
std::span<const LegalityRow> ConstraintRows();

// TOSA nodes of the main graph that Ethos-U55 and U65 do not run, when `spec` has u55; in program order.
// Source: what ethos-u-vela 5 compiles for these accelerators, found by compiling files of one operator.
std::vector<Outside> FindUnsupported(const Program& program, std::string_view spec);

}  // namespace tare
