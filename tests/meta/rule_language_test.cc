// The language of rows: expressions, fields of a file, and what a faulty file is told.
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "infer_text.h"
#include "ir/status.h"
#include "meta/context_factory.h"
#include "meta/rule_set.h"

namespace tare {
namespace {

constexpr std::string_view kCall = "(f32[2,3,s0]{3,1,6}@4, i8[5], dims=[1,-2,7], name=\"ab\")";

// Value of one expression in a row with the arguments below.
std::string Value(std::string_view expr) {
  const auto context = MakeContext();
  const std::string file = absl::StrCat(
      "[op.\"t.case.default\"]\n"
      "schema = \"(Tensor x, Tensor? w, *, Tensor? absent=None, int[] dims, str name, int n=3, float f=0.5, "
      "bool flag=True) -> Any\"\n"
      "let = [\"twice = n * 2\", \"never = fail('t_c9', 'evaluated')\"]\n"
      "result = '''text(",
      absl::string_view(expr.data(), expr.size()), ")'''\n");
  const absl::Status added = AddOpsFile(*context, "case.toml", file);
  if (!added.ok()) return std::string(added.message());
  std::string text = InferText(*context, absl::StrCat("t.case.default", absl::string_view(kCall.data(), kCall.size())));
  if (text.starts_with('"')) text = text.substr(1, text.size() - 2);
  return text;
}

TEST_CASE("expressions") {
  struct Case {
    std::string_view expr, want;
  };
  for (const auto& [expr, want] : std::initializer_list<Case>{
           // constants and names
           {"2", "2"},
           {"-1", "-1"},
           {"2.5", "2.5"},
           {"1e3", "1000"},
           {"'text'", "text"},
           {"true", "true"},
           {"none", "none"},
           {"f32", "f32"},
           {"channels_last", "channels_last"},
           {"n", "3"},
           {"f", "0.5"},
           {"flag", "true"},
           {"name", "ab"},
           {"absent", "none"},
           {"x", "f32[2,3,s0]"},
           {"twice", "6"},
           // fields
           {"x.shape", "[2, 3, s0]"},
           {"x.strides", "[3, 1, 6]"},
           {"x.offset", "4"},
           {"x.dtype", "f32"},
           {"x.layout", "strided"},
           {"n.shape", "[]"},
           // arithmetic
           {"1 + 2 * 3", "7"},
           {"(1 + 2) * 3", "9"},
           {"10 - 4 - 3", "3"},
           {"7 // 2", "3"},
           {"-7 // 2", "-4"},
           {"-7 % 3", "2"},
           {"1 / 2", "0.5"},
           {"7.5 // 2", "3"},
           {"-x.shape[0]", "-2"},
           {"x.shape[2] * 2 + 1", "2*s0+1"},
           {"x.shape[2] - x.shape[2]", "0"},
           {"true + 1", "2"},
           {"'a' + 'b'", "ab"},
           {"1 // 0", "error: division by zero [division]"},
           // comparisons and conditions
           {"1 < 2", "true"},
           {"1 < 2 < 2", "false"},
           {"2 >= 2 and not false", "true"},
           {"1 == 1.0", "true"},
           {"f32 == f32", "true"},
           {"f32 == 1", "false"},
           {"none == none", "true"},
           {"'a' == 'b'", "false"},
           {"[1, 2] == [1, 2]", "true"},
           {"[1, 2] == [1, 2, 3]", "false"},
           {"x.shape[2] > 1", "true"},
           {"x.shape[2] == 7", "s0 == 7"},
           {"f32 in [f16, f32]", "true"},
           {"2 not in dims", "true"},
           {"false and never", "false"},
           {"true or never", "true"},
           {"1 if flag else never", "1"},
           {"1 if not flag else 2", "2"},
           {"1 if x.shape[2] == 7 else 2", "2"},
           // lists
           {"[1, f, 'a']", "[1, 0.5, a]"},
           {"[*dims, 9]", "[1, -2, 7, 9]"},
           {"[1] + dims", "[1, 1, -2, 7]"},
           {"[0] * 3", "[0, 0, 0]"},
           {"dims[0]", "1"},
           {"dims[-1]", "7"},
           {"dims[1:]", "[-2, 7]"},
           {"dims[:-1]", "[1, -2]"},
           {"dims[-2:-1]", "[-2]"},
           {"dims[5:]", "[]"},
           {"dims[3]", "error: index 3 is outside a list of 3 [index_range]"},
           {"[d * 2 for d in dims]", "[2, -4, 14]"},
           {"[d for d in dims if d > 0]", "[1, 7]"},
           {"[[a * b for a in [1, 2]] for b in [3, 4]]", "[[3, 6], [4, 8]]"},
           {"[twice + d for d in dims]", "[7, 4, 13]"},
           {"(1, 2)", "(1, 2)"},
           {"(1 if d > 0 else 0)", "case.toml:4:24: op t.case.default: unknown name 'd' [rule_c3]"},
           // functions
           {"len(dims)", "3"},
           {"rank(x)", "3"},
           {"rank(1.5)", "0"},
           {"sum(dims)", "6"},
           {"prod(x.shape)", "6*s0"},
           {"prod([])", "1"},
           {"min(3, 1, 2)", "1"},
           {"max(dims)", "7"},
           {"max(0.5, 2)", "2"},
           {"abs(-3)", "3"},
           {"ceil_div(7, 2)", "4"},
           {"pow(2, 10)", "1024"},
           {"floor(-1.5)", "-2"},
           {"ceil(1.2)", "2"},
           {"trunc(-1.5)", "-1"},
           {"range(3)", "[0, 1, 2]"},
           {"range(2, 4)", "[2, 3]"},
           {"range(4, 0, -2)", "[4, 2]"},
           {"range(9223372036854775807)", "error: range is too long [rule_c9]"},
           {"copies(1, 3)", "[1, 1, 1]"},
           {"zeros(2)", "[0, 0]"},
           {"concat([1], [2, 3])", "[1, 2, 3]"},
           {"reversed(dims)", "[7, -2, 1]"},
           {"sorted(dims)", "[-2, 1, 7]"},
           {"distinct([1, 2, 1])", "false"},
           {"index_of(dims, 7)", "2"},
           {"index_of(dims, 5)", "-1"},
           {"ints(3)", "[3]"},
           {"all([true, 1 < 2])", "true"},
           {"any([])", "false"},
           {"known(x.shape[2] == 7)", "false"},
           {"known(x.shape[2] >= 2)", "true"},
           {"or_false(x.shape[2] == 7)", "false"},
           {"is_static(x.shape)", "false"},
           {"is_none(absent)", "true"},
           {"is_tensor(w)", "true"},
           {"is_int(w)", "true"},
           {"is_float(f)", "true"},
           {"dtype_of(1)", "i64"},
           {"tensor(i8, [2, 3])", "i8[2,3]"},
           {"tensor(i8, [2, 3], [1, 2]).strides", "[1, 2]"},
           {"with_dtype(x, i8)", "i8[2,3,s0]"},
           {"fail('t_c1', text('n is ', n))", "error: n is 3 [t_c1]"},
           {"rule('aten.permute.default', x, [1, 0, 2])", "f32[3,2,s0]"},
           {"rule('aten.mm.default', x, w)",
            "error: in aten.mm.default: self has rank 3, mat2 rank 1; both must be matrices [mm_c1]"},
           // faults of the row name their place
           {"1 + 'a'", "error: + does not take 1 and a (rule of t.case.default, case.toml:4:20) [rule_c8]"},
           {"1 if 2 else 3", "error: expected a condition, found 2 (rule of t.case.default, case.toml:4:18) [rule_c8]"},
           {"len(2)", "error: expected a list, found 2 (rule of t.case.default, case.toml:4:18) [rule_args_c1]"},
           {"1 if result_type('text') == f32 else 2",
            "error: expected tensors, dtypes or numbers, found text (rule of t.case.default, case.toml:4:23) "
            "[rule_args_c1]"},
       }) {
    CAPTURE(expr);
    CHECK_EQ(Value(expr), want);
  }
}

TEST_CASE("faulty expressions") {
  struct Case {
    std::string_view expr, want;
  };
  for (const auto& [expr, want] : std::initializer_list<Case>{
           {"1 +", "expected a value, found ')' [rule_c2]"},
           {"(1", "expected ',', found the end [rule_c2]"},
           {"1 2", "expected ',', found a number [rule_c2]"},
           {"[1, 2", "expected ',', found ')' [rule_c2]"},
           {"1 if true", "expected 'else', found ')' [rule_c2]"},
           {"nothing", "unknown name 'nothing' [rule_c3]"},
           {"nothing(1)", "unknown function 'nothing' [rule_c3]"},
           {"x.colour", "a tensor has no field 'colour' [rule_c3]"},
           {"len()", "len got 0 arguments; its signature is len(list) -> int [rule_c4]"},
           {"rule('no.such.op', x)", "case.toml:4:18: op t.case.default: no rule for op no.such.op [rule_c3]"},
           {"rule(x)", "rule() needs the op's name in quotes first [rule_c2]"},
           {"1 $ 2", "no parameter for '$ 2)' [rule_c3]"},
           {"1 ? 2", "case.toml:4:20: op t.case.default: unexpected ? [rule_c2]"},
           {"99999999999999999999",
            "case.toml:4:18: op t.case.default: number 99999999999999999999 out of range [rule_c2]"},
           {"[d for in dims]", "expected a name after 'for' [rule_c2]"},
           {"if", "expected a value, found 'if' [rule_c2]"},
       }) {
    CAPTURE(expr);
    const std::string got = Value(expr);
    CAPTURE(got);
    CHECK(got.ends_with(want));
  }
}

TEST_CASE("nesting and size are bounded") {
  const auto nested = [](int depth) { return std::string(depth, '(') + "1" + std::string(depth, ')'); };
  CHECK_EQ(Value(nested(20)), "1");
  CHECK(Value(nested(5000)).ends_with("[rule_c5]"));
  std::string chain = "1";
  for (int i = 0; i < 1000; ++i) chain += "+1";
  CHECK(Value(chain).ends_with("[rule_c5]"));
  CHECK(Value(std::string(20000, '1')).ends_with("[rule_c2]"));
  CHECK(Value("[[0] * 60000 for i in range(60000)]").ends_with("[rule_c9]"));
}

// Adds a file and asks a call, or tells why it is refused.
std::string Ask(std::string_view file, std::string_view call) {
  const auto context = MakeContext();
  const absl::Status added = AddOpsFile(*context, "my.toml", file);
  return added.ok() ? InferText(*context, call) : std::string(added.message());
}

TEST_CASE("rows") {
  struct Case {
    std::string_view file, call, want;
  };
  for (const auto& [file, call, want] : std::initializer_list<Case>{
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = 'x.shape'\ndtype = 'i8'", "t.a.x(f32[2]{3})",
            "i8[2]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = 'x.shape'\ndtype = 'i8'\nlayout = 'x.strides'\n"
            "offset = 'x.offset + 1'",
            "t.a.x(f32[2]{3}@2)", "i8[2]{3}@3"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = 'x.shape'\ndtype = 'i8'\nlayout = 'channels_last'",
            "t.a.x(f32[2,3,4,5])", "i8[2,3,4,5]{60,1,15,3}"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> (Tensor, Tensor)'\n"
            "results = [{ shape = 'x.shape', dtype = 'i8' }, { result = 'x' }]",
            "t.a.x(f32[2])", "(i8[2], f32[2])"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor[]'\nresult = '[x, x]'", "t.a.x(f32[2])", "[f32[2], f32[2]]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> ()'\nresult = 'none'", "t.a.x(f32[2])", "none"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = 'x.shape'\ndtype = 'i8'\n"
            "layout = '[1] if result_dtype == i8 and len(result_shape) == 1 else []'",
            "t.a.x(f32[2])", "i8[2]"},
           {"[family.f]\nshape = '$s'\ndtype = '$dtype'\n[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nfamily = 'f'\n"
            "with = { s = 'x.shape', dtype = 'f64', d = 'oops' }\nalso = ['t.b.x']",
            "t.b.x(f32[2])", "f64[2]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = 'x.shape'\ndtype = 'x.dtype'\n"
            "checks = [{ id = 'a_c1', that = 'rank(x) == 1', say = 'rank {rank(x)} of {x}, {{not}} 1' }]",
            "t.a.x(f32[2,3])", "error: rank 2 of f32[2,3], {not} 1 [a_c1]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = '[-1]'\ndtype = 'i8'", "t.a.x(f32[2])",
            "error: the result would have size -1 [negative_size]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = 'copies(2, 65)'\ndtype = 'i8'", "t.a.x(f32[2])",
            "error: rank 65 exceeds 64 [rank_limit]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = 'copies(1048576, 4)'\ndtype = 'i8'",
            "t.a.x(f32[2])", "error: the result has too many elements [numel_overflow]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = '[4611686018427387904 * 4]'\ndtype = 'i8'",
            "t.a.x(f32[2])", "error: a size does not fit 64 bits [overflow]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nlet = ['a = b + 1', 'b = 1']\nshape = '[a]'\ndtype = 'i8'",
            "t.a.x(f32[2])", "my.toml:3:13: op t.a.x: unknown name 'b' [rule_c3]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = 'result_shape'\ndtype = 'i8'", "t.a.x(f32[2])",
            "error: a let depends on itself (rule of t.a.x, my.toml:3:10) [rule_c8]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nshape = '1'\ndtype = 'i8'", "t.a.x(f32[2])",
            "error: 1 is no shape (rule of t.a.x, my.toml:3:10) [rule_c8]"},
           {"[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nresult = \"rule('t.a.x', x)\"", "t.a.x(f32[2])",
            "error: rules call each other too deep [rule_c9]"},
       }) {
    CAPTURE(file);
    CHECK_EQ(Ask(file, call), want);
  }
}

TEST_CASE("faulty files") {
  struct Case {
    std::string_view file, want;
  };
  const std::string_view row = "[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\n";
  for (const auto& [file, want] : std::initializer_list<Case>{
           {"[op.'t.a.x'\n", "[rule_c1]"},
           {"[ops.'t.a.x']\n", "my.toml:1:1: unknown table 'ops' [rule_c6]"},
           {"[op.'t.a.x']\nshape = 'x'\n", "my.toml:1:1: op t.a.x has no schema [rule_c6]"},
           {"ROWcolour = 'x'\n", "my.toml:3:10: unknown field 'colour' [rule_c6]"},
           {"ROW", "my.toml:1:1: op t.a.x needs `shape` and `dtype`, or `result`, or `results` [rule_c6]"},
           {"ROWshape = 'x.shape'\n", "my.toml:1:1: op t.a.x has no dtype [rule_c6]"},
           {"ROWshape = 3\ndtype = 'i8'", "my.toml:3:9: op t.a.x: shape must be a text [rule_c6]"},
           {"ROWfamily = 'none'\nresult = 'x'", "my.toml:3:10: op t.a.x: unknown family [rule_c6]"},
           {"[family.a]\nfamily = 'b'\n[family.b]\nfamily = 'a'\nROWfamily = 'a'\nresult = 'x'",
            "op t.a.x: families of families too deep [rule_c5]"},
           {"ROWtraits = ['blue']\nresult = 'x'", "my.toml:3:12: op t.a.x: unknown trait 'blue' [rule_c6]"},
           {"ROWalias = 'y'\nresult = 'x'", "my.toml:3:9: op t.a.x: alias names no argument [rule_c3]"},
           {"ROWresult = 'x'\nchecks = [{ id = 'c', that = 'true' }]", "a check is { id, that, say } [rule_c6]"},
           {"ROWlet = ['a + 1']\nresult = 'x'", "a let is \"name = expression\" [rule_c2]"},
           {"ROWresult = 'x'\nalso = ['t.a.x']",
            "my.toml:4:10: op t.a.x is described twice, in my.toml:1:1 too [rule_c6]"},
           {"[op.'aten.mm.default']\nschema = '(Tensor x) -> Tensor'\nresult = 'x'",
            "my.toml:1:1: op aten.mm.default is built in; its rule cannot be replaced [rule_c7]"},
           {"[op.'t.a.x']\nschema = '(Tensor'\nresult = 'x'",
            "my.toml:2:11: op t.a.x: expected the name of an argument at column 8 of schema '(Tensor' [schema_c1]"},
           {"ROWresult = 'x'\nchecks = [\n{ id = 'c', that = 'true', say = 'a {x b' }]",
            "my.toml:5:37: op t.a.x: '{' without '}' in a message [rule_c2]"},
       }) {
    CAPTURE(file);
    const std::string text = absl::StrReplaceAll(absl::string_view(file.data(), file.size()),
                                                 {{"ROW", absl::string_view(row.data(), row.size())}});
    const std::string got = Ask(text, "t.a.x(f32[2])");
    CAPTURE(got);
    CHECK(got.ends_with(want));
  }
}

}  // namespace
}  // namespace tare
