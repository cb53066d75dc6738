// The session against the slow twin: random programs with bodies within bodies under random edits.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "meta/op_names.h"
#include "passes_fixture.h"
#include "replay_dense.h"

namespace tare {
namespace {

// Text of graphs whose values all have one metadata: f32[2,3], or f32[3] in bodies that get rows.
class RandomText {
 public:
  explicit RandomText(uint32_t seed) : random_(seed) {}

  std::string Make() {
    const std::string main = Graph("main", {"f32[2,3]", "f32[2,3]"}, "f32[2,3]", 0);
    return main + bodies_;
  }

 private:
  size_t Pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  // A graph that returns one value of `meta`; `inputs` are of it or, the first one, a bool.
  std::string Graph(const std::string& name, const std::vector<std::string>& inputs, const std::string& meta, int depth,
                    size_t num_results = 1) {
    std::vector<std::string> values, params;
    std::string flag, lines;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string value = absl::StrCat("%i", i);
      params.push_back(absl::StrCat(value, ": ", inputs[i]));
      if (inputs[i] == "bool[]") flag = value;
      if (inputs[i] == meta) values.push_back(value);
    }
    const size_t size = 2 + Pick(5);
    for (size_t i = 0; i < size; ++i) {
      const std::string a = values[Pick(values.size())], b = values[Pick(values.size())];
      const std::string v = absl::StrCat("%v", i);
      values.push_back(v);
      if (depth < 3 && Pick(4) == 0) {
        absl::StrAppend(&lines, Higher(a, b, meta, depth, i));
        continue;
      }
      static constexpr std::string_view kUnary[] = {"relu", "sin", "neg", "clone"}, kBinary[] = {"add", "mul", "sub"};
      const std::string call = Pick(2) != 0
                                   ? absl::StrCat("aten.", TextPiece(kUnary[Pick(4)]), ".default(", a, ")")
                                   : absl::StrCat("aten.", TextPiece(kBinary[Pick(3)]), ".Tensor(", a, ", ", b, ")");
      absl::StrAppend(&lines, "  ", v, " = ", call, " : ", meta, "\n");
    }
    std::vector<std::string> results;
    for (size_t i = 0; i < num_results; ++i)
      results.push_back(values[values.size() - 1 - Pick(std::min<size_t>(2, values.size()))]);
    return absl::StrCat("graph ", name, "(", absl::StrJoin(params, ", "), ") {\n", lines, "  return ",
                        absl::StrJoin(results, ", "), "\n}\n");
  }

  std::string NewBody(const std::vector<std::string>& inputs, const std::string& meta, int depth,
                      size_t num_results = 1) {
    const std::string name = absl::StrCat("g", next_body_++);
    const std::string text = Graph(name, inputs, meta, depth + 1, num_results);
    bodies_ += text;
    return "@" + name;
  }
  // A graph that says whether to go on, by its first input.
  std::string NewTest(const std::string& meta) {
    const std::string name = absl::StrCat("g", next_body_++);
    absl::StrAppend(&bodies_, "graph ", name, "(%i0: ", meta, ", %i1: ", meta,
                    ") {\n  %s = aten.sum.default(%i0) : f32[]\n  %g = aten.gt.Scalar(%s, other=0) : bool[]\n  return "
                    "%g\n}\n");
    return "@" + name;
  }

  // Value number `i` is what a higher-order op gives.
  std::string Higher(const std::string& a, const std::string& b, const std::string& meta, int depth, size_t i) {
    std::string lines, call, results = absl::StrCat("(", meta, ")");
    const std::string row = meta == "f32[2,3]" ? "f32[3]" : "f32[]";
    switch (meta == "f32[]" ? Pick(2) : Pick(5)) {
      case 0: {
        absl::StrAppend(&lines, "  %s", i, " = aten.sum.default(", a, ") : f32[]\n  %p", i, " = aten.gt.Scalar(%s", i,
                        ", other=0) : bool[]\n");
        const std::string yes = NewBody({meta, meta}, meta, depth), no = NewBody({meta, meta}, meta, depth);
        call = absl::StrCat("cond(%p", i, ", ", yes, ", ", no, ", [", a, ", ", b, "])");
        break;
      }
      case 1: {
        const std::string test = NewTest(meta), body = NewBody({meta, meta}, meta, depth);
        call = absl::StrCat("while_loop(", test, ", ", body, ", [", a, "], [", b, "])");
        break;
      }
      case 2:
        call = absl::StrCat("map_impl(", NewBody({row, row}, row, depth), ", [", a, ", ", b, "], [])");
        break;
      case 3:
        // What is carried has the metadata of a row.
        absl::StrAppend(&lines, "  %s", i, " = aten.select_copy.int(", b, ", dim=0, index=0) : ", row, "\n");
        call = absl::StrCat("scan(", NewBody({row, row}, row, depth, 2), ", [%s", i, "], [", a, "], [])");
        results = absl::StrCat("(", row, ", ", meta, ")");
        return absl::StrCat(lines, "  %h", i, " = higher_order.", call, " : ", results, "\n  %v", i, " = getitem(%h", i,
                            ", index=1) : ", meta, "\n");
      default:
        call = absl::StrCat("wrap_with_set_grad_enabled(true, ", NewBody({meta, meta}, meta, depth), ", ", a, ", ", b,
                            ")");
    }
    return absl::StrCat(lines, "  %h", i, " = higher_order.", call, " : ", results, "\n  %v", i, " = getitem(%h", i,
                        ", index=0) : ", meta, "\n");
  }

  std::mt19937 random_;
  std::string bodies_;
  int next_body_ = 0;
};

uint32_t Mix(uint32_t seed, std::string_view text) {
  for (const char c : text) seed = (seed ^ static_cast<uint8_t>(c)) * 16777619u;
  seed ^= seed >> 15;
  return seed * 2654435761u ^ seed >> 13;
}

bool IsUnary(Op op) {
  return op == op::aten_relu_default || op == op::aten_sin_default || op == op::aten_neg_default ||
         op == op::aten_clone_default;
}

// What to do with a node follows from its name and its graph's, so both replays decide alike.
absl::Status Edit(uint32_t seed, Node node, Rewriter& rw) {
  const Node self = node.arg("self");
  if (!self.has_value() || !self.is_tensor() || !node.is_tensor()) return absl::OkStatus();
  const std::string& graph = rw.program().graphs[rw.graph_id().index].name;
  const auto cast = [&](DType dtype) {
    return rw.Redefine(node, op::aten__to_copy_default, {{"self", self}, {"dtype", AttrValue::OfDType(dtype)}});
  };
  switch (Mix(seed, absl::StrCat(graph, ".", TextPiece(node.name()))) % 24) {
    case 0:
      return IsUnary(node.op()) ? cast(DType::kF16) : absl::OkStatus();
    case 1:
      return IsUnary(node.op()) ? cast(DType::kF64) : absl::OkStatus();
    case 2:
      return IsUnary(node.op()) ? rw.Amend(node, op::aten_neg_default, {}) : absl::OkStatus();
    case 3:
      if (!IsUnary(node.op()) || self.tensor().shape.empty()) return absl::OkStatus();
      return rw.Redefine(node, op::aten_flip_default, {{"self", self}, {"dims", std::vector<int64_t>{0}}});
    case 4: {
      if (!IsUnary(node.op()) || self.tensor().shape.size() != 2) return absl::OkStatus();
      // Other strides, the same extents.
      TARE_ASSIGN_OR_RETURN(const Node turned, rw.InsertBefore(node, op::aten_permute_default,
                                                               {{"self", self}, {"dims", std::vector<int64_t>{1, 0}}}));
      TARE_ASSIGN_OR_RETURN(const Node fresh, rw.InsertBefore(node, op::aten_relu_default, {{"self", turned}}));
      TARE_ASSIGN_OR_RETURN(
          const Node copy,
          rw.InsertBefore(node, op::aten_clone_default,
                          {{"self", fresh}, {"memory_format", AttrValue::OfMemoryFormat(MemoryFormat::kContiguous)}}));
      return rw.Redefine(node, op::aten_permute_default, {{"self", copy}, {"dims", std::vector<int64_t>{1, 0}}});
    }
    case 5:
      return node.meta() == self.meta() ? rw.ReplaceUses(node, self) : absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

TEST_CASE("random edits of programs with bodies: the session and the slow twin give the same text") {
  PassesFixture fixture;
  int failed = 0, changed = 0, fed = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const std::string source = RandomText(seed).Make();
    CAPTURE(source);
    Program sparse = fixture.Parse(source);
    const absl::Status valid = Verify(sparse);
    REQUIRE_MESSAGE(valid.ok(), valid.ToString());
    const auto inferrer = fixture.NewInferrer(sparse);
    REQUIRE(ReinferAll(sparse, *inferrer).ok());
    Program dense = sparse;
    InferrerOptions no_memo;
    no_memo.use_memo = false;
    const auto slow_inferrer = MakeInferrer(*fixture.context, no_memo);
    RunOptions options;
    options.verify = VerifyWhat::kAll;
    options.check_meta = true;
    Rewriter rw(sparse, *inferrer);
    PassRunner runner(rw, options);
    for (uint32_t round = 0; round < 4; ++round) {
      const Pass pass =
          MakeFunctionPass({}, [&](Node node, Rewriter& session) { return Edit(seed * 31 + round, node, session); });
      const std::string before = fixture.Print(sparse);
      const auto stats = runner.Run(pass);
      const absl::Status slow = ReplayDense(dense, *slow_inferrer, pass);
      CAPTURE(stats.status().ToString());
      CAPTURE(slow.ToString());
      REQUIRE_EQ(stats.ok(), slow.ok());
      const std::string text = fixture.Print(sparse);
      REQUIRE_EQ(text, fixture.Print(dense));
      if (!stats.ok()) {
        ++failed;
        REQUIRE_EQ(text, before);
        break;
      }
      changed += stats->changed ? 1 : 0;
      for (size_t g = 1; g < sparse.graphs.size(); ++g)
        for (const NodeId input : sparse.graphs[g].graph.inputs())
          fed += fixture.context->metas.Get(sparse.graphs[g].graph.meta(input)).tensor.dtype != DType::kF32 ? 1 : 0;
    }
  }
  MESSAGE("changed ", changed, ", failed ", failed, ", inputs of bodies with another dtype ", fed);
  CHECK(changed > 300);
  CHECK(failed < 250);
  CHECK(fed > 100);
}

}  // namespace
}  // namespace tare
