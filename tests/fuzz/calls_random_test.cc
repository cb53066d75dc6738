// The fuzzer of calls without a fuzzer: its seeds, and bytes from a fixed generator.
//
// TARE_CALLS=1000000 asks for more than the default number of calls and TARE_SEED for others.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "calls_target.h"

namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

}  // namespace

TEST_CASE("seeds of the fuzzer of calls pass") {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  REQUIRE(root != nullptr);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(root) / "tests/data/fuzz/calls")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  CHECK_GT(files.size(), 0);
  tare::CallChecker checker;
  for (const std::filesystem::path& file : files) {
    CAPTURE(file.string());
    std::ifstream in(file, std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    CHECK_EQ(checker.Check(bytes.str()), "");
  }
}

TEST_CASE("random calls keep the promises") {
  const int64_t count = FromEnvironment("TARE_CALLS", 40000);
  std::mt19937_64 random(static_cast<uint64_t>(FromEnvironment("TARE_SEED", 1)));
  tare::CallChecker checker;
  int64_t accepted = 0;
  std::string bytes(96, '\0');
  for (int64_t i = 0; i < count; ++i) {
    for (char& byte : bytes) byte = static_cast<char>(random());
    const std::string problem = checker.Check(bytes);
    if (!problem.empty()) FAIL_CHECK(problem);
    accepted += checker.accepted();
  }
  MESSAGE(accepted, " of ", count, " calls had an answer");
  CHECK_GT(accepted, count / 20);
}
