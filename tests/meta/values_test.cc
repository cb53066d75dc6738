// Rules that read the values of constants: what they see, and that the memo tells constants apart.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "ir/elements.h"
#include "ir/text.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare {
namespace {

constexpr std::string_view kOps = R"toml(
[op."my.view_by.default"]
doc    = "self seen with the size that a constant holds"
schema = "(Tensor self, Tensor size) -> Tensor"
let    = ["size_values = values(size)"]
shape  = "[size.shape[0] * 0 + 7] if is_none(size_values) else size_values"
dtype  = "self.dtype"
traits = ["pure", "reads_values"]
[op."my.half.default"]
doc    = "as many halves of a constant as there are"
schema = "(Tensor scale) -> Tensor"
shape  = "[] if is_none(values(scale)) else [trunc(2.0 * values(scale)[0])]"
dtype  = "scale.dtype"
traits = ["pure", "reads_values"]
)toml";

template <typename T>
Payload Bytes(std::vector<T> values) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  Payload payload;
  payload.bytes = std::as_bytes(std::span<const T>(*owner));
  payload.owner = owner;
  return payload;
}

constexpr std::string_view kText = R"(constants {
  $0: i64[2] "size" parameter
}
graph main(%s: i64[2] = parameter "size" $0, %x: f32[12]) {
  %y = my.view_by.default(%x, %s) : f32[3,4]
  return %y
}
)";

TEST_CASE("a rule reads constants, and the memo does not mistake one for another") {
  for (const bool use_memo : {true, false}) {
    auto context = MakeContext();
    REQUIRE(AddOpsFile(*context, "my.toml", kOps).ok());
    InferrerOptions options;
    options.use_memo = use_memo;
    const auto inferrer = MakeInferrer(*context, options);
    // Programs of one Context whose constants have the same ids.
    const std::pair<std::vector<int64_t>, int64_t> cases[] = {{{3, 4}, 1}, {{4, 3}, 0}, {{3, 4}, 1}};
    for (const auto& [size, equal] : cases) {
      auto program = ParseProgram(*context, kText);
      REQUIRE_MESSAGE(program.ok(), program.status().ToString());
      program->constants[0].payload = Bytes(size);
      const CheckReport report = CheckProgram(*program, *inferrer);
      CHECK_EQ(report.different, 1 - equal);
    }
    if (use_memo) CHECK_EQ(inferrer->counters().memo_hits, 1);
    // Without bytes, and where somebody writes, the value is not known.
    auto program = ParseProgram(*context, kText);
    CHECK_EQ(CheckProgram(*program, *inferrer).different, 1);
  }
}

TEST_CASE("elements of constants") {
  auto context = MakeContext();
  REQUIRE(AddOpsFile(*context, "my.toml", kOps).ok());
  auto program = ParseProgram(*context, R"(constants {
  $0: f64[1] "a" parameter
  $1: i8[2,2]{1,2} "b" parameter
  $2: bool[2] "c" parameter
  $3: f32[2]@1 "d" parameter
}
graph main(%a: f64[1] = parameter "a" $0, %b: i8[2,2]{1,2} = parameter "b" $1, %c: bool[2] = parameter "c" $2, %d: f32[2]@1 = parameter "d" $3) {
  %y = my.half.default(%a) : f64[5]
  return %y
}
)");
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  std::vector<Constant>& constants = program->constants;
  CHECK(!ReadElements(*context, constants[0], 10).has_value());
  constants[0].payload = Bytes<double>({2.5});
  constants[1].payload = Bytes<int8_t>({1, -2, 3, -4});
  constants[2].payload = Bytes<uint8_t>({0, 2});
  constants[3].payload = Bytes<float>({1, 2, 3});
  CHECK_EQ(ReadElements(*context, constants[0], 10)->reals, std::vector<double>{2.5});
  CHECK_EQ(ReadElements(*context, constants[1], 10)->integers, std::vector<int64_t>{1, 3, -2, -4});
  CHECK_EQ(ReadElements(*context, constants[2], 10)->integers, std::vector<int64_t>{0, 1});
  CHECK_EQ(ReadElements(*context, constants[3], 10)->reals, std::vector<double>{2, 3});
  CHECK(!ReadElements(*context, constants[1], 3).has_value());  // too many
  constants[3].payload = Bytes<float>({1, 2});
  CHECK(!ReadElements(*context, constants[3], 10).has_value());  // too few bytes
  const auto inferrer = MakeInferrer(*context);
  const CheckReport report = CheckProgram(*program, *inferrer);
  CHECK_EQ(report.different, 0);
}

}  // namespace
}  // namespace tare
