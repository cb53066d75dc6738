// One field of a program's JSON is changed; the answer names it.
#include <doctest/doctest.h>

#include <string>

#include "../test_files.h"
#include "formats/pt2/pt2.h"
#include "ir/status.h"
#include "meta/context_factory.h"

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
