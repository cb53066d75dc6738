#include "seeds.h"

#include <algorithm>

#include "../test_files.h"

namespace tare {

std::vector<std::pair<std::string, std::string>> ReadSeeds(const std::string& fuzzer) {
  std::vector<std::pair<std::string, std::string>> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/data/fuzz/" + fuzzer)))
    seeds.emplace_back(entry.path().filename().string(), ReadFile(entry.path()));
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

}  // namespace tare
