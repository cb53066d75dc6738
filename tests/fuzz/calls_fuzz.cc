#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "calls_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tare::CallChecker checker;
  const std::string problem = checker.Check({reinterpret_cast<const char*>(data), size});
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}
