// Passes and pipelines named on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/context.h"
#include "passes/pipeline.h"

namespace tare {

// Errors: NotFound [pass_c1] for a name that is none.
absl::StatusOr<std::vector<Pass>> SelectPasses(Context& context, const std::vector<std::string>& names);

// The passes of `names` as a pipeline of one step, or the pipeline called `pipeline`: one of those that
// come with tare, or a file. Errors: of SelectPasses, ParsePipeline and of reading the file.
absl::StatusOr<Pipeline> SelectPipeline(Context& context, const std::vector<std::string>& names,
                                        const std::string& pipeline);

}  // namespace tare
