#include "ir/program.h"

#include <doctest/doctest.h>

#include "ir/context.h"
#include "ir/text.h"
#include "tests/ir/test_ops.h"

namespace tare {
namespace {

TEST_CASE("a program is functional when no graph of it mutates") {
  Context context(TestOps());
  const auto functional = [&](std::string_view text) { return ParseProgram(context, text)->IsFunctional(); };
  CHECK(functional("graph main(%x: f32[2]) { %y = aten.relu.default(%x) : f32[2] return %y }"));
  CHECK(!functional("graph main(%x: f32[2]) { %y = aten.add_.Tensor(%x, 1) : f32[2] return %y }"));
  CHECK(
      !functional("graph main(%x: f32[2]) { %y = h.c.d(@b, [%x]) : f32[2] return %y }"
                  "graph b(%x: f32[2]) { %y = aten.add_.Tensor(%x, 1) : f32[2] return %y }"));
  Program program =
      *ParseProgram(context, "graph main(%x: f32[2]) { %y = aten.add_.Tensor(%x, 1) : f32[2] return %x }");
  GraphEdit(program.main()).Erase(program.main().FindNode("y"));
  CHECK(program.IsFunctional());
}

TEST_CASE("a copy of a program is edited alone") {
  Context context(TestOps());
  const Program program = *ParseProgram(context, "graph main(%x: f32[2]) { %y = a.b.c(%x) : f32[2] return %y }");
  const std::string before = PrintProgram(context, program);
  Program copy = program;
  GraphEdit(copy.main()).SetMeta(copy.main().FindNode("y"), context.metas.None());
  CHECK(PrintProgram(context, program) == before);
  CHECK(PrintProgram(context, copy) != before);
}

}  // namespace
}  // namespace tare
