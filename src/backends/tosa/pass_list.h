// The passes of the TOSA backend, by name; and all passes of tare that pipelines may name.
#pragma once

#include "passes/pass_list.h"

namespace tare {

std::span<const PassRow> TosaPasses();
// BuiltinPasses and TosaPasses, by name.
std::span<const PassRow> AllPasses();

}  // namespace tare
