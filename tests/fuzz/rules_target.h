// What the fuzzer of the rule compiler does with its input, and the replay of its seeds too.
#pragma once

#include <string_view>

namespace tare {

// Compiles a file of rows; what compiles is asked about one call of each op.
void TryRules(std::string_view text);

}  // namespace tare
