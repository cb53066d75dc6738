// Passes named on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/context.h"
#include "passes/pass.h"

namespace tare {

// Errors: NotFound [pass_c1] for a name that is none.
absl::StatusOr<std::vector<Pass>> SelectPasses(Context& context, const std::vector<std::string>& names);

}  // namespace tare
