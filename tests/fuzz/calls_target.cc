#include <cstdio>
#include <cstdlib>

#include "call_checker.h"
#include "target.h"

namespace tare {

// A call made of the bytes; see CallChecker::Check.
void TryInput(std::string_view bytes) {
  static CallChecker checker;
  const std::string problem = checker.Check(bytes);
  if (problem.empty()) return;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

}  // namespace tare
