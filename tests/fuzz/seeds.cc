#include "seeds.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tare {

std::vector<std::pair<std::string, std::string>> ReadSeeds(const std::string& fuzzer) {
  namespace fs = std::filesystem;
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  std::vector<std::pair<std::string, std::string>> seeds;
  for (const auto& entry :
       fs::directory_iterator(fs::path(root != nullptr ? root : ".") / "tests/data/fuzz" / fuzzer)) {
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    seeds.emplace_back(entry.path().filename().string(), bytes.str());
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

}  // namespace tare
