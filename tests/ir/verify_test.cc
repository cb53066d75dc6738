// What the verifier refuses, made by damaging a good program.
#include "ir/verify.h"

#include <doctest/doctest.h>

#include <functional>

#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"
#include "tests/ir/test_ops.h"

namespace tare {
namespace {

constexpr std::string_view kText = R"(graph main(%p: bool[], %x: f32[2]) {
  %a = aten.relu.default(%x) : f32[2]
  %b = aten.add.Tensor(%a, %x, alpha=2) : f32[2]
  %c = higher_order.cond(%p, @then, @else, [%b]) : (f32[2])
  %d = getitem(%c, index=0) : f32[2]
  return %d
}
graph then(%x: f32[2]) {
  return %x
}
graph else(%x: f32[2]) {
  return %x
}
)";

struct Fixture {
  Context context{TestOps()};
  Program program = *ParseProgram(context, kText);
  Graph& graph() { return program.main(); }
  NodeId node(std::string_view name) { return graph().FindNode(name); }
  void SetMeta(std::string_view name, std::initializer_list<Dim> shape, std::initializer_list<Dim> strides,
               Dim offset = Dim::Static(0)) {
    TensorMeta tensor;
    tensor.shape = {shape.begin(), shape.size()};
    tensor.strides = {strides.begin(), strides.size()};
    tensor.offset = offset;
    GraphEdit(graph()).SetMeta(node(name), context.metas.Tensor(tensor));
  }
  void SetAttrs(std::string_view name, std::vector<NamedAttr> attrs) {
    NodeDef def = graph().Def(node(name));
    def.attrs = context.attrs.Intern(attrs);
    GraphEdit(graph()).SetDef(node(name), def);
  }
};

TEST_CASE("a good program passes, a damaged one names node and check") {
  using Damage = std::function<void(Fixture&)>;
  const Dim big = Dim::Static(int64_t{1} << 40);
  struct Case {
    std::string_view want, node;
    Damage damage;
  };
  const std::vector<Case> cases = {
      {"", "", [](Fixture&) {}},
      {"verify_c1", "p", [](Fixture& f) { GraphEdit(f.graph()).MoveBefore(f.node("x"), f.node("p")); }},
      {"verify_c1", "", [](Fixture& f) { GraphEdit(f.graph()).SetInputs({}); }},
      {"verify_c2", "", [](Fixture& f) { GraphEdit(f.graph()).MoveBefore(f.node("output"), f.node("d")); }},
      {"verify_c5", "b", [](Fixture& f) { GraphEdit(f.graph()).MoveBefore(f.node("b"), f.node("a")); }},
      {"verify_c5", "a", [](Fixture& f) { GraphEdit(f.graph()).SetOperand(f.node("a"), 0, f.node("a")); }},
      {"verify_c5", "d", [](Fixture& f) { GraphEdit(f.graph()).Erase(f.node("c")); }},
      {"verify_c6", "a", [](Fixture& f) { f.SetAttrs("a", {}); }},
      {"verify_c6", "a",
       [](Fixture& f) {
         f.SetAttrs("a", {{"self", AttrValue::Operand(7)}});
       }},
      {"verify_c7", "b",
       [](Fixture& f) {
         f.SetAttrs("b", {{"other", AttrValue::Operand(0)}, {"self", AttrValue::Operand(1)}});
       }},
      {"verify_c7", "a",
       [](Fixture& f) {
         f.SetAttrs("a", {{"self", AttrValue::Operand(0)}, {"k", {}}});
       }},
      {"verify_c8", "c", [](Fixture& f) { f.program.graphs[1].owner = f.node("d"); }},
      {"verify_c8", "", [](Fixture& f) { f.program.graphs[1].owner = NodeId{}; }},
      {"verify_c8", "", [](Fixture& f) { f.program.graphs[0].owner = f.node("a"); }},
      {"verify_c9", "a", [](Fixture& f) { GraphEdit(f.graph()).SetMeta(f.node("a"), MetaId{}); }},
      {"verify_c10", "a", [](Fixture& f) { f.SetMeta("a", {Dim::Static(2)}, {}); }},
      {"verify_c10", "a",
       [=](Fixture& f) {
         f.SetMeta("a", {big, big}, {Dim::Static(1), Dim::Static(1)});
       }},
      {"", "",
       [=](Fixture& f) {
         f.SetMeta("a", {big, big, Dim::Static(0)}, {big, big, big});
       }},
      {"verify_c10", "a", [](Fixture& f) { f.SetMeta("a", {Dim::Static(2)}, {f.context.syms.Int(-1)}); }},
      {"verify_c10", "a", [](Fixture& f) { f.SetMeta("a", {}, {}, f.context.syms.Int(-1)); }},
      {"verify_c10", "a", [](Fixture& f) { f.SetMeta("a", {Dim::Invalid()}, {Dim::Static(1)}); }},
      {"verify_c11", "", [](Fixture& f) { f.program.inputs.pop_back(); }},
      {"verify_c11", "", [](Fixture& f) { f.program.outputs.emplace_back(); }},
      {"verify_c11", "", [](Fixture& f) { f.program.inputs[0].constant = ConstId{0}; }},
  };
  for (const Case& test : cases) {
    Fixture f;
    test.damage(f);
    const absl::Status status = Verify(f.program);
    CAPTURE(status.ToString());
    CHECK_EQ(CheckIdOf(status), test.want);
    if (!test.node.empty()) CHECK(f.graph().NameOf(NodeOf(status).value()) == test.node);
  }
}

}  // namespace
}  // namespace tare
