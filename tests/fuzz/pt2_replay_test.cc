#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "pt2_target.h"

TEST_CASE("seeds of the archive fuzzer pass") {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  REQUIRE(root != nullptr);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(root) / "tests/data/fuzz/pt2")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  CHECK_GT(files.size(), 10);
  for (const std::filesystem::path& file : files) {
    CAPTURE(file.string());
    std::ifstream in(file, std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    tare::TryPt2(bytes.str());
  }
}
