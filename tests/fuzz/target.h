// What one fuzzer does with its input. Each NAME_target.cc defines it once; `fuzz.cc` feeds it bytes
// of libFuzzer, `replay_test.cc` the seeds of tests/data/fuzz/NAME.
#pragma once

#include <string_view>

namespace tare {

// Aborts when a promise is broken; any other answer, a refusal included, is fine.
void TryInput(std::string_view bytes);

}  // namespace tare
