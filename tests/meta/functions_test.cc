// Rule functions by name, as rows call them: what they give for a few arguments each.
#include <doctest/doctest.h>

#include "meta/function_table.h"
#include "rule_fixture.h"

namespace tare {
namespace {

absl::StatusOr<Value> Call(RuleFixture& f, std::string_view name, std::initializer_list<Value> args) {
  for (const RuleFunctionRow& row : FunctionTable()) {
    if (row.name == name) return row.function(f.rc, {args.begin(), args.size()});
  }
  return InvalidError("test", "no function ", name);
}

std::string Text(RuleFixture& f, const absl::StatusOr<Value>& value) {
  return value.ok() ? f.rc.Print(*value) : "error " + CheckIdOf(value.status());
}

Value Int(int64_t value) { return Value::Int(Dim::Static(value)); }

TEST_CASE("every function has a signature, a sentence and a name of its own") {
  std::vector<std::string_view> names;
  for (const RuleFunctionRow& row : FunctionTable()) {
    CAPTURE(std::string(row.name));
    CHECK_EQ(row.signature.substr(0, row.name.size()), row.name);
    CHECK(!row.doc.empty());
    const bool has_function = row.function != nullptr;
    CHECK(has_function);
    CHECK((row.max_args == -1 || row.max_args >= row.min_args));
    names.push_back(row.name);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("column-major strides of matrices, batches of them, and shapes that are none") {
  RuleFixture f;
  const auto strides = [&](std::initializer_list<int64_t> shape) {
    return Text(f, Call(f, "column_major", {Value::Ints(f.Dims(shape))}));
  };
  CHECK_EQ(strides({3, 4}), "[1, 3]");
  CHECK_EQ(strides({2, 5, 3, 4}), "[60, 12, 1, 3]");
  CHECK_EQ(strides({0, 3}), "[1, 1]");
  CHECK_EQ(strides({7}), "[1]");
  CHECK_EQ(strides({}), "[]");
}

TEST_CASE("a mask mints one symbol, the same on every evaluation of the node") {
  RuleFixture f;
  const Value self = Value::Tensor(f.Tensor(f.Dims({4, 5})));
  const Value mask = Value::Tensor(f.Tensor(f.Dims({4}), {}, DType::kBool));
  const Value list[] = {mask};
  const Value indices = Value::List(list);
  const auto first = Call(f, "index", {self, indices, Value::Bool(true)});
  const auto second = Call(f, "index", {self, indices, Value::Bool(true)});
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK_EQ(first->tensor->shape[0], second->tensor->shape[0]);
  CHECK_EQ(f.context.syms.RangeOf(first->tensor->shape[0], nullptr).max, 4);
  CHECK_EQ(Text(f, Call(f, "index", {self, indices, Value::Bool(false)})), "error index_c2");
}

TEST_CASE("indices that are not neighbours move to the front") {
  RuleFixture f;
  const Value self = Value::Tensor(f.Tensor(f.Dims({4, 5, 6})));
  const Value two = Value::Tensor(f.Tensor(f.Dims({2}), {}, DType::kI64));
  const Value apart[] = {two, Value::None(), two}, together[] = {Value::None(), two, two};
  CHECK_EQ(f.Text(Call(f, "index", {self, Value::List(apart), Value::Bool(true)})->tensor->shape), "2,5");
  CHECK_EQ(f.Text(Call(f, "index", {self, Value::List(together), Value::Bool(true)})->tensor->shape), "4,2");
}

TEST_CASE("padding beyond 64 bits is refused, not wrapped") {
  RuleFixture f;
  const Value self = Value::Tensor(f.Tensor(f.Dims({4})));
  CHECK_EQ(Text(f, Call(f, "pad_constant", {self, Value::Ints(f.Dims({INT64_MAX, 1}))})), "error pad_c4");
  CHECK_EQ(f.Text(Call(f, "pad_constant", {self, Value::Ints(f.Dims({-1, 3}))})->tensor->shape), "6");
}

TEST_CASE("scale factors multiply in double precision and round down") {
  RuleFixture f;
  const Value self = Value::Tensor(f.Tensor(f.Dims({1, 1, 7, 10})));
  const Value factors[] = {Value::Float(1.4999999), Value::Float(1.7)};
  CHECK_EQ(Text(f, Call(f, "scaled_size", {self, Value::None(), Value::List(factors)})), "[10, 17]");
  CHECK_EQ(Text(f, Call(f, "scaled_size", {self, Value::None(), Value::None()})), "error scaled_size_c1");
}

TEST_CASE("arithmetic on numbers folds constants and keeps symbols") {
  RuleFixture f;
  const Value s0 = Value::Int(f.Symbol("s0"));
  struct Case {
    std::string_view operation;
    Value a, b;
    std::string_view want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"add", Int(2), Int(3), "5"},
           {"sub", s0, s0, "0"},
           {"mul", s0, Int(2), "2*s0"},
           {"floordiv", Int(7), Int(2), "3"},
           {"mod", Int(7), Int(0), "error symbolic_c1"},
           {"truediv", Int(7), Int(2), "3.5"},
           {"ge", s0, Int(2), "true"},
           {"lt", Int(1), Value::Float(1.5), "true"},
           {"and", Value::Bool(true), Value::Bool(false), "false"},
           {"xor", Int(1), Int(2), "error symbolic_c3"},
           {"add", Value::String("x"), Int(2), "error symbolic_c2"},
       }) {
    CAPTURE(std::string(c.operation));
    CHECK_EQ(Text(f, Call(f, "symbolic", {Value::String(c.operation), c.a, c.b})), std::string(c.want));
  }
}

TEST_CASE("joining needs equal extents but along the dim") {
  RuleFixture f;
  const auto tensor = [&](std::initializer_list<int64_t> shape) { return Value::Tensor(f.Tensor(f.Dims(shape))); };
  const auto cat = [&](std::initializer_list<Value> list, int64_t dim) {
    const auto joined = Call(f, "cat", {Value::List({list.begin(), list.size()}), Value::Int(f.context.syms.Int(dim))});
    return joined.ok() ? f.Text(joined->tensor->shape) : "error " + CheckIdOf(joined.status());
  };
  CHECK_EQ(cat({tensor({2, 3}), tensor({4, 3})}, 0), "6,3");
  CHECK_EQ(cat({tensor({0}), tensor({4, 3})}, -1), "4,3");
  CHECK_EQ(cat({tensor({2, 3}), tensor({4, 3})}, 1), "error cat_c3");
  CHECK_EQ(cat({tensor({2, 3}), tensor({2})}, 0), "error cat_c2");
  CHECK_EQ(cat({tensor({}), tensor({})}, 0), "error cat_c1");
  CHECK_EQ(cat({}, 0), "error cat_c4");
}

}  // namespace
}  // namespace tare
