// Guards of the exporter that name inputs become facts of the program.
#include <doctest/doctest.h>

#include <string>

#include "../test_files.h"
#include "formats/pt2/pt2.h"
#include "meta/context_factory.h"

namespace tare {
namespace {

std::string ProgramWithGuard(const std::string& guard) {
  std::string json = ReadFile(SourcePath("tests/data/fuzz/pt2/sym_int_input.json"));
  const std::string old = "L['k'] >= 2";
  const size_t at = json.find(old);
  REQUIRE(at != json.npos);
  return json.replace(at, old.size(), guard);
}

TEST_CASE("guards on inputs become facts") {
  struct Case {
    std::string guard;
    Tri is_even;
  };
  for (const auto& [guard, is_even] : std::initializer_list<Case>{
           {"L['k'] >= 2", Tri::kUnknown},
           {"L['k'] % 2 == 0", Tri::kYes},
           {"L['other'].size()[0] == 2", Tri::kUnknown},            // no such input
           {"__import__('os').getpid() == L['k']", Tri::kUnknown},  // outside the grammar
       }) {
    CAPTURE(guard);
    const auto context = MakeContext();
    const absl::StatusOr<Program> program = ReadPt2Json(*context, ProgramWithGuard(guard));
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const Graph& main = program->main();
    const Dim k = context->metas.Get(main.meta(main.FindNode("k"))).value;
    SymStore& syms = context->syms;
    CHECK(syms.Prove(syms.Eq(syms.Mod(k, Dim::Static(2)), Dim::Static(0)), program->facts.get()) == is_even);
  }
}

}  // namespace
}  // namespace tare
