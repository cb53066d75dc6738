// Arguments as a rule sees them: defaults filled, kinds as the schema says, what does not fit refused.
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "infer_text.h"
#include "meta/context_factory.h"
#include "meta/rule_set.h"

namespace tare {
namespace {

// One op for each type of argument; its result is the argument's value as text.
constexpr std::string_view kOps = R"toml(
[op."t.int.x"]
schema = "(int v=4) -> Any"
result = "text(v)"
[op."t.float.x"]
schema = "(float v=4) -> Any"
result = "text(v, ' ', is_float(v))"
[op."t.bool.x"]
schema = "(bool v=False) -> Any"
result = "text(v)"
[op."t.scalar.x"]
schema = "(Scalar v=1) -> Any"
result = "text(v, ' ', dtype_of(v))"
[op."t.string.x"]
schema = "(str v='none') -> Any"
result = "text(v)"
[op."t.dtype.x"]
schema = "(ScalarType? v=None) -> Any"
result = "text(v)"
[op."t.format.x"]
schema = "(MemoryFormat v) -> Any"
result = "text(v)"
[op."t.ints.x"]
schema = "(int[] v) -> Any"
result = "text(v)"
[op."t.ints2.x"]
schema = "(SymInt[2] v=1) -> Any"
result = "text(v)"
[op."t.floats.x"]
schema = "(float[]? v=None) -> Any"
result = "text(v)"
[op."t.bools.x"]
schema = "(bool[3] v) -> Any"
result = "text(v)"
[op."t.tensor.x"]
schema = "(Tensor v, Tensor? w=None) -> Any"
result = "text(v, ' ', w)"
[op."t.tensors.x"]
schema = "(Tensor[] v) -> Any"
result = "text(v)"
[op."t.maybes.x"]
schema = "(Tensor?[] v) -> Any"
result = "text(v)"
)toml";

TEST_CASE("arguments") {
  const auto context = MakeContext();
  REQUIRE(AddOpsFile(*context, "t.toml", kOps).ok());
  struct Case {
    std::string_view call, want;
  };
  for (const auto& [call, want] : std::initializer_list<Case>{
           {"t.int.x()", "\"4\""},
           {"t.int.x(v=-7)", "\"-7\""},
           {"t.int.x(v=true)", "\"1\""},
           {"t.int.x(v=s0)", "\"s0\""},
           {"t.int.x(v=2.0)", "error: argument v must be an integer; found 2 [args_c5]"},
           {"t.int.x(v=none)", "error: argument v must be an integer; found none [args_c5]"},
           {"t.int.x(v=f32[])", "error: argument v must be an integer; found f32[] [args_c5]"},
           {"t.float.x()", "\"4 true\""},
           {"t.float.x(v=3)", "\"3 true\""},
           {"t.float.x(v=inf)", "\"inf true\""},
           {"t.float.x(v=s0)", "\"float(s0) true\""},
           {"t.float.x(v=\"a\")", "error: argument v must be a float; found a [args_c5]"},
           {"t.bool.x()", "\"false\""},
           {"t.bool.x(v=true)", "\"true\""},
           {"t.scalar.x()", "\"1 i64\""},
           {"t.scalar.x(v=1.0)", "\"1 f32\""},
           {"t.scalar.x(v=true)", "\"true bool\""},
           {"t.scalar.x(v=complex(1.0,2.0))", "\"a complex number c64\""},
           {"t.scalar.x(v=[1])", "error: argument v must be a number; found [1] [args_c5]"},
           {"t.string.x()", "\"none\""},
           {"t.dtype.x(v=i8)", "\"i8\""},
           {"t.dtype.x()", "\"none\""},
           {"t.dtype.x(v=3)", "error: argument v must be a dtype; found 3 [args_c5]"},

           {"t.format.x(v=channels_last)", "\"channels_last\""},
           {"t.ints.x(v=[1,s0,-2])", "\"[1, s0, -2]\""},
           {"t.ints.x(v=[])", "\"[]\""},
           {"t.ints.x(v=3)", "\"[3]\""},
           {"t.ints.x(v=[1,none])",
            "error: argument v must be a list, each item an integer; found [1, none] [args_c5]"},
           {"t.ints2.x()", "\"[1, 1]\""},
           {"t.ints2.x(v=3)", "\"[3, 3]\""},
           {"t.ints2.x(v=s0)", "\"[s0, s0]\""},
           {"t.ints2.x(v=[3])", "\"[3]\""},
           {"t.floats.x()", "\"none\""},
           {"t.floats.x(v=[1,2.5])", "\"[1, 2.5]\""},
           {"t.bools.x(v=[true,false,true])", "\"[true, false, true]\""},
           {"t.bools.x(v=true)", "\"[true, true, true]\""},
           {"t.tensor.x(f32[2])", "\"f32[2] none\""},
           {"t.tensor.x(2.5, i8[])", "\"2.5 i8[]\""},
           {"t.tensor.x(\"a\")", "error: argument v must be a tensor; found a [args_c5]"},
           {"t.tensor.x(none)", "error: argument v must be a tensor; found none [args_c5]"},
           {"t.tensors.x([])", "\"[]\""},
           {"t.tensors.x([f32[2], i8[]])", "\"[f32[2], i8[]]\""},
           {"t.tensors.x([f32[2], none])",
            "error: argument v must be a list, each item a tensor; found [f32[2], none] [args_c5]"},
           {"t.maybes.x([none, f32[2]])", "\"[none, f32[2]]\""},
       }) {
    CAPTURE(call);
    CHECK_EQ(InferText(*context, call), want);
  }
  // Refused while the call is read, with the place in the line.
  const auto refused = [&](std::string_view call, std::string_view id) {
    return InferText(*context, call).find(id) != std::string::npos;
  };
  CHECK(refused("t.format.x()", "[args_c4]"));
  CHECK(refused("t.int.x(w=1)", "[args_c1]"));
  CHECK(refused("t.int.x(v=1, v=2)", "[args_c2]"));
  CHECK(refused("t.tensor.x(f32[], f32[], f32[])", "[args_c3]"));
}

TEST_CASE("a size of far too many dims is refused before anything is made of it") {  // D03
  const auto context = MakeContext();
  std::string ones = "1";
  for (int i = 1; i < 60'000; ++i) ones += ",1";
  CHECK_EQ(InferText(*context, "aten.full.default(size=[" + ones + "], fill_value=1.0)"),
           "error: rank 60000 is above 64 [rank_c1]");
}

}  // namespace
}  // namespace tare
