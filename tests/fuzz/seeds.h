// The seeds of a fuzzer, kept in tests/data/fuzz/NAME.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tare {

// File names and bytes, ordered by name. TARE_SOURCE_ROOT names the root of the repo.
std::vector<std::pair<std::string, std::string>> ReadSeeds(const std::string& fuzzer);

}  // namespace tare
