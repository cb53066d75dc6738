#include "ir/op_table.h"

#include <doctest/doctest.h>

#include <thread>

#include "ir/status.h"
#include "tests/ir/test_ops.h"

namespace tare {
namespace {

TEST_CASE("ops are found, added and declared") {
  StringPool pool;
  OpTable table(TestOps(), pool);
  CHECK(table.Find("getitem") == op::getitem);
  const Op relu = table.Find("aten.relu.default");
  REQUIRE(relu.has_value());
  CHECK(table.Has(relu, kPure));
  CHECK(table.schema(relu)->args.size() == 1);
  CHECK(table.schema(relu) == table.schema(relu));
  CHECK(!table.Find("my.op.default").has_value());
  std::string name = "my.op.default";
  const Op declared = table.FindOrDeclare(name);
  name = "changed";
  CHECK(table.Name(declared) == "my.op.default");
  CHECK(table.Has(declared, kDeclared));
  CHECK(table.schema(declared) == nullptr);
  CHECK(table.FindOrDeclare("my.op.default") == declared);
  const Op custom = *table.Add({.name = "my.other.default", .schema_text = "(Tensor x) -> Tensor"});
  CHECK(*table.Add({.name = "my.other.default", .schema_text = "(Tensor x) -> Tensor"}) == custom);
  CHECK(CheckIdOf(table.Add({.name = "my.other.default", .schema_text = "(Tensor y) -> Tensor"}).status()) == "op_c1");
  CHECK(table.size() == table.builtin_count() + 2);
}

TEST_CASE("threads parse a schema once and declare an op once") {
  StringPool pool;
  OpTable table(TestOps(), pool);
  const Schema* schemas[2];
  Op ops[2];
  const auto work = [&](int i) {
    for (int k = 0; k < 500; ++k) ops[i] = table.FindOrDeclare(Cat("op", k));
    for (int k = 0; k < table.builtin_count(); ++k) schemas[i] = table.schema(Op{static_cast<uint16_t>(k)});
    schemas[i] = table.schema(table.Find("aten.topk.default"));
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  CHECK(schemas[0] == schemas[1]);
  CHECK(ops[0] == ops[1]);
  CHECK(table.size() == table.builtin_count() + 500);
}

TEST_CASE("a full table declares nothing more") {
  StringPool pool;
  OpTable table(TestOps(), pool);
  for (size_t k = 0; k < kMaxOps + 10; ++k) table.FindOrDeclare(Cat("op", k));
  CHECK(table.size() == static_cast<int>(kMaxOps));
  CHECK(!table.FindOrDeclare("one.more").has_value());
  CHECK(table.FindOrDeclare("op0").has_value());
}

}  // namespace
}  // namespace tare
