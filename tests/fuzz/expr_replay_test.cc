#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "expr_target.h"

TEST_CASE("seeds of the expression fuzzer pass") {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  REQUIRE(root != nullptr);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(root) / "tests/data/fuzz/expr")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  CHECK_GT(files.size(), 10);
  for (const std::filesystem::path& file : files) {
    CAPTURE(file.string());
    std::ifstream in(file, std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    tare::TryExpression(bytes.str());
  }
}
