// TOSA specification strings: `TOSA-<1.0|1.1>+<INT|FP>[+FP][+8k][+u55][+u85][+extension…]`.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace tare {

// Errors: InvalidArgument [tosa_spec_c1] with the known versions, profiles and extensions.
absl::Status CheckTosaSpec(std::string_view spec);

// Whether `token` (a profile, extension or flag) is part of a valid spec; "1.0" and "1.1" ask for
// the version. Case-sensitive.
bool TosaSpecHas(std::string_view spec, std::string_view token);

}  // namespace tare
