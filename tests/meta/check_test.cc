// What the check of a program takes as equal, and what it does not.
#include "meta/check.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "ir/context.h"
#include "ir/text.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare {
namespace {

// Names of the values that differ, in order, or the error of the text.
std::string Differing(std::string_view text) {
  const auto context = MakeContext();
  absl::StatusOr<Program> program = ParseProgram(*context, text, nullptr);
  if (!program.ok()) return program.status().ToString();
  const auto inferrer = MakeInferrer(*context, {});
  const CheckReport report = CheckProgram(*program, *inferrer);
  std::string names;
  for (const ValueDifference& difference : report.differences) {
    if (!names.empty()) names += ' ';
    names += NameOfValue(*program, difference);
  }
  return names;
}

struct Case {
  std::string_view what, text, differing;
};
void CheckCases(std::initializer_list<Case> cases) {
  for (const auto& [what, text, differing] : cases) {
    CAPTURE(what);
    CHECK_EQ(Differing(text), differing);
  }
}

TEST_CASE("what is stated is compared: dtype, shape, strides, offset") {
  CheckCases({
      {"as derived", "graph main(%x: f32[2,3]) { %y = aten.permute.default(%x, dims=[1,0]) : f32[3,2]{1,3} return %y }",
       ""},
      {"dtype", "graph main(%x: f32[2,3]) { %y = aten.permute.default(%x, dims=[1,0]) : f16[3,2]{1,3} return %y }",
       "%y"},
      {"shape", "graph main(%x: f32[2,3]) { %y = aten.permute.default(%x, dims=[1,0]) : f32[2,3]{1,3} return %y }",
       "%y"},
      {"strides", "graph main(%x: f32[2,3]) { %y = aten.permute.default(%x, dims=[1,0]) : f32[3,2] return %y }", "%y"},
      {"offset", "graph main(%x: f32[4]) { %y = aten.slice.Tensor(%x, start=1, end=3) : f32[2] return %y }", "%y"},
      {"one wrong statement is one difference",
       "graph main(%x: f32[2,3]) { %y = aten.relu.default(%x) : f32[2,4] %z = aten.relu.default(%y) : f32[2,4] return "
       "%z }",
       "%y"},
      {"a refused call", "graph main(%x: f32[2,3]) { %y = aten.mm.default(%x, %x) : f32[2,3] return %y }", "%y"},
  });
}

TEST_CASE("strides matter only where elements are") {
  CheckCases({
      {"of an extent of 1", "graph main(%x: f32[1,3]) { %y = aten.relu.default(%x) : f32[1,3]{7,1} return %y }", ""},
      {"of an empty tensor", "graph main(%x: f32[2,0,3]) { %y = aten.relu.default(%x) : f32[2,0,3]{9,9,1} return %y }",
       ""},
      {"of an extent of 2", "graph main(%x: f32[2,3]) { %y = aten.relu.default(%x) : f32[2,3]{7,1} return %y }", "%y"},
      {"max(1,u0) is u0 where there are u0 rows",
       "symbols { u0 unbacked in [0,inf] }\n"
       "graph main(%x: f32[2,u0]) { %y = aten.relu.default(%x) : f32[2,u0]{max(1,u0),1} return %y }",
       ""},
      {"another stride",
       "symbols { u0 unbacked in [0,inf] }\n"
       "graph main(%x: f32[2,u0]) { %y = aten.relu.default(%x) : f32[2,u0]{2*u0,1} return %y }",
       "%y"},
  });
}

TEST_CASE("guards of an answer hold for what it is compared with") {
  CheckCases({
      {"equal hints",
       "symbols { s0 hint 4 s1 hint 4 }\n"
       "graph main(%x: f32[s0], %y: f32[s1]) { %z = aten.add.Tensor(%x, %y) : f32[s1] return %z }",
       ""},
      {"another symbol",
       "symbols { s0 hint 4 s1 hint 4 s2 hint 4 }\n"
       "graph main(%x: f32[s0], %y: f32[s1], %w: f32[s2]) { %z = aten.add.Tensor(%x, %y) : f32[s2] return %z }",
       "%z"},
  });
}

TEST_CASE("asserts of a program hold in it") {
  constexpr std::string_view kBegin =
      "symbols { s0 hint 8 u0 unbacked in [0,inf] u1 unbacked in [0,inf] }\n"
      "graph main(%x: f32[s0], %a: i64[], %b: i64[]) {\n"
      "  %n = aten._local_scalar_dense.default(%a) : int(u0)\n  %m = aten._local_scalar_dense.default(%b) : int(u1)\n"
      "  %size = aten.sym_size.int(%x, dim=0) : int(s0)\n  %fits = _operator.le(a=%m, b=%size) : bool(u1 <= s0)\n";
  constexpr std::string_view kEnd = "  %y = aten.slice.Tensor(%x, end=%m) : f32[u1]\n  return %y\n}\n";
  CHECK_EQ(Differing(std::string(kBegin) + std::string(kEnd)), "%y");
  CHECK_EQ(Differing(std::string(kBegin) + "  %ok = aten._assert_scalar.default(self=%fits, assert_msg=\"\") : none\n" +
                     std::string(kEnd)),
           "");
  CHECK_EQ(Differing("symbols { u0 unbacked in [0,inf] }\ngraph main(%x: f32[8], %a: i64[]) {\n"
                     "  %n = aten._local_scalar_dense.default(%a) : int(u0)\n"
                     "  %r = aten.sym_constrain_range_for_size.default(size=%n, min=0, max=8) : none\n"
                     "  %y = aten.slice.Tensor(%x, end=%n) : f32[u0]\n  return %y\n}\n"),
           "");
}

TEST_CASE("numbers that nothing uses may be stated as none, values that are there may not") {
  CheckCases({
      {"a number", "graph main(%x: f32[2]) { %n = aten.sym_size.int(%x, dim=0) : none return %x }", ""},
      {"a tensor", "graph main(%x: f32[2]) { %n = aten.relu.default(%x) : none return %x }", "%n"},
  });
}

TEST_CASE("symbols that a node mints are the ones stated in their place") {
  CheckCases({
      {"as stated",
       "symbols { u5 unbacked in [0,2] }\n"
       "graph main(%x: f32[2]) { %y = aten.nonzero.default(%x) : i64[u5,1]{1,u5} return %y }",
       ""},
      {"two for one",
       "symbols { u5 unbacked in [0,2] u6 unbacked in [0,2] }\n"
       "graph main(%x: f32[2,2]) { %y = aten.nonzero.default(%x) : i64[u5,2]{1,u6} return %y }",
       "%y"},
  });
}

TEST_CASE("a constant is what its placeholder says") {
  CheckCases({
      {"the same",
       "constants { $0: f32[2,2] \"w\" parameter file \"w\" }\ngraph main(%p: f32[2,2] = parameter \"w\" $0) { return "
       "%p }",
       ""},
      {"strides",
       "constants { $0: f32[2,2]{1,2} \"w\" parameter file \"w\" }\ngraph main(%p: f32[2,2] = parameter \"w\" $0) { "
       "return %p }",
       "%p"},
      {"dtype",
       "constants { $0: i32[2,2] \"w\" parameter file \"w\" }\ngraph main(%p: f32[2,2] = parameter \"w\" $0) { return "
       "%p }",
       "%p"},
  });
}

TEST_CASE("where a loop records gradients its results are the last of stacked iterates") {
  constexpr std::string_view kText =
      "symbols { u0 unbacked in [1,inf] }\n"
      "graph main(%w: f32[4], %x: f32[2,4]) {\n"
      "  %r = higher_order.while_loop(@go_on, @body, [%x], [%w]) : (f32[2,4]@(8*u0-8))\n  return %x\n}\n"
      "graph go_on(%x: f32[2,4], %w: f32[4]) { %c = aten.any.default(%x) : bool[] return %c }\n"
      "graph body(%x: f32[2,4], %w: f32[4]) { %y = aten.mul.Tensor(%x, %w) : f32[2,4] return %y }\n";
  const auto context = MakeContext();
  absl::StatusOr<Program> program = ParseProgram(*context, kText, nullptr);
  REQUIRE(program.ok());
  const auto inferrer = MakeInferrer(*context, {});
  CHECK_EQ(CheckProgram(*program, *inferrer).different, 1);
  program->graphs[0].requires_grad.insert(program->main().inputs()[0]);
  CHECK_EQ(CheckProgram(*program, *inferrer).different, 0);
}

TEST_CASE("a body under autocast casts what its ops read") {
  constexpr std::string_view kBody =
      "graph body(%x: f32[2,3], %w: f32[4,3]) { %y = aten.linear.default(%x, %w) : bf16[2,4] %z = "
      "aten.relu.default(%x) : "
      "f32[2,3] %m = aten.mse_loss.default(%y, %y) : f32[] %s = aten.stack.default([%y, %y]) : bf16[2,2,4] %t = "
      "aten.cat.default([%y, %x], dim=1) : f32[2,7] return %y, %z }\n";
  const auto with = [&](std::string_view arguments, std::string_view dtype) {
    std::string text("graph main(%x: f32[2,3], %w: f32[4,3]) { %r = higher_order.wrap_with_autocast(");
    text.append(arguments).append(", true, @body, %x, %w) : (");
    text.append(dtype).append("[2,4], f32[2,3]) return %x }\n").append(kBody);
    return Differing(text);
  };
  CHECK_EQ(with("\"cpu\", bf16, true", "bf16"), "");
  CHECK_EQ(with("\"cpu\", none, true", "bf16"), "");
  CHECK_EQ(with("\"cpu\", f16, true", "bf16"), "%y in body %s in body");
  CHECK_EQ(with("\"cpu\", bf16, false", "bf16"), "%y in body %m in body");
}

}  // namespace
}  // namespace tare
