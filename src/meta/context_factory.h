// Contexts with the ops of ops/*.toml, and how to add more.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "ir/context.h"

namespace tare {

std::unique_ptr<Context> MakeContext();

// Compiles a file of rows and adds its ops to `context`. Not while other threads use the context.
// Errors: InvalidArgument with file, line and column: [rule_c1] TOML, [rule_c2] syntax, [rule_c3]
// unknown names, [rule_c4] argument counts, [rule_c5] sizes, [rule_c6] fields, [rule_c7] a built-in
// op is described again.
absl::Status AddOpsFile(Context& context, std::string_view file_name, std::string_view text);

}  // namespace tare
