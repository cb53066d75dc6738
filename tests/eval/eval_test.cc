// Running whole programs: inputs, constants, memory, bodies.
#include "eval/eval.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "doctest/doctest.h"
#include "eval/kernels.h"
#include "ir/status.h"
#include "ir/text.h"
#include "meta/context_factory.h"
#include "run_text.h"

using namespace tare;

TEST_CASE("kernels are of known ops and sorted") {
  const std::unique_ptr<Context> context = MakeContext();
  std::string_view last;
  for (const KernelRow& row : AllKernels()) {
    CAPTURE(row.op);
    CHECK(last < row.op);
    last = row.op;
    // Ops without a row of rules may occur in programs all the same.
    if (row.op.starts_with("tosa.")) CHECK(context->ops.Find(row.op).has_value());
  }
  // All of TOSA 1.0 but those that programs hold otherwise: CONST, CUSTOM, control flow, variables.
  int without = 0;
  for (int i = 0; i < context->ops.builtin_count(); ++i) {
    const std::string_view name = context->ops.Name(Op{static_cast<uint16_t>(i)});
    if (!name.starts_with("tosa.") || FindKernel(name) != nullptr) continue;
    CAPTURE(name);
    CHECK(name.find("BLOCK_SCALED") != std::string_view::npos);
    ++without;
  }
  CHECK_EQ(without, 3);
}

TEST_CASE("bodies run") {
  CHECK_EQ(RunProgram(R"(graph main(%p: bool[], %x: f32[1]) {
  %c = higher_order.cond(%p, @t, @f, [%x]) : (f32[1])
  %y = getitem(%c, index=0) : f32[1]
  return %y
}
graph t(%x: f32[1]) { %y = aten.add.Scalar(%x, other=1) : f32[1] return %y }
graph f(%x: f32[1]) { %y = aten.neg.default(%x) : f32[1] return %y }
)",
                      {"bool[] false", "f32[1] 2.0"}, ""),
           "f32[1] -2");
  CHECK_EQ(RunProgram(R"(graph main(%n: i64[], %x: f32[1]) {
  %w = higher_order.while_loop(@c, @b, [%n, %x], []) : (i64[], f32[1])
  %y = getitem(%w, index=1) : f32[1]
  return %y
}
graph c(%n: i64[], %x: f32[1]) { %g = aten.gt.Scalar(%n, other=0) : bool[] return %g }
graph b(%n: i64[], %x: f32[1]) {
  %m = aten.sub.Tensor(%n, 1) : i64[]
  %y = aten.mul.Scalar(%x, other=2) : f32[1]
  return %m, %y
}
)",
                      {"i64[] 5", "f32[1] 1.0"}, ""),
           "f32[1] 32");
}

TEST_CASE("E14: a constant in channels-last order is read in its own order") {
  const std::unique_ptr<Context> context = MakeContext();
  absl::StatusOr<Program> program = ParseProgram(*context, R"(graph main(%c: f32[1,2,2,2]{8,1,4,2} = parameter "c") {
  %y = aten.add.Tensor(%c, %c) : f32[1,2,2,2]{8,1,4,2}
  return %y, %c
}
)");
  REQUIRE(program.ok());
  const float stored[] = {0, 4, 1, 5, 2, 6, 3, 7};
  program->constants[0].payload = {.owner = nullptr, .bytes = std::as_bytes(std::span(stored))};
  const absl::StatusOr<EvalResult> result = Evaluate(*program, {});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK_EQ(PrintValue(Value::List(result->outputs)), "f32[1,2,2,2] 0 2 4 6 8 10 12 14; f32[1,2,2,2] 0 1 2 3 4 5 6 7");
}

TEST_CASE("inputs, sizes and memory are checked") {
  const std::unique_ptr<Context> context = MakeContext();
  const auto run = [&](std::string_view text, std::vector<Value> inputs, int64_t limit) {
    const absl::StatusOr<Program> program = ParseProgram(*context, text);
    REQUIRE(program.ok());
    EvalOptions options;
    options.memory_limit_bytes = limit;
    const absl::StatusOr<EvalResult> result = Evaluate(*program, inputs, options);
    return result.ok() ? PrintValue(Value::List(result->outputs)) : CheckIdOf(result.status());
  };
  const std::string_view doubled = "graph main(%x: f32[2]) { %y = aten.add.Tensor(%x, %x) : f32[2] return %y }";
  const Value two(ParseTensor("f32[2] 1.0 2.0").value()), three(ParseTensor("f32[3] 1.0").value());
  CHECK_EQ(run(doubled, {two}, 1 << 20), "f32[2] 2 4");
  CHECK_EQ(run(doubled, {}, 1 << 20), "eval_c4");
  CHECK_EQ(run(doubled, {two, two}, 1 << 20), "eval_c4");
  CHECK_EQ(run(doubled, {three}, 1 << 20), "eval_c4");
  CHECK_EQ(run(doubled, {Value::Int(1)}, 1 << 20), "eval_c4");
  CHECK_EQ(run("graph main() { %y = aten.full.default(size=[1000000,1000000], fill_value=1) : f32[1000000,1000000] "
               "return %y }",
               {}, 1 << 20),
           "eval_c3");
  CHECK_EQ(run("graph main() { %y = aten.full.default(size=[4000000000,4000000000], fill_value=1) : f32[1] return %y }",
               {}, 1 << 20),
           "eval_c1");
  CHECK_EQ(run("graph main(%x: f32[2]) { %y = aten.neg.default(%x) : f32[3] return %y }", {two}, 1 << 20), "eval_c8");
  CHECK_EQ(
      run("graph main(%w: f32[2] = parameter \"w\") { %y = aten.neg.default(%w) : f32[2] return %y }", {}, 1 << 20),
      "eval_c9");
  // A chain keeps two values at a time: each has 4000 bytes.
  std::string chain = "graph main(%x: f32[1000]) { %y0 = aten.neg.default(%x) : f32[1000]\n";
  for (int i = 1; i < 50; ++i) absl::StrAppend(&chain, "%y", i, " = aten.neg.default(%y", i - 1, ") : f32[1000]\n");
  chain += "%s = aten.amax.default(%y49) : f32[] return %s }";
  // Writing again and again to one storage costs as much each time.
  std::string writes = "graph main(%x: f32[1]) { %y0 = aten.clone.default(%x) : f32[1]\n";
  for (int i = 1; i < 20000; ++i) absl::StrAppend(&writes, "%y", i, " = aten.neg_.default(%y", i - 1, ") : f32[1]\n");
  writes += "return %y19999, %y0 }";
  CHECK_EQ(run(writes, {Value(ParseTensor("f32[1] 3.0").value())}, 1 << 20), "f32[1] -3; f32[1] -3");
  CHECK_EQ(run(chain, {Value(ParseTensor("f32[1000] 3.0").value())}, 9000), "f32[] 3");
}
