// Texts in, texts out: what parses prints the same; what is wrong is refused with its place.
#include "ir/text.h"

#include <doctest/doctest.h>
#include <pthread.h>

#include <bit>
#include <random>
#include <string>

#include "ir/notation.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "tests/ir/test_ops.h"

namespace tare {
namespace {

std::string Reprint(std::string_view text) {
  Context context(TestOps());
  const absl::StatusOr<Program> program = ParseProgram(context, text);
  if (!program.ok()) return std::string(program.status().message());
  if (const absl::Status status = Verify(*program); !status.ok()) return status.ToString();
  return PrintProgram(context, *program);
}

TEST_CASE("a program prints as it was written") {
  for (
      const std::string_view text : {
          R"(graph main(%x: f32[s0,3], %w: f32[3,3]) {
  %a = aten.mm.default(%x, %w) : f32[s0,3]
  %b = aten.permute.default(%a, dims=[1,0]) : f32[3,s0]{1,3}
  return %b
}
)",
          R"(symbols {
  s0 in [2,64] % 4 hint 8
  u1 in [1,inf]
  b in [-inf,9]
  s9 unbacked in [0,inf]
}
graph main(%x: f32[s0,u1], %n: int(b+s9)) {
  return %x, 3, none, 0.5, true, "text"
}
)",
          R"(graph main(%x: f32[8]) {
  %top = aten.topk.default(%x, k=3) : (f32[3], i64[3])
  %values = getitem(%top, index=0) : f32[3]
  %sum = aten.add.Tensor(%values, 2.5, alpha=2) : f32[3]
  %both = aten.cat.default([%values, %sum, %values], dim=-1) : f32[9]
  return %both
}
)",
          R"(graph main(%p: bool[], %x: f32[2]) {
  %y = higher_order.cond(%p, @then, @"other wise", [%x]) : (f32[2])
  %z = getitem(%y, index=0) : f32[2]
  return %z
}
graph then(%x: f32[2]) {
  %y = aten.relu.default(%x) : f32[2]
  return %y
}
graph "other wise"(%x: f32[2]) {
  return %x
}
)",
          R"(graph main(%w: f32[4,3,1,1] = parameter "conv.weight", %m: f32[4] = buffer "bn.mean" transient, %x: f32[1,3,8,8], %k: none = literal "k") {
  %c = aten.conv2d.default(%x, %w, stride=[2,2]) : f32[1,4,4,4]{64,1,16,4}
  %n = aten.batch_norm.default(%c, none, %m, eps=1e-05) : f32[1,4,4,4]
  return %m -> buffer "bn.mean", %n
}
)",
          R"(constants {
  $0: f32[3] "w" parameter file "weight_0"
  $1: f32[3] "tied" file "weight_0"
  $2: none "o" class "my.Class"
}
graph main(%a: f32[3] = parameter "w" $0, %b: f32[3] = buffer "w.alias" $0, %o: object("my.Class") = object "o" $2) {
  %c = constant(const=1) : f32[3]
  return %a, %b, %c
}
)",
          R"(graph main(%"odd name": f32[], %"quote\"\\": f32[0,3], %"näme": f32[2]@4, %"\x01\xff\n": f32[2,2]{1,2}@(2*s0+1)) {
  %1.0 = aten.full.default(size=[2,3], fill_value=-inf, dtype=f32, layout=strided, device=device("cuda:1")) : f32[2,3]<cuda:1>
  %i = aten.index.Tensor(%"näme", [none, %"odd name"]) : f32[2]
  %s = aten.sym_size.int(%"näme", dim=0) : int(s0)
  %v = aten.view.default(%i, size=[%s, -1]) : f32[s0,1]
  %w = aten.where.ScalarSelf(%v, self=1.5, %i) : f32[2]
  %f = aten.clone.default(%w, memory_format=channels_last) : f32[2]
  %g = aten.gelu.default(%f, approximate="tanh") : f32[2]
  %t = custom.op.default(%g, x=[1.0,true], *, k={"a": [1,2], "b": [%g, none]}, *, operator("aten.add"), complex(1.0,-0.0)) : [f32[2], (token, none), float(float(s0)/2.0), bool(s0 == 4)]
  %q = aten.relu.default(%v) : i8[2] quant(i8(scale=[0.5], zero=[-3], min=-128, max=127), none -> i8(scale=[0.1,0.2], zero=[0,0], axis=1, min=-127, max=127))
  return
}
)",
          R"(graph main() {
  return
}
)",
      }) {
    CHECK_EQ(Reprint(text), text);
  }
}

TEST_CASE("short ways of writing are spelled out") {
  for (const auto& [text, want] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"graph main(%x:f32[2,3]{3,1}){# comment\n %y=aten.add.Tensor(%x,%x,alpha=1):f32[2 , 3]@0 return %y}",
            "graph main(%x: f32[2,3]) {\n  %y = aten.add.Tensor(%x, %x) : f32[2,3]\n  return %y\n}\n"},
           {"graph main(%x: f32[1,1]{7,9}) { %y = aten.permute.default(%x, dims=1) : f32[1,1] return %y }",
            "graph main(%x: f32[1,1]) {\n  %y = aten.permute.default(%x, dims=[1]) : f32[1,1]\n  return %y\n}\n"},
           {"graph main(%x: f32[1]) { %y = aten.batch_norm.default(%x, eps=1) : f32[1] return %y }",
            "graph main(%x: f32[1]) {\n  %y = aten.batch_norm.default(%x, eps=1.0) : f32[1]\n  return %y\n}\n"},
           {"graph main(%x: f32[1]) { %y = aten.gelu.default(%x, approximate=\"\\u006eone\") : f32[1] return %y }",
            "graph main(%x: f32[1]) {\n  %y = aten.gelu.default(%x) : f32[1]\n  return %y\n}\n"},
       }) {
    CHECK_EQ(Reprint(text), want);
  }
}

TEST_CASE("what cannot be read is refused with its place") {
  for (const auto& [text, want] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"", "1:1: expected a graph [text_c1]"},
           {"grph main() {}", "1:1: expected 'graph', 'symbols' or 'constants'"},
           {"graph main() { return %x }", "1:23: %x is not defined before its use [text_c1]"},
           {"graph main(%x: f32[2]) {\n  %x = aten.relu.default(%x) : f32[2]\n}",
            "2:3: %x is defined already [text_c1]"},
           {"graph main(%x: f33[2]) { return }", "1:16: expected metadata [text_c1]"},
           {"graph main(%x: f32[2) { return }", "1:20: expression"},
           {"graph main(%x: f32[2]{1,2}) { return }", "as many strides as dims are needed"},
           {"graph main(%x: f32[99999999999999999999]) { return }", "1:20: "},
           {"graph main(%x: f32[2]) { %y = aten.relu.default(%x) return %y }", "expected ':' and metadata"},
           {"graph main(%x: f32[2]) { %y = aten.relu.default(%x, %x) : f32[2] return %y }", "[args_c3]"},
           {"graph main(%x: f32[2]) { %y = aten.relu.default(%x, a=1) : f32[2] return %y }", "[args_c1]"},
           {"graph main(%x: f32[2]) { %y = aten.relu.default(%x, self=1) : f32[2] return %y }", "[args_c2]"},
           {"graph main(%x: f32[2]) { %y = aten.relu.default() : f32[2] return %y }", "[args_c4]"},
           {"graph main() { return @body }", "graph @body is not known here"},
           {"graph a() { return } graph a() { return }", "graph a is there already"},
           {"symbols { s0 s0 } graph a() { return }", "symbol s0 is there already"},
           {"symbols { s0 in [3,2] } graph a() { return }", "the range of a symbol is empty"},
           {"graph main(%\"x: f32[2]) { return }", "without its"},
           {"graph main(%x: f32[2] = parameter \"w\" $0) { return }", "there is no constant $0"},
           {"graph main(%x: f32[2]) { %y = "
            "f([[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]) : f32[2] return %y }",
            "nested too deeply"},
           {"graph main(%x: f32[(((s0)]) { return }", "1:"},
       }) {
    const std::string got = Reprint(text), input(text);  // clang 14 captures no structured bindings
    CAPTURE(input);
    CAPTURE(got);
    CHECK(got.find(want) != std::string::npos);
  }
}

TEST_CASE("calls with metadata in place of operands") {
  Context context(TestOps());
  for (const auto& [text, want] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"aten.add.Tensor(f32[2,3], f32[3], alpha=2)", ""},
           {"aten.add.Tensor(f32[2,3],2, alpha=1)", "aten.add.Tensor(f32[2,3], 2)"},
           {"aten.view.default(f32[s0,6], size=[s0,2,3])", "aten.view.default(f32[s0,6], size=[s0, 2, 3])"},
           {"aten.cat.default([f32[2], f32[3]@1])", ""},
           {"aten.index.Tensor(f32[2,3], [none, i64[4]])", ""},
           {"aten.conv2d.default(f32[1,2,3,3], f32[2,2,1,1], none, stride=2)",
            "aten.conv2d.default(f32[1,2,3,3], f32[2,2,1,1], stride=[2,2])"},
           {"aten.full.default(size=[], fill_value=true, dtype=bool)", ""},
           {"aten.topk.default(f32[max(1,u0)], k=u0+1)", ""},
       }) {
    TextSymbols symbols(context.syms);
    Cursor cursor(text);
    const absl::StatusOr<Call> call = ReadCall(context, cursor, symbols);
    REQUIRE_MESSAGE(call.ok(), call.status().ToString());
    CHECK_EQ(PrintCall(context, call->op, call->attrs, call->operands), want.empty() ? text : want);
  }
}

TEST_CASE("numbers read back as they were") {
  for (const double value : {0.0, -0.0, 1.0, 1e-5, 0.1, 1e300, 5e-324, 123456789012345678.0, -2.5}) {
    CHECK_EQ(std::bit_cast<uint64_t>(*ParseDouble(PrintDouble(value))), std::bit_cast<uint64_t>(value));
  }
  CHECK_EQ(PrintDouble(1), "1.0");
  CHECK_EQ(PrintDouble(1e-5), "1e-05");
  CHECK(!ParseDouble("1.0x"));
  CHECK(!ParseDouble(""));
  CHECK(!ParseDouble("--1"));
}

TEST_CASE("any bytes as a name read back") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string name;
    for (int i = 0; i < 12; ++i) name += static_cast<char>(random() & (round % 2 == 0 ? 0xFF : 0x7F));
    const std::string quoted = Quote(name);
    Cursor cursor(quoted);
    CHECK_EQ(*cursor.QuotedText(), name);
  }
}

TEST_CASE("damaged texts never crash") {
  const std::string text =
      "symbols { s0 in [2,64] % 4 hint 8 }\ngraph main(%p: bool[], %x: f32[s0,3]{3,1}@2) {\n"
      "  %y = higher_order.cond(%p, @b, [%x, \"a\\n\", {\"k\": 1.5}]) : (f32[2], none) quant(none -> "
      "i8(scale=[0.5], zero=[1], min=0, max=1))\n  return %y -> buffer \"b\"\n}\ngraph b() { return }\n";
  REQUIRE(Reprint(text).substr(0, 7) == "symbols");
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = text;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t at = random() % damaged.size();
      if (random() % 2 == 0) {
        damaged[at] = "(){}[]%@\"\\#,:=0s-\n x"[random() % 20];
      } else {
        damaged.erase(at, 1 + random() % 8);
      }
    }
    Context context(TestOps());
    const absl::StatusOr<Program> program = ParseProgram(context, damaged);
    if (!program.ok()) continue;
    const std::string once = PrintProgram(context, *program);
    const absl::StatusOr<Program> again = ParseProgram(context, once);
    REQUIRE_MESSAGE(again.ok(), damaged, "\n", once, "\n", again.status().ToString());
    CHECK_EQ(PrintProgram(context, *again), once);
  }
}

// Runs `work` on a stack of 256 KB.
void OnSmallStack(void* (*work)(void*)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 << 10) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, work, nullptr) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_CASE("a chain of 400,000 nodes reads, verifies, prints and dies on a small stack") {
  OnSmallStack([](void*) -> void* {
    std::string text = "graph main(%n0: f32[8]) {\n";
    for (int i = 1; i <= 400000; ++i) {
      text += "  %n" + std::to_string(i) + " = aten.relu.default(%n" + std::to_string(i - 1) + ") : f32[8]\n";
    }
    text += "  return %n400000\n}\n";
    Context context(TestOps());
    absl::StatusOr<Program> program = ParseProgram(context, text);
    REQUIRE(program.ok());
    CHECK(Verify(*program).ok());
    CHECK(PrintProgram(context, *program) == text);
    return nullptr;
  });
}

}  // namespace
}  // namespace tare
