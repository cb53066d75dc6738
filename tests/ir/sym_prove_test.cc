#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

#include "sym_test_scope.h"

namespace tare {
namespace {

struct World {
  SymStore store;
  TestScope scope{store};
  ExprId Parse(std::string_view text) {
    const absl::StatusOr<ExprId> e = ParseExpr(text, store, scope);
    REQUIRE_MESSAGE(e.ok(), e.status().message());
    return *e;
  }
  std::shared_ptr<const Facts> FactsOf(std::string_view text) {
    if (text.empty()) return nullptr;
    const ExprId e = Parse(text);
    return store.MakeFacts({&e, 1});
  }
};

TEST_CASE("conditions are proved, refuted or left open") {
  struct Case {
    std::string_view facts, condition, want;
  };
  World world;
  for (const auto& [facts, condition, want] : std::initializer_list<Case>{
           // ranges
           {"", "s0 >= 2", "yes"},
           {"", "s0 == 1", "no"},
           {"", "s0 == s1", "unknown"},
           {"", "s0 > 2", "unknown"},
           {"", "b0 < 17", "yes"},
           {"", "s0 <= s0*s1", "yes"},
           {"", "(s0-1)*(s1-1) >= 1", "yes"},
           {"", "s0*s1-s0-s1 >= 0", "yes"},
           // atoms that hang together
           {"", "s0-s0//2 >= 1", "yes"},
           {"", "2*(s0//2) <= s0", "yes"},
           {"", "2*(s0//2)-2 < s0", "yes"},
           {"", "2*(s0//2) == s0", "unknown"},
           {"", "s0//2 == s0-(s0+1)//2", "yes"},
           {"", "4*(s0//4) == s0-s0%4", "yes"},
           {"", "3*s0//4 == s0-(s0+3)//4", "yes"},
           {"", "s0//2 != s0", "yes"},
           {"", "max(s0,s1)-s0 >= 0", "yes"},
           {"", "max(s0,s1)-min(s0,s1) >= 0", "yes"},
           {"", "max(s0,s1) == s0+s1-min(s0,s1)", "yes"},
           {"", "s0*(t0//s0) <= t0", "yes"},
           {"", "t0%s0 < s0", "yes"},
           {"", "s0%4 < 4", "yes"},
           {"", "(2*s0+1)%2 == 0", "no"},
           {"", "4*s0+1 == 2*s1", "no"},
           {"", "d0 == 6", "no"},
           // facts
           {"s0 == s1", "s0*3 == s1*3", "yes"},
           {"s0 == s1 and s1 == s2", "s0+s2 == 2*s1", "yes"},
           {"s0 == 2*s1", "s0%2 == 0", "yes"},
           {"s0%2 == 0", "2*(s0//2) == s0", "yes"},
           {"s0%2 == 0", "s0 >= 3", "unknown"},
           {"s0%4 == 0", "s0 >= 3", "yes"},
           {"(s0+1)%2 == 0", "s0%2 == 1", "yes"},
           {"s0%3 == 0 and s0%2 == 0", "s0%6 == 0", "yes"},
           {"s0 >= 5", "s0-3 >= 1", "yes"},
           {"s1 <= s0", "s0-s1+1 >= 1", "yes"},
           {"s1 <= s0 and s2 <= s1", "s2 <= s0", "yes"},
           {"s0 < s1", "s0 == s1", "no"},
           {"s0 < s1", "s1 <= s0", "no"},
           {"s0+s1 <= 10", "s0 <= 8", "yes"},
           {"s0+s1 <= 10", "s0 <= 7", "unknown"},
           {"s0//2 == 3", "s0 >= 6 and s0 <= 7", "yes"},
           {"(s0+2)//3 == 2", "s0 >= 4 and s0 <= 6", "yes"},
           {"(s1-3)//2+1 >= 1", "s1 >= 3", "yes"},
           {"s0 != 2", "s0 >= 3", "yes"},
           {"s0 != 3", "s0 == 3", "no"},
           {"s0*s1 == s1*s1*s1", "s0 == s1*s1", "yes"},
           {"12%u0 == 0", "12%u0 == 0", "yes"},
           {"12%u0 == 0", "u0*(12//u0) == 12", "yes"},
           {"s0 == 2 or s0%2 == 0", "s0 == 2 or s0%2 == 0", "yes"},
           {"64*s0 <= 20480", "s0 <= 320", "yes"},
           {"s0*s1 <= 20480", "s0 <= 10240", "unknown"},
           {"s0*s1 <= 20480", "2*s0*s1 <= 40961", "yes"},
           {"2*s0 == 3*s1", "s1%2 == 0", "yes"},
           {"u0 <= s0", "min(u0,s0) == u0", "yes"},
           {"s0 == 2*((s0+1)//2)", "s0%2 == 0", "yes"},
           {"s0 == 2*((s0+1)//2)", "s0*s1 == 2*s1*((s0+1)//2)", "yes"},
           {"s0%2 == 0", "15*s0//(5*s0//2) == 6", "yes"},
           {"s0%4 == 0", "s0//(2*(s0//4)) == 2", "yes"},
           {"s0%2 == 0", "s1//(s0//2) == 2*s1//s0", "yes"},
           {"s0 > 4", "not s0 > 4", "no"},
           {"s0 > 4 or s1 > 4", "s0 <= 4 and s1 <= 4", "no"},
       }) {
    CAPTURE(std::string(facts));
    CAPTURE(std::string(condition));
    const ExprId e = world.Parse(condition);
    const Tri t = world.store.Prove(e, world.FactsOf(facts).get());
    CHECK_EQ(std::string(t == Tri::kYes ? "yes" : t == Tri::kNo ? "no" : "unknown"), std::string(want));
  }
}

TEST_CASE("facts simplify") {
  struct Case {
    std::string_view facts, text, want;
  };
  World world;
  for (const auto& [facts, text, want] : std::initializer_list<Case>{
           {"s0 == s1", "s0+s1", "2*s0"},
           {"s0 == s1", "s1", "s0"},
           {"u0 == s0", "u0*3", "3*s0"},
           {"s0 == 4", "s0*s1", "4*s1"},
           {"s0%2 == 0", "s0//2*2", "s0"},
           {"s0%4 == 0", "s0//4*2", "s0//2"},
           {"s0%2 == 0 and s0//2 == 1", "s0", "2"},
           {"s0 >= 5", "max(1,s0-3)", "s0-3"},
           {"s1 <= s0", "max(s0,s1)", "s0"},
           {"s1 <= s0", "min(s0,s1)*max(s0,s1)", "s0*s1"},
           {"s0 == s1//2", "s0+1", "s1//2+1"},
           {"s0 <= 10", "s0//11", "0"},
           {"s0 >= 3", "where(s0 > 2, s1, 1)", "s1"},
           {"s0 > 4 and s0 < 4", "s0+0", "s0"},
       }) {
    CAPTURE(std::string(facts));
    CAPTURE(std::string(text));
    const std::shared_ptr<const Facts> known = world.FactsOf(facts);
    const ExprId e = world.store.SimplifyExpr(world.Parse(text), known.get());
    CHECK_EQ(world.store.Print(e), std::string(want));
    CHECK(world.store.SimplifyExpr(e, known.get()) == e);
  }
}

TEST_CASE("ranges follow from facts") {
  struct Case {
    std::string_view facts, text;
    Range want;
  };
  World world;
  for (const auto& [facts, text, want] : std::initializer_list<Case>{
           {"", "b0+1", {3, 17}},
           {"", "b0*b1", {4, 256}},
           {"", "s0-s0//2", {1, INT64_MAX}},
           {"", "(b0-1)*(b1-1)", {1, 225}},
           {"", "-b0", {-16, -2}},
           {"", "b0%5", {0, 4}},
           {"", "n0*n0", {0, INT64_MAX}},
           {"s0 <= 7", "2*s0", {4, 14}},
           {"s0+s1 <= 10", "s0", {2, 8}},
           {"s0%4 == 0 and s0 <= 15", "s0", {4, 12}},
       }) {
    CAPTURE(std::string(facts));
    CAPTURE(std::string(text));
    const Range got = world.store.RangeOf(world.store.ToDim(world.Parse(text)), world.FactsOf(facts).get());
    CHECK_EQ(got.min, want.min);
    CHECK_EQ(got.max, want.max);
  }
}

TEST_CASE("equal lists of facts have one id, other lists another") {
  World world;
  const ExprId a = world.Parse("s0 == s1"), b = world.Parse("s0 >= 7");
  const ExprId both[] = {a, b}, swapped[] = {b, a}, nothing[] = {world.store.Bool(true), ExprId{}};
  const auto id = [&](std::span<const ExprId> axioms) { return IdOf(world.store.MakeFacts(axioms).get()); };
  CHECK_EQ(id(both), id(both));
  CHECK_NE(id(both), id(swapped));
  CHECK_NE(id({&a, 1}), 0);
  CHECK_EQ(id(nothing), 0);
  CHECK_EQ(IdOf(nullptr), 0);
}

TEST_CASE("hints, values, substitution") {
  World world;
  SymStore& store = world.store;
  SymbolRow row{.name = "s7", .min = 2};
  row.hint = 5;
  const Dim s = store.Symbol(row);
  const ExprId e = store.OfDim(store.Add(store.Mul(s, Dim::Static(3)), Dim::Static(1)));
  CHECK_EQ(store.Hint(e), 16);
  CHECK_FALSE(store.Hint(world.Parse("s0")).has_value());
  CHECK_EQ(store.Evaluate(e, {{s.expr(), 2}}), 7);
  CHECK_FALSE(store.Evaluate(e, {}).has_value());
  CHECK_FALSE(store.Evaluate(e, {{s.expr(), INT64_MAX}}).has_value());
  CHECK_EQ(store.Print(store.Substitute(e, {{s.expr(), world.Parse("s0+1")}})), "3*s0+4");
  CHECK_EQ(store.Evaluate(world.Parse("trunc(0.5*s0)+round(2.5)"), {{world.Parse("s0"), 5}}), 4);
  CHECK_EQ(store.Evaluate(world.Parse("IsNonOverlappingAndDenseIndicator(s0,3,3,1)"), {{world.Parse("s0"), 5}}), 1);
  CHECK_EQ(store.Evaluate(world.Parse("IsNonOverlappingAndDenseIndicator(s0,3,4,1)"), {{world.Parse("s0"), 5}}), 0);
  CHECK_EQ(store.Symbols(world.Parse("s1*s0+max(u0,s1)")).size(), 3);
}

}  // namespace
}  // namespace tare
