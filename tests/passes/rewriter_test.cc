// The verbs of the session, transactions, statistics: small programs, text in and out.
#include "passes/rewriter.h"

#include <cstring>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "meta/op_names.h"
#include "passes/session.h"
#include "passes_fixture.h"

namespace tare {
namespace {

constexpr std::string_view kChain = R"(graph main(%x: f32[2,3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %b = aten.sin.default(%a) : f32[2,3]
  %c = aten.cos.default(%b) : f32[2,3]
  return %c
}
)";

TEST_CASE("a redefinition sends its users a wave that stops where metadata is equal") {
  PassesFixture fixture;
  const std::string got =
      RunOn(fixture, R"(graph main(%x: f32[2,3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %b = aten.sin.default(%a) : f32[2,3]
  %c = aten.gt.Scalar(%b, other=0) : bool[2,3]
  %d = aten.logical_not.default(%c) : bool[2,3]
  return %d
}
)",
            {op::aten_relu_default}, [](Node node, Rewriter& rw) {
              return rw.Redefine(node, op::aten__to_copy_default,
                                 {{"self", node.arg("self")}, {"dtype", AttrValue::OfDType(DType::kF16)}});
            });
  CHECK_EQ(got, R"(graph main(%x: f32[2,3]) {
  %a = aten._to_copy.default(%x, dtype=f16) : f16[2,3]
  %b = aten.sin.default(%a) : f16[2,3]
  %c = aten.gt.Scalar(%b, other=0) : bool[2,3]
  %d = aten.logical_not.default(%c) : bool[2,3]
  return %d
}
redefined 1, re-inferred 2, cold 1
)");
}

TEST_CASE("each affected node is inferred once, however many operands changed") {
  PassesFixture fixture;
  const std::string got =
      RunOn(fixture, R"(graph main(%x: f32[2,3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %b = aten.sin.default(%a) : f32[2,3]
  %c = aten.cos.default(%a) : f32[2,3]
  %d = aten.add.Tensor(%b, %c) : f32[2,3]
  %e = aten.add.Tensor(%d, %a) : f32[2,3]
  return %e
}
)",
            {op::aten_relu_default}, [](Node node, Rewriter& rw) {
              return rw.Redefine(node, op::aten__to_copy_default,
                                 {{"self", node.arg("self")}, {"dtype", AttrValue::OfDType(DType::kF64)}});
            });
  CHECK(absl::EndsWith(got, "redefined 1, re-inferred 4, cold 0\n"));
}

TEST_CASE("uses move to the new value, and what has no use left goes") {
  PassesFixture fixture;
  const std::string got = RunOn(fixture, kChain, {op::aten_sin_default}, [](Node node, Rewriter& rw) -> absl::Status {
    TARE_ASSIGN_OR_RETURN(const Node neg,
                          rw.InsertBefore(node, op::aten_neg_default, {{"self", node.arg("self").arg("self")}}, "n"));
    return rw.ReplaceUses(node, neg);
  });
  CHECK_EQ(got, R"(graph main(%x: f32[2,3]) {
  %n = aten.neg.default(%x) : f32[2,3]
  %c = aten.cos.default(%n) : f32[2,3]
  return %c
}
redefined 1, inserted 1, erased 2, re-inferred 0, cold 0
)");
}

TEST_CASE("a value put behind a node takes its uses but keeps its own") {
  PassesFixture fixture;
  const std::string got = RunOn(fixture, kChain, {op::aten_relu_default}, [](Node node, Rewriter& rw) -> absl::Status {
    TARE_ASSIGN_OR_RETURN(const Node neg, rw.InsertBefore(node.users()[0], op::aten_neg_default, {{"self", node}}));
    return rw.ReplaceUses(node, neg);
  });
  CHECK_EQ(got, R"(graph main(%x: f32[2,3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %neg = aten.neg.default(%a) : f32[2,3]
  %b = aten.sin.default(%neg) : f32[2,3]
  %c = aten.cos.default(%b) : f32[2,3]
  return %c
}
redefined 1, inserted 1, re-inferred 0, cold 2
)");
}

TEST_CASE("new nodes behind the cursor are visited, those before it are not") {
  PassesFixture fixture;
  const std::string got = RunOn(
      fixture, kChain, {op::aten_neg_default, op::aten_relu_default, op::aten_cos_default},
      [](Node node, Rewriter& rw) -> absl::Status {
        if (node.op() != op::aten_relu_default) return rw.Amend(node, op::aten_tanh_default, {});
        TARE_ASSIGN_OR_RETURN(const Node ahead,
                              rw.InsertBefore(node.users()[0], op::aten_neg_default, {{"self", node}}, "ahead"));
        TARE_RETURN_IF_ERROR(rw.ReplaceUses(node, ahead));
        TARE_ASSIGN_OR_RETURN(const Node behind,
                              rw.InsertBefore(node, op::aten_neg_default, {{"self", node.arg("self")}}, "behind"));
        return rw.Amend(node, {{"self", behind}});
      });
  CHECK_EQ(got, R"(graph main(%x: f32[2,3]) {
  %behind = aten.neg.default(%x) : f32[2,3]
  %a = aten.relu.default(%behind) : f32[2,3]
  %ahead = aten.tanh.default(%a) : f32[2,3]
  %b = aten.sin.default(%ahead) : f32[2,3]
  %c = aten.tanh.default(%b) : f32[2,3]
  return %c
}
redefined 4, inserted 2, re-inferred 0, cold 0
)");
}

TEST_CASE("metadata of a node made in a pass is there at once") {  // C06
  PassesFixture fixture;
  const std::string got = RunOn(fixture, kChain, {op::aten_relu_default}, [](Node node, Rewriter& rw) -> absl::Status {
    Node value = node.arg("self");
    for (int i = 0; i < 3; ++i) {
      const int64_t rank = static_cast<int64_t>(value.tensor().shape.size());
      TARE_ASSIGN_OR_RETURN(value, rw.InsertBefore(node, op::aten_unsqueeze_default, {{"self", value}, {"dim", rank}}));
      CHECK_EQ(static_cast<int64_t>(value.tensor().shape.size()), rank + 1);
    }
    return rw.Redefine(node, op::aten_hardtanh_default, {value}, {{"min_val", 0.0}, {"max_val", 6.0}});
  });
  CHECK(absl::StrContains(got, "%c = aten.cos.default(%b) : f32[2,3,1,1,1]"));
}

TEST_CASE("edits that cannot be are refused by name and leave the version before the pass") {
  struct Case {
    absl::Status (*edit)(Node, Rewriter&);
    std::string_view want;
  };
  PassesFixture fixture;
  for (const Case& c : std::initializer_list<Case>{
           {[](Node n, Rewriter&rw) { return rw.Erase(n); }, "[rewrite_c6]"},
           {[](Node n, Rewriter&rw) { return rw.Erase(n.arg("self").arg("self")); }, "[rewrite_c6]"},
           {[](Node n, Rewriter&rw) {
              return rw.Amend(n, {{"self", n}});
            },
            "[rewrite_c3]"},
           {[](Node n, Rewriter&rw) {
              return rw.Amend(n, {{"other", n}});
            },
            "[rewrite_c1]"},
           {[](Node n, Rewriter&rw) {
              return rw.Redefine(n, op::aten_add_Tensor, {{"self", n.arg("self")}});
            },
            "[rewrite_c2]"},
           {[](Node n, Rewriter&rw) { return rw.ReplaceUses(n.arg("self"), n.users()[0]); }, "[rewrite_c3]"},
           {[](Node n, Rewriter&rw) {
              return rw.Redefine(n.arg("self").arg("self"), op::aten_neg_default, {{"self", n}});
            },
            "[rewrite_c4]"},
           {[](Node n, Rewriter&rw) { return rw.Redefine(n, op::output, {}); }, "[rewrite_c4]"},
           {[](Node n, Rewriter&rw) {
              return rw.Redefine(n, rw.context().ops.FindOrDeclare("my.op.default"), {{"x", n.arg("self")}});
            },
            "[rewrite_c5]"},
           {[](Node n, Rewriter&rw) {
              return rw.Redefine(n, op::aten_permute_default,
                                 {{"self", n.arg("self")}, {"dims", std::vector<int64_t>{0}}});
            },
            "aten.permute.default: dims has 1 entries, the tensor has rank 2 [permute_c1]"},
           {[](Node n, Rewriter&rw) -> absl::Status {
              TARE_RETURN_IF_ERROR(rw.Amend(n, op::aten_neg_default, {}));
              return InvalidError("mine_c1", "no");
            },
            "no [mine_c1]"},
       }) {
    const std::string got = RunOn(fixture, kChain, {op::aten_sin_default}, c.edit);
    CAPTURE(got);
    CHECK(absl::StrContains(got, absl::string_view(c.want.data(), c.want.size())));
    CHECK(absl::StrContains(got, "in pass function-pass"));
    CHECK(absl::StrContains(got, "at %"));
  }
}

TEST_CASE("an edit that fails late takes back earlier ones, constants and inputs too") {
  PassesFixture fixture;
  const std::string got = RunOn(
      fixture, kChain, {op::aten_relu_default, op::aten_cos_default}, [](Node node, Rewriter& rw) -> absl::Status {
        if (node.op() == op::aten_cos_default) return InvalidError("mine_c1", "changed my mind");
        TensorMeta meta;
        const Dim three[] = {Dim::Static(3)}, one[] = {Dim::Static(1)};
        meta.shape = three;
        meta.strides = one;
        TARE_ASSIGN_OR_RETURN(const Node constant, rw.AddConstant("c", meta, std::vector<std::byte>(12)));
        return rw.Redefine(node, op::aten_add_Tensor, {{"self", node.arg("self")}, {"other", constant}});
      });
  CHECK(absl::StrContains(got, "changed my mind [mine_c1]"));
}

TEST_CASE("constants that were removed come back when the pass fails") {
  PassesFixture fixture;
  constexpr std::string_view kText = R"(graph main(%a: f32[3] = parameter "a", %b: f32[3] = parameter "b", %x: f32[3]) {
  %y = aten.add.Tensor(%x, %b) : f32[3]
  return %y
}
)";
  const auto remove = [&](Node node, Rewriter& rw) -> absl::Status {
    CHECK_EQ(rw.RemoveUnusedConstants(), 1);
    CHECK_EQ(rw.RemoveUnusedConstants(), 0);
    CHECK_EQ(rw.program().constants.size(), 1);
    CHECK_EQ(node.arg("other").constant()->name, "b");
    return absl::OkStatus();
  };
  CHECK(absl::StrContains(RunOn(fixture, kText, {op::aten_add_Tensor}, remove),
                          "graph main(%b: f32[3] = parameter \"b\", %x: f32[3]) {"));
  CHECK(absl::StrContains(RunOn(fixture, kText, {op::aten_add_Tensor},
                                [&](Node node, Rewriter& rw) -> absl::Status {
                                  TARE_RETURN_IF_ERROR(remove(node, rw));
                                  const float bytes[3] = {};
                                  std::vector<std::byte> data(sizeof(bytes));
                                  TARE_RETURN_IF_ERROR(rw.AddConstant("new", node.tensor(), data).status());
                                  return InvalidError("mine_c1", "no");
                                }),
                          "[mine_c1]"));
}

TEST_CASE("a rule that reads a constant is asked again when the constant is another one") {
  PassesFixture fixture;
  constexpr std::string_view kOps = R"toml([op."my.filled.default"]
schema = "(Tensor size) -> Tensor"
shape  = "values(size)"
dtype  = "f32"
doc    = "A tensor of the size that a constant holds."
traits = ["pure", "reads_values"]
)toml";
  REQUIRE(AddOpsFile(*fixture.context, "my.toml", kOps).ok());
  const auto constant = [](Node like, Rewriter& rw, std::vector<int64_t> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(int64_t));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return rw.AddConstant("size", like.tensor(), std::move(bytes));
  };
  const Op filled = fixture.context->ops.Find("my.filled.default");
  const std::string got = RunOn(
      fixture, "graph main(%x: i64[2]) {\n  %a = aten.neg.default(%x) : i64[2]\n  return %a\n}\n",
      {op::aten_neg_default}, [&](Node node, Rewriter& rw) -> absl::Status {
        TARE_ASSIGN_OR_RETURN(const Node first, constant(node, rw, {2, 3}));
        TARE_ASSIGN_OR_RETURN(const Node second, constant(node, rw, {4, 5}));
        TARE_ASSIGN_OR_RETURN(const Node made, rw.InsertBefore(node, filled, {{"size", first}}, "made"));
        CHECK_EQ(PrintMeta(rw.context(), made.meta()), "f32[2,3]");
        TARE_ASSIGN_OR_RETURN(const Node used, rw.InsertBefore(node, op::aten_sin_default, {{"self", made}}, "used"));
        TARE_RETURN_IF_ERROR(rw.ReplaceUses(node, used));
        return rw.ReplaceUses(first, second);
      });
  CHECK(absl::StrContains(got, "%made = my.filled.default(%c_size_1) : f32[4,5]"));
  CHECK(absl::StrContains(got, "%used = aten.sin.default(%made) : f32[4,5]"));
}

TEST_CASE("equal constants are one input") {
  PassesFixture fixture;
  const std::string got = RunOn(
      fixture, kChain, {op::aten_relu_default, op::aten_cos_default}, [](Node node, Rewriter& rw) -> absl::Status {
        TensorMeta meta;
        const Dim three[] = {Dim::Static(3)}, one[] = {Dim::Static(1)};
        meta.shape = three;
        meta.strides = one;
        TARE_ASSIGN_OR_RETURN(const Node constant, rw.AddConstant("c", meta, std::vector<std::byte>(12)));
        return rw.Redefine(node, op::aten_add_Tensor, {{"self", node.arg("self")}, {"other", constant}});
      });
  CHECK_EQ(got, R"(graph main(%c_c: f32[3] = constant "c", %x: f32[2,3]) {
  %a = aten.add.Tensor(%x, %c_c) : f32[2,3]
  %b = aten.sin.default(%a) : f32[2,3]
  %c = aten.add.Tensor(%b, %c_c) : f32[2,3]
  return %c
}
redefined 2, inserted 1, re-inferred 0, cold 1
)");
}

TEST_CASE("what an op without a rule gives must not be guessed") {
  PassesFixture fixture;
  const std::string_view text = R"(graph main(%x: f32[2,3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %b = my.op.default(%a, 1) : f32[7]
  %c = aten.cos.default(%b) : f32[7]
  return %c
}
)";
  CHECK(absl::StrContains(RunOn(fixture, text, {op::aten_relu_default},
                                [](Node node, Rewriter& rw) {
                                  return rw.Redefine(
                                      node, op::aten__to_copy_default,
                                      {{"self", node.arg("self")}, {"dtype", AttrValue::OfDType(DType::kF16)}});
                                }),
                          "my.op.default: the metadata of an operand changed, and what that does to the result"));
  CHECK(absl::StrContains(RunOn(fixture, text, {op::aten_relu_default},
                                [](Node node, Rewriter& rw) { return rw.Amend(node, op::aten_neg_default, {}); }),
                          "redefined 1, re-inferred 0, cold 2"));
}

TEST_CASE("nodes that write are never erased, and ops with effects stay") {
  PassesFixture fixture;
  const std::string got = RunOn(fixture, R"(graph main(%x: f32[4]) {
  %a = aten.relu.default(%x) : f32[4]
  %w = aten.add_.Tensor(%a, 1) : f32[4]
  %y = aten.cos.default(%w) : f32[4]
  return %y
}
)",
                                {op::aten_cos_default}, [](Node node, Rewriter& rw) {
                                  return rw.Amend(node, {{"self", node.arg("self").arg("self").arg("self")}});
                                });
  CHECK(absl::StrContains(got, "%w = aten.add_.Tensor(%a, 1)"));
}

TEST_CASE("labels of new nodes are unique and the same in every run") {  // C12
  std::string first;
  for (int run = 0; run < 3; ++run) {
    PassesFixture fixture;
    const std::string got = RunOn(fixture, kChain, {op::aten_sin_default}, [](Node node, Rewriter& rw) -> absl::Status {
      Node value = node.arg("self");
      for (int i = 0; i < 2; ++i) {
        TARE_ASSIGN_OR_RETURN(value, rw.InsertBefore(node, op::aten_neg_default, {{"self", value}}, "a"));
      }
      return rw.Amend(node, {{"self", value}});
    });
    CHECK(absl::StrContains(got, "%a_1 = aten.neg.default(%a)"));
    CHECK(absl::StrContains(got, "%a_2 = aten.neg.default(%a_1)"));
    if (run == 0) first = got;
    CHECK_EQ(got, first);
  }
}

TEST_CASE("a value returned twice stays two outputs") {  // C13
  PassesFixture fixture;
  const std::string got =
      RunOn(fixture, R"(graph main(%x: f32[4]) {
  %y = aten.relu.default(%x) : f32[4]
  %z = aten.alias.default(%y) : f32[4]
  return %y, %z
}
)",
            {op::aten_alias_default}, [](Node node, Rewriter& rw) { return rw.ReplaceUses(node, node.arg("self")); });
  CHECK(absl::StrContains(got, "return %y, %y"));
}

TEST_CASE("a pass whose ops do not occur is skipped and leaves the very same version") {  // C07, C18
  PassesFixture fixture;
  Program program = fixture.Parse(kChain);
  const Program before = program;
  const auto inferrer = fixture.NewInferrer(program);
  std::vector<Pass> passes;
  for (int i = 0; i < 200; ++i)
    passes.push_back(MakeFunctionPass({op::aten_upsample_nearest2d_vec},
                                      [](Node, Rewriter&) { return absl::InternalError("visited"); }));
  const auto stats = RunPasses(program, *inferrer, passes);
  REQUIRE(stats.ok());
  for (const PassStats& pass : *stats) CHECK((pass.skipped && !pass.changed && pass.memo_hits + pass.memo_misses == 0));
  CHECK(program.main().SameVersion(before.main()));
}

TEST_CASE("an edit that changes nothing is no change") {
  PassesFixture fixture;
  Program program = fixture.Parse(kChain);
  const auto inferrer = fixture.NewInferrer(program);
  const Pass pass =
      MakeFunctionPass({op::aten_sin_default}, [](Node node, Rewriter& rw) { return rw.Amend(node, {}); });
  const auto stats = RunPasses(program, *inferrer, {&pass, 1});
  REQUIRE(stats.ok());
  CHECK(!stats->front().changed);
  CHECK_EQ(stats->front().counters.cold, 3);
}

}  // namespace
}  // namespace tare
