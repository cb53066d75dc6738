// Golden files of the passes to TOSA. `# spec:` is the specification, TOSA-1.0+INT+FP+int16 when it is not there.
#include <set>

#include "../../golden_file.h"
#include "backends/tosa/pass_list.h"
#include "doctest/doctest.h"
#include "ir/status.h"
#include "meta/context_factory.h"
#include "passes/pipeline.h"

namespace tare {
namespace {

TEST_CASE("golden files of the passes to TOSA") {
  std::set<std::string, std::less<>> run;
  CheckGoldenFiles("tests/backends/tosa/golden", [&](const std::string& input) {
    const std::unique_ptr<Context> context = MakeContext();
    for (const absl::StatusOr<Pass>& pass : PassesOf(*context, AllPasses(), input))
      if (pass.ok()) run.insert(std::string(pass->name().substr(0, pass->name().find(' '))));
    InferrerOptions options;
    options.spec = Directive(input, "spec").empty() ? "TOSA-1.0+INT+FP+int16" : Directive(input, "spec");
    return RunGolden(*context, AllPasses(), input, options);
  });
  for (const PassRow& row : TosaPasses()) CHECK_MESSAGE(run.contains(row.name), row.name);
}

TEST_CASE("the pipelines of the backend can be read") {
  const std::unique_ptr<Context> context = MakeContext();
  for (const PipelineText& row : BuiltinPipelines()) {
    const auto pipeline = ParsePipeline(*context, AllPasses(), row.name, row.text);
    CHECK_MESSAGE(pipeline.ok(), pipeline.status().ToString());
  }
}

}  // namespace
}  // namespace tare
