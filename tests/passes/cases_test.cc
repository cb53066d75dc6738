// Cases of other systems' users that concern caching and replay, by the number of the list they come from.
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/notation.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "meta/golden_symbols.h"
#include "meta/op_names.h"
#include "passes/constant_values.h"
#include "passes_fixture.h"
#include "small_stack.h"

namespace tare {
namespace {

absl::StatusOr<InferResult> Ask(Context& context, Inferrer& inferrer, std::string_view text) {
  auto symbols = LineSymbols::Make(context, text, "");
  REQUIRE(symbols.ok());
  Cursor cursor(text);
  const auto call = ReadCall(context, cursor, *symbols);
  REQUIRE_MESSAGE(call.ok(), call.status().ToString());
  return inferrer.Infer(call->op, call->attrs, call->operands, QuantId{0}, {});
}

TEST_CASE("C01: an answer for one target is not an answer for another") {
  PassesFixture fixture;
  constexpr std::string_view kCall = "tosa.RESCALE.default(i32[4], dtype=i8, scale=[0.5], in_zp=0, out_zp=3)";
  struct Case {
    std::string_view spec, want;
    int64_t hits;
  };
  for (const auto& [spec, want, hits] : std::initializer_list<Case>{
           {"TOSA-1.0+INT", "i8[4]", 0}, {"TOSA-1.0+FP", "error", 0}, {"TOSA-1.0+INT", "i8[4]", 1}}) {
    InferrerOptions options;
    options.spec = spec;
    const auto inferrer = MakeInferrer(*fixture.context, options);
    const auto answer = Ask(*fixture.context, *inferrer, kCall);
    CHECK_EQ(answer.ok() ? PrintMeta(*fixture.context, answer->meta) : "error", want);
    CHECK_EQ(inferrer->counters().memo_hits, hits);
  }
}

TEST_CASE("C03: remembering ends with its scope, however that ends") {
  PassesFixture fixture;
  REQUIRE(AddOpsFile(*fixture.context, "my.toml",
                     "[op.\"my.op.default\"]\nschema = \"(Tensor self) -> Tensor\"\nshape = \"self.shape\"\n"
                     "dtype = \"self.dtype\"\ndoc = \"d\"\n"
                     "checks = [{ id = \"my_c1\", that = \"rank(self) == 1\", say = \"rank {rank(self)}\" }]\n")
              .ok());
  {
    const auto inferrer = MakeInferrer(*fixture.context);
    for (int i = 0; i < 2; ++i) CHECK(Ask(*fixture.context, *inferrer, "my.op.default(f32[3])").ok());
    CHECK_EQ(inferrer->counters().memo_misses, 1);
    CHECK(!Ask(*fixture.context, *inferrer, "my.op.default(f32[3,3])").ok());
  }
  InferrerOptions options;
  options.use_memo = false;
  const auto inferrer = MakeInferrer(*fixture.context, options);
  for (int i = 0; i < 2; ++i) CHECK(Ask(*fixture.context, *inferrer, "my.op.default(f32[3])").ok());
  CHECK_EQ(inferrer->counters().memo_misses, 2);
  CHECK_EQ(inferrer->counters().memo_hits, 0);
}

Payload OneFloat(float value) {
  auto owner = std::make_shared<const float>(value);
  Payload payload;
  payload.bytes = std::as_bytes(std::span<const float>(owner.get(), 1));
  payload.owner = std::move(owner);
  return payload;
}

// A product of two constants becomes a constant.
absl::Status FoldProduct(Node node, Rewriter& rw) {
  const Constant *a = node.arg("self").constant(), *b = node.arg("other").constant();
  if (a == nullptr || b == nullptr) return absl::OkStatus();
  const auto x = ReadFloats(rw.context(), *a), y = ReadFloats(rw.context(), *b);
  if (!x.has_value() || !y.has_value()) return absl::OkStatus();
  std::vector<double> product;
  for (size_t i = 0; i < x->size(); ++i) product.push_back((*x)[i] * (*y)[i]);
  TARE_ASSIGN_OR_RETURN(const Node folded,
                        rw.AddConstant("folded", node.tensor(), FloatBytes(node.tensor().dtype, product)));
  return rw.ReplaceUses(node, folded);
}

TEST_CASE("C05: a graph of lifted constants alone is replayed and folded") {
  PassesFixture fixture;
  Program program = fixture.Parse(R"(graph main(%a: f32[] = constant "a", %b: f32[] = constant "b") {
  %m = aten.mul.Tensor(%a, %b) : f32[]
  return %m
}
)");
  program.constants[0].payload = OneFloat(2);
  program.constants[1].payload = OneFloat(3);
  const auto inferrer = fixture.NewInferrer(program);
  const std::vector<Pass> passes = {MakeFunctionPass(
                                        {}, [](Node, Rewriter&) { return absl::OkStatus(); }, "nothing"),
                                    fixture.Make("remove-noops"),
                                    MakeFunctionPass({op::aten_mul_Tensor}, FoldProduct, "fold"),
                                    fixture.Make("dead-code")};
  RunOptions options;
  options.verify = VerifyWhat::kAll;
  options.check_meta = true;
  const auto stats = RunPasses(program, *inferrer, passes, options);
  REQUIRE_MESSAGE(stats.ok(), stats.status().ToString());
  CHECK(!(*stats)[0].changed);
  CHECK((*stats)[1].skipped);
  CHECK_EQ(fixture.Print(program), "graph main(%c_folded: f32[] = constant \"folded\") {\n  return %c_folded\n}\n");
  REQUIRE_EQ(program.constants.size(), 1);
  CHECK_EQ(ReadFloats(*fixture.context, program.constants[0]), std::vector<double>{6.0});
}

// In linear time: trying one suffix after the other would take 20 billion steps, and the time the suite allows.
TEST_CASE("C10: 200,000 nodes that all want one name get names in order") {
  constexpr int kNodes = 200'000;
  PassesFixture fixture;
  Program program = fixture.Parse("graph main(%n: f32[8]) {\n  return %n\n}\n");
  Graph& graph = program.main();
  const NamedAttr self[] = {{"self", AttrValue::Operand(0)}};
  const AttrsId attrs = fixture.context->attrs.Intern(self);
  const NodeId input = graph.inputs()[0];
  bool in_order = true;
  for (int i = 0; i < kNodes; ++i) {
    const NodeId operands[] = {input};
    const NodeId node = GraphEdit(graph).InsertBefore(
        graph.last(), {op::aten_relu_default, attrs, graph.meta(input), QuantId{0}, LocId{}, operands},
        graph.mutable_lineage().UniqueName("n"));
    in_order &= graph.NameOf(node) == absl::StrCat("n_", i + 1);
  }
  CHECK(in_order);
}

TEST_CASE("C14: one program through the passes 20 times, with 1 and with 8 threads, gives one text") {
  constexpr std::string_view kText = R"(graph main(%x: f32[2,3,4], %w: f32[5,4], %p: bool[]) {
  %a = aten.permute.default(%x, dims=[0,2,1]) : f32[2,4,3]{12,1,4}
  %b = aten.permute.default(%a, dims=[0,2,1]) : f32[2,3,4]
  %c = aten.linear.default(%b, %w) : f32[2,3,5]
  %d = aten.view.default(%c, size=[6,5]) : f32[6,5]
  %e = aten.view.default(%d, size=[30]) : f32[30]
  %f = aten.clone.default(%e) : f32[30]
  %h = higher_order.cond(%p, @yes, @no, [%f]) : (f32[30])
  %g = getitem(%h, index=0) : f32[30]
  return %g
}
graph yes(%x: f32[30]) {
  %y = aten.detach.default(%x) : f32[30]
  %z = aten.relu.default(%y) : f32[30]
  return %z
}
graph no(%x: f32[30]) {
  %y = aten.neg.default(%x) : f32[30]
  return %y
}
)";
  const auto lower = [&](PassesFixture& fixture) {
    absl::StatusOr<Program> program = ParseProgram(*fixture.context, kText);
    if (!program.ok()) return program.status().ToString();
    const auto inferrer = fixture.NewInferrer(*program);
    std::vector<Pass> passes;
    for (const PassRow& row : BuiltinPasses()) passes.push_back(*MakePass(*fixture.context, BuiltinPasses(), row.name));
    const auto stats = RunPasses(*program, *inferrer, passes);
    return stats.ok() ? fixture.Print(*program) : stats.status().ToString();
  };
  PassesFixture alone;
  const std::string want = lower(alone);
  CHECK(absl::StartsWith(want, "graph main("));
  for (int run = 0; run < 20; ++run) CHECK(lower(alone) == want);
  PassesFixture shared;
  std::vector<std::string> got(20);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (size_t run = t; run < got.size(); run += 8) got[run] = lower(shared);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : got) CHECK(text == want);
}

// Alternating minimum and eq, all with the same quantisation.
std::string SharedGroup(int count) {
  constexpr std::string_view kParams = "i8(scale=[0.5], zero=[3], min=-128, max=127)";
  std::string text = "graph main(%x: f32[4], %b: f32[4]) {\n";
  std::string last = "x";
  for (int i = 0; i < count; ++i) {
    const bool even = i % 2 == 0;
    absl::StrAppend(&text, "  %n", i, " = aten.", even ? "minimum.default" : "eq.Tensor", "(%", last,
                    ", %b) : ", even ? "f32" : "bool", "[4] quant(", TextPiece(kParams), ", ", TextPiece(kParams),
                    " -> ", TextPiece(kParams), ")\n");
    last = absl::StrCat("n", i);
  }
  return absl::StrCat(text, "  return %", last, "\n}\n");
}

// In linear time: uniting each pair of the group would take the time the suite allows.
TEST_CASE("C20: 50,000 nodes of one quantisation group, with 1 MB of stack") {
  OnSmallStack([] {
    constexpr int kNodes = 50'000;
    PassesFixture fixture;
    Program program = fixture.Parse(SharedGroup(kNodes));
    const Graph& graph = program.main();
    QuantId group;
    bool one = true;
    for (const NodeId node : graph.nodes()) {
      if (graph.op(node) == op::placeholder || graph.op(node) == op::output) continue;
      if (!group.has_value()) group = graph.quant(node);
      one &= graph.quant(node) == group && group.index != 0;
    }
    CHECK(one);  // equal parameters are one record: nothing has to be unified later
    const auto inferrer = fixture.NewInferrer(program);
    std::vector<Pass> passes;
    for (const PassRow& row : BuiltinPasses()) passes.push_back(fixture.Make(row.name));
    const auto stats = RunPasses(program, *inferrer, passes);
    CHECK_MESSAGE(stats.ok(), stats.status().ToString());
    CHECK_EQ(program.main().num_nodes(), static_cast<uint32_t>(kNodes + 3));
  });
}

TEST_CASE("F30: an open extent becomes a number, and what follows from it too") {
  PassesFixture fixture;
  const std::string got =
      RunOn(fixture, R"(graph main(%x: f32[s0,60,59,5]) {
  %a = aten.relu.default(%x) : f32[s0,60,59,5]
  %s = aten.slice_copy.Tensor(%a, dim=2, start=0, end=58) : f32[s0,60,58,5]
  return %s
}
)",
            {op::aten_relu_default}, [](Node node, Rewriter& rw) {
              return rw.Redefine(node, op::aten_slice_copy_Tensor,
                                 {{"self", node.arg("self")}, {"dim", 0}, {"start", 0}, {"end", 2}});
            });
  CHECK(absl::StrContains(got, "%s = aten.slice_copy.Tensor(%a, dim=2, start=0, end=58) : f32[2,60,58,5]"));
}

}  // namespace
}  // namespace tare
