// Graphs of hostile size: no recursion on depth, no square of anything.
#include <string>

#include "absl/strings/str_cat.h"
#include "ir/verify.h"
#include "meta/op_names.h"
#include "passes/session.h"
#include "passes_fixture.h"
#include "small_stack.h"

namespace tare {
namespace {

std::string ChainText(int n) {
  std::string text = "graph main(%n: f32[8]) {\n";
  for (int i = 0; i < n; ++i)
    absl::StrAppend(&text, "  %n", i + 1, " = aten.relu.default(%n", i == 0 ? "" : absl::StrCat(i), ") : f32[8]\n");
  absl::StrAppend(&text, "  return %n", n, "\n}\n");
  return text;
}

TEST_CASE("400,000 nodes in a chain: load, rewrite, print, erase, destroy with 1 MB of stack") {  // C09
  OnSmallStack([] {
    PassesFixture fixture;
    constexpr int kNodes = 400'000;
    const std::string text = ChainText(kNodes);
    Program program = fixture.Parse(text);
    CHECK(fixture.Print(program) == text);
    const auto inferrer = fixture.NewInferrer(program);
    // The dtype of the first node changes: the wave passes through all others.
    const Pass cast = MakeFunctionPass({op::aten_relu_default}, [](Node node, Rewriter& rw) {
      if (node.arg("self").op() != op::placeholder) return absl::OkStatus();
      return rw.Redefine(node, op::aten__to_copy_default,
                         {{"self", node.arg("self")}, {"dtype", AttrValue::OfDType(DType::kF16)}});
    });
    // The last node lets go of all others.
    const Pass cut = MakeFunctionPass({op::aten_relu_default}, [](Node node, Rewriter& rw) {
      if (node.users()[0].op() != op::output) return absl::OkStatus();
      return rw.Amend(node, {{"self", rw.node(rw.graph().first())}});
    });
    const std::vector<Pass> passes = {cast, cut};
    const auto stats = RunPasses(program, *inferrer, passes);
    REQUIRE_MESSAGE(stats.ok(), stats.status().ToString());
    CHECK_EQ((*stats)[0].counters.reinferred, kNodes - 1);
    CHECK_EQ((*stats)[1].counters.erased, kNodes - 1);
    CHECK_EQ(program.main().num_nodes(), 3);
  });
}

// In linear time: a search among the rest for each node would take the time the suite allows.
TEST_CASE("200,000 dead nodes go, users of one value or a chain") {  // C16
  constexpr int kDead = 200'000;
  for (const bool chain : {false, true}) {
    CAPTURE(chain);
    PassesFixture fixture;
    std::string text = "graph main(%x: f32[8]) {\n";
    for (int i = 0; i < kDead; ++i) {
      const std::string of = chain && i > 0 ? absl::StrCat("d", i - 1) : "x";
      absl::StrAppend(&text, "  %d", i, " = aten.relu.default(%", of, ") : f32[8]\n");
    }
    text += "  %y = aten.relu.default(%x) : f32[8]\n  return %y\n}\n";
    Program program = fixture.Parse(text);
    const auto inferrer = fixture.NewInferrer(program);
    const Pass pass = fixture.Make("dead-code");
    const auto stats = RunPasses(program, *inferrer, {&pass, 1});
    REQUIRE(stats.ok());
    CHECK_EQ(stats->front().counters.erased, kDead);
    CHECK_EQ(program.main().num_nodes(), 3);
  }
}

TEST_CASE("a value with 100,000 users can be replaced, and its users change one by one") {
  PassesFixture fixture;
  constexpr int kUsers = 100'000;
  std::string text =
      "graph main(%x: f32[8]) {\n  %h = aten.relu.default(%x) : f32[8]\n  %g = aten.sin.default(%x) : f32[8]\n";
  for (int i = 0; i < kUsers; ++i) absl::StrAppend(&text, "  %u", i, " = aten.neg.default(%h) : f32[8]\n");
  text += "  return %u0\n}\n";
  Program program = fixture.Parse(text);
  const auto inferrer = fixture.NewInferrer(program);
  const std::vector<Pass> passes = {
      MakeFunctionPass({op::aten_sin_default},
                       [](Node node, Rewriter& rw) { return rw.ReplaceUses(node.arg("self").users()[0], node); }),
      MakeFunctionPass({op::aten_neg_default},
                       [](Node node, Rewriter& rw) { return rw.Amend(node, op::aten_cos_default, {}); }),
  };
  // %h stands before %g, so its uses can move to it.
  const auto stats = RunPasses(program, *inferrer, passes);
  REQUIRE_MESSAGE(stats.ok(), stats.status().ToString());
  CHECK_EQ((*stats)[0].counters.redefined, kUsers);
  CHECK_EQ((*stats)[1].counters.redefined, kUsers);
}

TEST_CASE("a session takes at most 28 bytes a node beside the graph's 48") {
  PassesFixture fixture;
  constexpr int kNodes = 20'000;
  Program program = fixture.Parse(ChainText(kNodes));
  const auto inferrer = fixture.NewInferrer(program);
  const Rewriter rw(program, *inferrer);
  const double session = static_cast<double>(rw.MemoryBytes()) / kNodes;
  const double graph = static_cast<double>(program.main().MemoryBytes()) / kNodes;
  CAPTURE(session);
  CAPTURE(graph);
  CHECK(graph <= 48.5);
  CHECK(session + graph <= 76);
}

}  // namespace
}  // namespace tare
