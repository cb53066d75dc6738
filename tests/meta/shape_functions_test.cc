#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "meta/functions.h"
#include "rule_fixture.h"

namespace tare {
namespace {

using Ints = std::initializer_list<int64_t>;

TEST_CASE("shapes broadcast from the right, 1 stretches") {
  RuleFixture f;
  struct Case {
    Ints a, b;
    std::string_view want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{}, {}, ""},
           {{2, 3}, {}, "2,3"},
           {{2, 3}, {3}, "2,3"},
           {{3, 1}, {1, 4}, "3,4"},
           {{4, 1, 3}, {2, 1}, "4,2,3"},
           {{1}, {0}, "0"},
           {{2, 0}, {1, 1}, "2,0"},
           {{2, 3}, {2}, "error broadcast_c1"},
           {{0}, {2}, "error broadcast_c1"},
       }) {
    CHECK_EQ(f.Text(Broadcast(f.rc, f.Dims(c.a), f.Dims(c.b))), std::string(c.want));
    CHECK_EQ(f.Text(Broadcast(f.rc, f.Dims(c.b), f.Dims(c.a))), std::string(c.want));
  }
}

TEST_CASE("a message names both shapes") {
  RuleFixture f;
  const auto shape = Broadcast(f.rc, f.Dims({2, 3}), f.Dims({4}));
  CHECK_NE(shape.status().message().find("[2, 3] and [4]"), std::string::npos);
}

TEST_CASE("symbolic extents differ from 1 and must be equal") {
  RuleFixture f;
  const Dim s0 = f.Symbol("s0"), u0 = f.Unbacked("u0"), one = Dim::Static(1), eight = Dim::Static(8);
  CHECK_EQ(f.Text(Broadcast(f.rc, f.DimsOf({s0}), f.DimsOf({one}))), "s0");
  CHECK_EQ(f.Text(Broadcast(f.rc, f.DimsOf({s0}), f.DimsOf({s0}))), "s0");
  CHECK(f.state.guards.empty());
  CHECK_EQ(f.Text(Broadcast(f.rc, f.DimsOf({u0}), f.DimsOf({eight}))), "8");
  REQUIRE_EQ(f.state.guards.size(), 1);
  CHECK_EQ(f.context.syms.Print(f.state.guards[0].condition), "u0 == 8");
  CHECK_EQ(f.state.guards[0].kind, Guard::kRuntimeAssert);
}

TEST_CASE("what expands to what") {
  RuleFixture f;
  CHECK(RequireExpandable(f.rc, f.Dims({3}), f.Dims({2, 3})).ok());
  CHECK(RequireExpandable(f.rc, f.Dims({1, 3}), f.Dims({2, 3})).ok());
  CHECK(RequireExpandable(f.rc, {}, f.Dims({2, 3})).ok());
  CHECK_EQ(CheckIdOf(RequireExpandable(f.rc, f.Dims({2, 3}), f.Dims({3}))), "broadcast_c2");
  CHECK_EQ(CheckIdOf(RequireExpandable(f.rc, f.Dims({2, 3}), f.Dims({1, 3}))), "broadcast_c2");
}

TEST_CASE("axes count from both ends") {
  RuleFixture f;
  const auto wrap = [&](int64_t axis, int rank) { return WrapAxis(f.rc, f.context.syms.Int(axis), rank); };
  CHECK_EQ(wrap(-1, 3).value(), 2);
  CHECK_EQ(wrap(0, 0).value(), 0);
  CHECK_EQ(wrap(-1, 0).value(), 0);
  CHECK_EQ(CheckIdOf(wrap(3, 3).status()), "axis_c1");
  CHECK_EQ(CheckIdOf(wrap(-4, 3).status()), "axis_c1");
  CHECK_EQ(CheckIdOf(wrap(1, 0).status()), "axis_c1");
  CHECK_EQ(WrapAxes(f.rc, f.Dims({0, -1}), 3).value(), 0b101);
  CHECK_EQ(CheckIdOf(WrapAxes(f.rc, f.Dims({0, -3}), 3).status()), "axis_c2");
}

TEST_CASE("reduced axes go away or become 1") {
  RuleFixture f;
  const std::span<const Dim> shape = f.Dims({2, 3, 4});
  CHECK_EQ(f.Text(ReduceShape(f.rc, shape, 0b101, KeepDims::kNo)), "3");
  CHECK_EQ(f.Text(ReduceShape(f.rc, shape, 0b101, KeepDims::kYes)), "1,3,1");
  CHECK_EQ(f.Text(ReduceShape(f.rc, shape, 0, KeepDims::kNo)), "2,3,4");
  CHECK_EQ(f.Text(ReduceShape(f.rc, shape, ~uint64_t{0}, KeepDims::kNo)), "");
}

}  // namespace
}  // namespace tare
