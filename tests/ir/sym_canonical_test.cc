#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <initializer_list>

#include "sym_test_scope.h"

namespace tare {
namespace {

struct Case {
  std::string_view text, want;
};

void Check(std::initializer_list<Case> cases) {
  SymStore store;
  TestScope scope(store);
  for (const auto& [text, want] : cases) {
    CAPTURE(std::string(text));
    CHECK_EQ(Canonical(store, text), want);
    // Both texts name one expression, and printing it names it again.
    const auto a = ParseExpr(text, store, scope), b = ParseExpr(want, store, scope);
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    CHECK(*a == *b);
    const auto c = ParseExpr(store.PrintSrepr(*a), store, scope);
    REQUIRE_MESSAGE(c.ok(), store.PrintSrepr(*a));
    CHECK_MESSAGE(*a == *c, store.PrintSrepr(*a));
  }
}

TEST_CASE("sums and products are collected, constant last") {
  Check({{"1+s0", "s0+1"},
         {"s1+s0", "s0+s1"},
         {"s10+s2", "s2+s10"},
         {"2*s0+s1*3-4+s0", "3*s0+3*s1-4"},
         {"s0-s0", "0"},
         {"s0-s1-s0", "-s1"},
         {"3-s0", "-s0+3"},
         {"s1-s0", "s1-s0"},
         {"4*(s0*s0)", "4*s0*s0"},
         {"s0**2", "s0*s0"},
         {"s0**7", "s0**7"},
         {"s0**7*s0", "s0**8"},
         {"s1*s0*2*s1", "2*s0*s1*s1"},
         {"(s0+1)*(s0-1)", "s0*s0-1"},
         {"2*(s0+1)", "2*s0+2"},
         {"(s0+1)**2", "2*s0+s0*s0+1"},
         {"2**s0", "2**s0"},
         {"2**10", "1024"},
         {"-(s0//2)+5", "-(s0//2)+5"}});
}

TEST_CASE("quotients give up what divides") {
  Check({{"(4*s0)//2", "2*s0"},
         {"(4*s0+2)//4", "s0"},
         {"(4*s0+6)//4", "s0+1"},
         {"(6*s0+3)//4", "s0+(s0+1)//2"},
         {"(2*s0+1)//4", "s0//2"},
         {"(s1-3)//2+1", "(s1+1)//2-1"},
         {"(s1-1)//2", "(s1+1)//2-1"},
         {"-((-s0)//4)", "(s0+3)//4"},
         {"s0//2//3", "s0//6"},
         {"((s0-1)//4-1)//2+1", "(s0+3)//8"},
         {"(s0//2*2+s1*2)//2", "s1+s0//2"},
         {"s0//2*(s1*s1)", "s1*s1*(s0//2)"},
         {"(2*s0-1)//s0", "1"},
         {"s0*s1//s0", "s1"},
         {"25*s0//(s0*s0)", "25//s0"},
         {"6*s0//(4*s1)", "3*s0//(2*s1)"},
         {"((s0+1)//2+s0-1)//((s0+1)//2)", "(s0-1)//((s0+1)//2)+1"},
         {"(s0+s1+5)//(s0+s1)", "5//(s0+s1)+1"},
         {"s0//2%s0", "s0//2"},
         {"b0//32", "0"},
         {"(b0-20)//32", "-1"},
         {"s0//-2", "-((s0+1)//2)"},
         {"7//-2", "-4"},
         {"CeilDiv(s0,3)", "(s0+2)//3"}});
}

TEST_CASE("remainders drop multiples") {
  Check({{"(4*s0+6)%4", "2"},
         {"(s0+8)%4", "s0%4"},
         {"(5*s0)%4", "s0%4"},
         {"(2*s0+1)%4", "2*(s0%2)+1"},
         {"s0%8%4", "s0%4"},
         {"(s0%8+1)%4", "(s0+1)%4"},
         {"s0*s1%s0", "0"},
         {"(s0*s1+1)%s0", "1"},
         {"b0%32", "b0"},
         {"(b0+32)%32", "b0"},
         {"s0%-4", "-((-s0)%4)"},
         {"-7%4", "1"},
         {"7%-4", "-1"}});
}

TEST_CASE("known divisors make quotients exact") {
  Check({{"4*(d0//4)", "d0"},
         {"2*(d0//4)", "d0//2"},
         {"d0//4*4+d0//2", "3*(d0//2)"},
         {"d0%2", "0"},
         {"d0%8", "4*(d0//4%2)"},
         {"(d0+3)//4", "d0//4"},
         {"(d0+s0)//2", "d0//2+s0//2"},
         {"(d0//4)*(d0//4)*16", "d0*d0"},
         {"d0*d1//16", "(d0//4)*(d1//4)"},
         {"d0*d1//8", "(d0//4)*(d1//2)"}});
}

TEST_CASE("maximum and minimum keep what can win") {
  Check({{"max(s0,1)", "s0"},
         {"max(1,s0-1)", "s0-1"},
         {"max(1,s0-3)", "max(1,s0-3)"},
         {"max(s0,s0+1)", "s0+1"},
         {"min(s0,max(s1,s0))", "s0"},
         {"max(s0,max(s1,3))", "max(3,s0,s1)"},
         {"min(4,4*s0,8*s0)", "4"},
         {"min(4,4*u0)", "4*min(1,u0)"},
         {"max(s0//2,s0)", "s0"},
         {"max(b0,16)", "16"}});
}

TEST_CASE("equal conditions meet") {
  Check({{"s0 > 2", "s0 >= 3"},
         {"2 < s0", "s0 >= 3"},
         {"not s0 <= 2", "s0 >= 3"},
         {"2*s0 < 9", "s0 <= 4"},
         {"s0-s1 >= 0", "s1 <= s0"},
         {"2*s0 == 2*s1", "s0 == s1"},
         {"2*s0 == 5", "false"},
         {"s0 >= 2", "true"},
         {"s0 == 1", "false"},
         {"s1 == s0", "s0 == s1"},
         {"not (s0 == s1 or s0 > 4)", "s0 != s1 and s0 <= 4"},
         {"s0 > 4 and s0 <= 4", "false"},
         {"s0 > 4 or true", "true"},
         {"4 < s0 < s1", "s0 >= 5 and s0+1 <= s1"},
         {"where(s0 > 4, s0, s0)", "s0"}});
}

TEST_CASE("what overflows or divides by zero is invalid and absorbs") {
  SymStore store;
  const Dim s = store.Symbol({.name = "s0", .min = 2});
  const Dim bad = store.Mul(Dim::Static(INT64_MAX), store.Mul(s, Dim::Static(2)));
  CHECK_FALSE(bad.is_valid());
  CHECK_FALSE(store.Add(Dim::Static(INT64_MAX), Dim::Static(1)).is_valid());
  CHECK_FALSE(store.Add(store.Add(s, Dim::Static(INT64_MAX)), Dim::Static(1)).is_valid());
  CHECK_FALSE(store.FloorDiv(s, Dim::Static(0)).is_valid());
  CHECK_FALSE(store.Mod(Dim::Static(3), Dim::Static(0)).is_valid());
  for (const Dim d : {store.Add(bad, s), store.Sub(s, bad), store.Mul(bad, Dim::Static(0)), store.Max(bad, s),
                      store.FloorDiv(bad, s), store.Pow(bad, s), store.Neg(bad)}) {
    CHECK_FALSE(d.is_valid());
  }
  CHECK_EQ(store.Prove(store.Eq(bad, s), nullptr), Tri::kUnknown);
  CHECK_EQ(store.Constant(store.Sub(Dim::Static(1), Dim::Static(3))), -2);
}

}  // namespace
}  // namespace tare
