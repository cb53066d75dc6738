// One call of each built-in op with its answer: ops/examples.txt, which the build puts into the command.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/context.h"
#include "meta/golden.h"

namespace tare {

// The file (op_examples_data.cc).
std::string_view OpExamplesText();

struct OpExample {
  std::string call;    // with ` | facts` where it needs them
  std::string answer;  // tare's own, now
};

// Nothing for an op without an example: those of `--ops` files. Cost: finds the line, answers it.
std::optional<OpExample> ExampleOf(GoldenChecker& checker, std::string_view op);

}  // namespace tare
