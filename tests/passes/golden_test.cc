// Golden files of the built-in passes. Each is replayed by the slow twin too.
#include "../golden_file.h"
#include "passes_fixture.h"
#include "replay_dense.h"

namespace tare {
namespace {

std::string RunGoldenDense(Context& context, std::string_view input) {
  Program program = ParseGolden(context, input);
  InferrerOptions options;
  options.facts = program.facts;
  options.use_memo = false;
  const auto inferrer = MakeInferrer(context, options);
  for (const absl::StatusOr<Pass>& pass : PassesOf(context, BuiltinPasses(), input))
    if (!ReplayDense(program, *inferrer, *pass).ok()) break;
  return PrintProgram(context, program);
}

TEST_CASE("golden files of passes") {
  PassesFixture fixture;
  CheckGoldenFiles("tests/passes/golden", [&](const std::string& input) {
    const GoldenAnswer answer = RunGolden(*fixture.context, BuiltinPasses(), input, {});
    CHECK_EQ(RunGoldenDense(*fixture.context, input), answer.program);
    return answer;
  });
}

}  // namespace
}  // namespace tare
