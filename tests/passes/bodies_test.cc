// Bodies of higher-order ops: a value that goes into one changes, and everything in it follows.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "ir/status.h"
#include "meta/op_names.h"
#include "passes/session.h"
#include "passes_fixture.h"
#include "replay_dense.h"

namespace tare {
namespace {

constexpr std::string_view kCond = R"(graph main(%p: bool[], %x: f32[2,3], %y: f32[3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %c = higher_order.cond(%p, @yes, @no, [%a, %y]) : (f32[2,3])
  %d = getitem(%c, index=0) : f32[2,3]
  %e = aten.cos.default(%d) : f32[2,3]
  return %e
}
graph yes(%x: f32[2,3], %y: f32[3]) {
  %s = aten.sin.default(%x) : f32[2,3]
  %t = aten.add.Tensor(%s, %y) : f32[2,3]
  return %t
}
graph no(%x: f32[2,3], %y: f32[3]) {
  %n = aten.neg.default(%y) : f32[3]
  %m = aten.mul.Tensor(%x, %n) : f32[2,3]
  return %m
}
)";

constexpr std::string_view kWhile = R"(graph main(%n: i64[], %x: f32[2,3], %w: f32[3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %l = higher_order.while_loop(@more, @step, [%n, %a], [%w]) : (i64[], f32[2,3])
  %d = getitem(%l, index=1) : f32[2,3]
  return %d
}
graph more(%n: i64[], %x: f32[2,3], %w: f32[3]) {
  %g = aten.gt.Scalar(%n, other=0) : bool[]
  return %g
}
graph step(%n: i64[], %x: f32[2,3], %w: f32[3]) {
  %m = aten.sub.Tensor(%n, 1) : i64[]
  %y = aten.mul.Tensor(%x, %w) : f32[2,3]
  return %m, %y
}
)";

// What becomes of the relu of main.
using Edit = absl::Status (*)(Node, Rewriter&);
absl::Status ToDouble(Node node, Rewriter& rw) {
  return rw.Redefine(node, op::aten__to_copy_default,
                     {{"self", node.arg("self")}, {"dtype", AttrValue::OfDType(DType::kF64)}});
}
absl::Status ToHalf(Node node, Rewriter& rw) {
  return rw.Redefine(node, op::aten__to_copy_default,
                     {{"self", node.arg("self")}, {"dtype", AttrValue::OfDType(DType::kF16)}});
}
absl::Status Swap(Node node, Rewriter& rw) {
  return rw.Redefine(node, op::aten_permute_default,
                     {{"self", node.arg("self")}, {"dims", std::vector<int64_t>{1, 0}}});
}
absl::Status Flatten(Node node, Rewriter& rw) {
  return rw.Redefine(node, op::aten_view_default, {{"self", node.arg("self")}, {"size", std::vector<int64_t>{-1}}});
}

// The session's answer; the slow twin must give the same program, or refuse too.
std::string Run(PassesFixture& fixture, std::string_view text, std::vector<Op> targets, Edit edit) {
  const std::string got = RunOn(fixture, text, targets, edit);
  Program dense = fixture.Parse(text);
  const auto inferrer = fixture.NewInferrer(dense);
  const absl::Status slow = ReplayDense(dense, *inferrer, MakeFunctionPass(std::move(targets), edit));
  const bool failed = !absl::StartsWith(got, "graph ") && !absl::StartsWith(got, "symbols ");
  CHECK_EQ(failed, !slow.ok());
  if (slow.ok()) CHECK(absl::StartsWith(got, fixture.Print(dense)));
  return got;
}

TEST_CASE("a value that goes into a body changes: the body and its owner follow") {
  PassesFixture fixture;
  CHECK_EQ(Run(fixture, kCond, {op::aten_relu_default}, ToDouble), R"(graph main(%p: bool[], %x: f32[2,3], %y: f32[3]) {
  %a = aten._to_copy.default(%x, dtype=f64) : f64[2,3]
  %c = higher_order.cond(%p, @yes, @no, [%a, %y]) : (f64[2,3])
  %d = getitem(%c, index=0) : f64[2,3]
  %e = aten.cos.default(%d) : f64[2,3]
  return %e
}
graph yes(%x: f64[2,3], %y: f32[3]) {
  %s = aten.sin.default(%x) : f64[2,3]
  %t = aten.add.Tensor(%s, %y) : f64[2,3]
  return %t
}
graph no(%x: f64[2,3], %y: f32[3]) {
  %n = aten.neg.default(%y) : f32[3]
  %m = aten.mul.Tensor(%x, %n) : f64[2,3]
  return %m
}
redefined 1, re-inferred 6, cold 1
)");
}

TEST_CASE("the wave stops at the border of a body and inside it") {
  PassesFixture fixture;
  // An equal value: nothing is inferred. Half floats: sums with f32 stay f32, so the owner's users are cold.
  CHECK(absl::StrContains(Run(fixture, kCond, {op::aten_relu_default},
                              [](Node node, Rewriter& rw) { return rw.Amend(node, op::aten_neg_default, {}); }),
                          "redefined 1, re-inferred 0, cold 7"));
  const std::string half = Run(fixture, kCond, {op::aten_relu_default}, ToHalf);
  CHECK(absl::StrContains(half, "%s = aten.sin.default(%x) : f16[2,3]"));
  CHECK(absl::StrContains(half, "redefined 1, re-inferred 4, cold 3"));
}

TEST_CASE("what a body refuses is told with its node, and the version before stays") {
  PassesFixture fixture;
  const std::string inner = Run(fixture, kCond, {op::aten_relu_default}, Swap);
  CHECK(absl::StrContains(inner, "aten.add.Tensor: "));
  CHECK(absl::StrContains(inner, "[broadcast"));
  CHECK(absl::StrContains(inner, "at %t in yes"));
  CHECK(absl::StrContains(inner, "in pass function-pass"));
  const std::string carried = Run(fixture, kWhile, {op::aten_relu_default}, ToHalf);
  CHECK(absl::StrContains(carried, "higher_order.while_loop: the body returns"));
  CHECK(absl::StrContains(carried, "[while_loop_c4]"));
  CHECK(absl::StrContains(carried, "at %l"));
  CHECK(absl::StrContains(Run(fixture, kWhile, {op::aten_relu_default}, Flatten), "[broadcast"));
  const std::string loop = Run(fixture, kWhile, {op::aten_relu_default}, ToDouble);
  CHECK(absl::StrContains(loop, "%l = higher_order.while_loop(@more, @step, [%n, %a], [%w]) : (i64[], f64[2,3])"));
  CHECK(absl::StrContains(loop, "graph more(%n: i64[], %x: f64[2,3], %w: f32[3])"));
}

TEST_CASE("a scan's carried value must stay what it was") {
  PassesFixture fixture;
  constexpr std::string_view kScan = R"(graph main(%i: f32[3], %xs: f32[6,3]) {
  %a = aten.relu.default(%xs) : f32[6,3]
  %s = higher_order.scan(@sum, [%i], [%a], []) : (f32[3], f32[6,3])
  %y = getitem(%s, index=1) : f32[6,3]
  return %y
}
graph sum(%c: f32[3], %x: f32[3]) {
  %n = aten.add.Tensor(%c, %x) : f32[3]
  %m = aten.neg.default(%x) : f32[3]
  return %n, %m
}
)";
  CHECK(absl::StrContains(Run(fixture, kScan, {op::aten_relu_default}, ToDouble), "[scan_c4]"));
  const std::string half = Run(fixture, kScan, {op::aten_relu_default}, ToHalf);
  CHECK(absl::StrContains(half, "graph sum(%c: f32[3], %x: f16[3])"));
  CHECK(absl::StrContains(half, ": (f32[3], f16[6,3])"));
}

TEST_CASE("a mapped body gets slices of its own") {
  PassesFixture fixture;
  const std::string got = Run(fixture, R"(graph main(%x: f32[4,5], %w: f32[4]) {
  %a = aten.relu.default(%x) : f32[4,5]
  %m = higher_order.map_impl(@row, [%a], []) : (f32[4,5])
  %y = getitem(%m, index=0) : f32[4,5]
  return %y
}
graph row(%r: f32[5]) {
  %s = aten.sin.default(%r) : f32[5]
  return %s
}
)",
                              {op::aten_relu_default}, Swap);
  CHECK(absl::StrContains(got, "%a = aten.permute.default(%x, dims=[1,0]) : f32[5,4]{1,5}"));
  CHECK(absl::StrContains(got, "graph row(%r: f32[4]) {"));
  CHECK(absl::StrContains(got, "(@row, [%a], []) : (f32[5,4])"));
}

TEST_CASE("bodies within bodies follow in one wave, each node once") {
  PassesFixture fixture;
  constexpr std::string_view kNested = R"(graph main(%p: bool[], %x: f32[2,3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %c = higher_order.wrap_with_set_grad_enabled(false, @outer, %p, %a) : (f32[2,3])
  %d = getitem(%c, index=0) : f32[2,3]
  return %d
}
graph outer(%p: bool[], %x: f32[2,3]) {
  %s = aten.sin.default(%x) : f32[2,3]
  %c = higher_order.cond(%p, @yes, @no, [%s, %x]) : (f32[2,3])
  %d = getitem(%c, index=0) : f32[2,3]
  return %d
}
graph yes(%x: f32[2,3], %y: f32[2,3]) {
  %t = aten.add.Tensor(%x, %y) : f32[2,3]
  return %t
}
graph no(%x: f32[2,3], %y: f32[2,3]) {
  %m = aten.mul.Tensor(%x, %y) : f32[2,3]
  return %m
}
)";
  const std::string got = Run(fixture, kNested, {op::aten_relu_default}, Flatten);
  CHECK(absl::StrContains(got, "graph no(%x: f32[6], %y: f32[6])"));
  CHECK(absl::StrContains(got, "%d = getitem(%c, index=0) : f32[6]\n  return %d\n}\ngraph outer"));
  CHECK(absl::StrContains(got, "redefined 1, re-inferred 7, cold 0"));
  // From inside: the innermost body changes, and all owners follow. %t and %m change in turn.
  const std::string out =
      Run(fixture, kNested, {op::aten_add_Tensor, op::aten_mul_Tensor}, [](Node node, Rewriter& rw) -> absl::Status {
        return rw.Redefine(node, op::aten_gt_Tensor, {{"self", node.arg("self")}, {"other", node.arg("other")}});
      });
  CHECK(absl::StrContains(out, "%d = getitem(%c, index=0) : bool[2,3]\n  return %d\n}\ngraph outer"));
}

TEST_CASE("uses that move to another value feed the body") {
  PassesFixture fixture;
  const std::string got = Run(fixture, kCond, {op::aten_relu_default}, [](Node node, Rewriter& rw) -> absl::Status {
    const Node self = node.arg("self");
    TARE_ASSIGN_OR_RETURN(const Node wide,
                          rw.InsertBefore(node, op::aten__to_copy_default,
                                          {{"self", self}, {"dtype", AttrValue::OfDType(DType::kF64)}}, "wide"));
    return rw.ReplaceUses(node, wide);
  });
  CHECK(absl::StrContains(got, "graph no(%x: f64[2,3], %y: f32[3])"));
  CHECK(absl::StrContains(got, "[%wide, %y]) : (f64[2,3])"));
}

TEST_CASE("a refusal that a pass does not pass on still ends the pass") {
  PassesFixture fixture;
  const std::string got = RunOn(fixture, kWhile, {op::aten_relu_default}, [](Node node, Rewriter& rw) -> absl::Status {
    TARE_RETURN_IF_ERROR(ToHalf(node, rw));
    const absl::Status refused = rw.Amend(node.users()[0].users()[0], op::getitem, {{"index", 0}});
    CHECK(!refused.ok());
    return absl::OkStatus();
  });
  CHECK(absl::StrContains(got, "[while_loop_c4]"));
}

TEST_CASE("an op whose row does not say what its bodies get is left alone") {
  PassesFixture fixture;
  constexpr std::string_view kUnknown = R"(graph main(%x: f32[2,3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %c = higher_order.strict_mode(@body, [%a]) : (f32[2,3])
  %d = getitem(%c, index=0) : f32[2,3]
  return %d
}
graph body(%x: f32[2,3]) {
  %s = aten.sin.default(%x) : f32[2,3]
  return %s
}
)";
  CHECK(absl::StrContains(Run(fixture, kUnknown, {op::aten_relu_default}, ToDouble), "[replay_c1]"));
  CHECK(absl::StrContains(Run(fixture, kUnknown, {op::aten_relu_default},
                              [](Node node, Rewriter& rw) { return rw.Amend(node, op::aten_neg_default, {}); }),
                          "redefined 1, re-inferred 0, cold 3"));
}

}  // namespace
}  // namespace tare
