// Pipelines as data: reading, options, facts before and after, rounds.
#include "passes/pipeline.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "passes_fixture.h"

namespace tare {
namespace {

constexpr std::string_view kProgram = R"(graph main(%x: f32[2,3]) {
  %a = aten.clone.default(%x) : f32[2,3]
  %b = aten.permute.default(%a, dims=[1,0]) : f32[3,2]{1,3}
  %c = aten.permute.default(%b, dims=[1,0]) : f32[2,3]
  %y = aten.relu.default(%c) : f32[2,3]
  return %y
}
)";

absl::StatusOr<Pipeline> Read(PassesFixture& fixture, std::string_view text) {
  return ParsePipeline(*fixture.context, BuiltinPasses(), "p", text);
}

std::string RunText(PassesFixture& fixture, std::string_view pipeline_text, std::string_view program_text) {
  const auto pipeline = Read(fixture, pipeline_text);
  if (!pipeline.ok()) return std::string(pipeline.status().message());
  Program program = fixture.Parse(program_text);
  const auto inferrer = fixture.NewInferrer(program);
  const auto stats = RunPipeline(program, *inferrer, *pipeline);
  if (!stats.ok()) return std::string(stats.status().message());
  std::string text;
  for (const PassStats& pass : *stats) absl::StrAppend(&text, pass.name, pass.changed ? "*" : "", " ");
  return text + "\n" + fixture.Print(program);
}

TEST_CASE("the pipelines of the library can be read") {
  PassesFixture fixture;
  CHECK(BuiltinPipelines().size() >= 2);
  for (const PipelineText& row : BuiltinPipelines()) {
    // Those of a backend name its passes and are read in its tests.
    if (row.name.rfind("tosa-", 0) == 0 || row.name.rfind("ethos-", 0) == 0) continue;
    const auto pipeline = ParsePipeline(*fixture.context, BuiltinPasses(), row.name, row.text);
    CHECK_MESSAGE(pipeline.ok(), pipeline.status().ToString());
  }
}

TEST_CASE("a group repeats until nothing changes") {
  PassesFixture fixture;
  CHECK_EQ(
      RunText(fixture, "steps = [{ repeat = [\"remove-noops\", \"compose-permutes\"], at_most = 5 }, \"dead-code\"]",
              kProgram),
      R"(remove-noops* compose-permutes* remove-noops* compose-permutes remove-noops compose-permutes dead-code 
graph main(%x: f32[2,3]) {
  %y = aten.relu.default(%x) : f32[2,3]
  return %y
}
)");
}

TEST_CASE("facts are checked before and after") {
  PassesFixture fixture;
  const std::string writes = "graph main(%x: f32[2]) {\n  %w = aten.add_.Tensor(%x, 1) : f32[2]\n  return %w\n}\n";
  const std::string symbolic = "graph main(%x: f32[s0]) {\n  %y = aten.relu.default(%x) : f32[s0]\n  return %y\n}\n";
  struct Case {
    std::string pipeline, program;
    std::string_view want;
  };
  for (const Case& c : {
           Case{"requires = [\"functional\"]\nsteps = []", writes,
                "the program is not `functional`: %w is aten.add_.Tensor [pipeline_c3]"},
           Case{"requires = [\"static-shapes\"]\nsteps = []", symbolic,
                "the program is not `static-shapes`: %x has a symbolic extent [pipeline_c3]"},
           Case{"ensures = [\"without view\"]\nsteps = []", std::string(kProgram),
                "the program is not `without view`: %b is aten.permute.default [pipeline_c3]"},
           Case{"ensures = [\"without aten.clone.default\"]\nsteps = [\"dead-code\"]", std::string(kProgram),
                "the program is not `without aten.clone.default`: %a is aten.clone.default [pipeline_c3]"},
           Case{"ensures = [\"without view\"]\nsteps = [\"view-to-view-copy\"]", std::string(kProgram),
                "view-to-view-copy*"},
       }) {
    const std::string got = RunText(fixture, c.pipeline, c.program);
    CAPTURE(got);
    CHECK(absl::StartsWith(got, absl::string_view(c.want.data(), c.want.size())));
  }
}

TEST_CASE("what a pipeline file must not say") {
  PassesFixture fixture;
  struct Case {
    std::string_view text, want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"steps = [", "[pipeline_c1]"},
           {"steps = 3", "[pipeline_c2]"},
           {"", "[pipeline_c2]"},
           {"steps = []\ncolour = 1", "unknown field colour [pipeline_c2]"},
           {"steps = [\"nothing\"]", "unknown pass nothing; known are cancel-qdq"},
           {"steps = [3]", "[pipeline_c2]"},
           {"steps = [{ repeat = [] }]", "[pipeline_c2]"},
           {"steps = [{ repeat = [\"dead-code\"], at_most = 0 }]", "at_most is 0, must be 1 to 100 [pipeline_c2]"},
           {"steps = [{ pass = \"dead-code\", options = { fast = true } }]",
            "pass dead-code has no option fast [pass_c2]"},
           {"steps = [{ pass = \"dead-code\", options = { fast = [1] } }]", "[pipeline_c2]"},
           {"steps = [{ pass = \"dead-code\", colour = 1 }]", "unknown field colour of a pass [pipeline_c2]"},
           {"requires = [\"pretty\"]\nsteps = []", "unknown fact pretty"},
           {"requires = 3\nsteps = []", "requires must be a list of texts [pipeline_c2]"},
       }) {
    const auto pipeline = Read(fixture, c.text);
    REQUIRE(!pipeline.ok());
    const std::string got(pipeline.status().message());
    CAPTURE(got);
    CHECK(absl::StrContains(got, absl::string_view(c.want.data(), c.want.size())));
  }
}

}  // namespace
}  // namespace tare
