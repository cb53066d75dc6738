// The fuzzer of calls without a fuzzer: bytes from a fixed generator.
//
// TARE_CALLS=1000000 asks for more than the default number of calls and TARE_SEED for others.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "call_checker.h"

namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

}  // namespace

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
