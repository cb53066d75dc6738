// One field of a program's JSON is changed; the answer names it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "../test_files.h"
#include "formats/pt2/pt2.h"
#include "ir/status.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare {
namespace {

// The seed of the fuzzer, with the first `old` replaced.
std::string Changed(const std::string& seed, const std::string& old, const std::string& now) {
  std::string json = ReadFile(SourcePath("tests/data/fuzz/pt2/" + seed + ".json"));
  const size_t at = json.find(old);
  REQUIRE_MESSAGE(at != json.npos, seed, " has no ", old);
  return json.replace(at, old.size(), now);
}

TEST_CASE("a field that says nonsense is refused by name") {
  struct Case {
    std::string seed, old, now, check, names;
  };
  for (const auto& [seed, old, now, check, names] : std::initializer_list<Case>{
           {"sym_int_input", R"("type": "cpu")", R"("type": "abacus")", "json_c4", "unknown device type abacus"},
           {"sym_int_input", R"("type": "cpu")", R"("type": "")", "json_c4", "unknown device type"},
           {"sym_int_input", R"("type": "cpu")", R"("type": 3)", "json_c2", "device.type"},
       }) {
    CAPTURE(now);
    const auto context = MakeContext();
    const absl::StatusOr<Program> program = ReadPt2Json(*context, Changed(seed, old, now));
    REQUIRE_FALSE(program.ok());
    CHECK_EQ(CheckIdOf(program.status()), check);
    CHECK_MESSAGE(program.status().message().find(names) != std::string::npos, program.status().message());
  }
}

TEST_CASE("E10: ranges may be missing where no size is symbolic") {
  const auto context = MakeContext();
  const auto read = [&](const std::string& seed) {
    return ReadPt2Json(*context, Changed(seed, R"("range_constraints")", R"("constraints_of_range")"));
  };
  const absl::StatusOr<Program> program = read("constant_outputs"), symbolic = read("sym_int_input");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  CHECK(program->ranges.empty());
  REQUIRE_FALSE(symbolic.ok());
  CHECK_EQ(symbolic.status().message(), "top: key range_constraints is missing although sizes are symbolic [json_c3]");
}

TEST_CASE("E15: another major version is refused with both; unknown fields are kept") {
  const auto context = MakeContext();
  const std::string seed = "constant_outputs", version = R"("schema_version": {"major": 8)";
  const absl::StatusOr<Program> newer =
      ReadPt2Json(*context, Changed(seed, version, R"("schema_version": {"major": 9)"));
  REQUIRE_FALSE(newer.ok());
  CHECK_EQ(newer.status().message(), "schema_version: schema 9.20, this tare reads 8.x (newest known 8.20) [pt2_c4]");

  const std::string added = R"("mood": {"a": [1, null]}, )";
  const absl::StatusOr<Program> program =
      ReadPt2Json(*context, Changed(seed, R"("schema_version")", added + R"("schema_version")"));
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  const std::string file =
      (std::filesystem::temp_directory_path() / ("tare_fields_" + std::to_string(getpid()))).string();
  REQUIRE(WritePt2(*program, file).ok());
  const absl::StatusOr<Program> again = ReadPt2(*context, file);
  std::filesystem::remove(file);
  REQUIRE_MESSAGE(again.ok(), again.status().message());
  REQUIRE(again->raw_json.contains("mood"));
  CHECK_EQ(again->raw_json.at("mood"), R"({"a":[1,null]})");
}

TEST_CASE("E09: assertions, which return nothing, are answered from the metadata they name") {
  struct Case {
    std::string states, refusal;
  };
  const std::string dtype = R"({"name": "dtype", "arg": {"as_scalar_type": 7}, "kind": 1}, {"name": "device")";
  for (const auto& [states, refusal] : std::initializer_list<Case>{
           {"7", ""},
           {"5", "the tensor is f32, the program states i64 [assert_metadata_c3]"},
       }) {
    CAPTURE(states);
    const auto context = MakeContext();
    std::string now = dtype;
    now.replace(now.find('7'), 1, states);
    const absl::StatusOr<Program> program = ReadPt2Json(*context, Changed("argument_kinds", dtype, now));
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    int without_result = 0;
    for (const NodeId node : program->main().nodes())
      without_result += context->metas.Get(program->main().meta(node)).kind == MetaKind::kNone ? 1 : 0;
    CHECK_GE(without_result, 3);  // two assertions on values, one on metadata
    const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context);
    const std::string found(RefusalOf(*program, CheckProgram(*program, *inferrer)).message());
    CHECK_MESSAGE((refusal.empty() ? found.empty() : found.find(refusal) != std::string::npos), found);
  }
}

TEST_CASE("every device type of torch is read") {
  for (const char* type : {"cpu", "cuda", "meta", "mps", "xpu", "privateuseone"}) {
    CAPTURE(type);
    const auto context = MakeContext();
    const std::string json = Changed("sym_int_input", R"("type": "cpu")", std::string(R"("type": ")") + type + "\"");
    CHECK(ReadPt2Json(*context, json).ok());
  }
}

}  // namespace
}  // namespace tare
