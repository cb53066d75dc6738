#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "ir/sym_bits.h"
#include "sym_test_scope.h"

namespace tare {
namespace {

struct Case {
  std::string_view text, want;
};

TEST_CASE("srepr and Python forms mean the same as infix") {
  SymStore store;
  for (const auto& [text, want] : std::initializer_list<Case>{
           {"Symbol('s0', positive=True, integer=True)", "s0"},
           {"Symbol('s0')", "s0"},
           {"Symbol(\"s0\", integer=True)", "s0"},
           {"s0", "s0"},
           {"Add(Symbol('s0', positive=True, integer=True), Integer(-1))", "s0-1"},
           {"Mul(Integer(2), Symbol('s0'), Symbol('s1'))", "2*s0*s1"},
           {"Pow(Symbol('s0'), Integer(2))", "s0*s0"},
           {"PowByNatural(Symbol('s0'), Integer(2))", "s0*s0"},
           {"FloorDiv(Symbol('s0'), Integer(2))", "s0//2"},
           {"CleanDiv(Symbol('s0'), Integer(2))", "s0//2"},
           {"Mod(Symbol('s0'), Integer(4))", "s0%4"},
           {"PythonMod(Symbol('s0'), Integer(4))", "s0%4"},
           {"ModularIndexing(Symbol('s0'), Integer(2), Integer(3))", "s0//2%3"},
           {"CeilDiv(Symbol('s0'), Integer(4))", "(s0+3)//4"},
           {"LShift(Symbol('s0'), Integer(3))", "8*s0"},
           {"RShift(Symbol('s0'), Integer(3))", "s0//8"},
           {"BitwiseFn_bitwise_and(Symbol('s0'), Integer(3))", "s0%4"},
           {"BitwiseFn_bitwise_and(Integer(6), Symbol('s0'))", "2*(s0//2%4)"},
           {"BitwiseFn_bitwise_or(Symbol('s0'), Integer(1))", "s0-s0%2+1"},
           {"BitwiseFn_bitwise_xor(Symbol('s0'), Integer(1))", "s0-2*(s0%2)+1"},
           {"s0 << 3", "8*s0"},
           {"s0 >> u0", "s0//(2**u0)"},
           {"Max(Integer(1), Symbol('u0'), Symbol('u1'))", "max(1,u0,u1)"},
           {"Min(Integer(3), Symbol('u0'))", "min(3,u0)"},
           {"Identity(Symbol('s0'))", "s0"},
           {"Equality(Symbol('s0'), Integer(4))", "s0 == 4"},
           {"Unequality(Symbol('s0'), Integer(4))", "s0 != 4"},
           {"StrictLessThan(Symbol('s0'), Integer(4))", "s0 <= 3"},
           {"LessThan(Symbol('s0'), Integer(4))", "s0 <= 4"},
           {"StrictGreaterThan(Symbol('s0'), Integer(4))", "s0 >= 5"},
           {"GreaterThan(Symbol('s0'), Integer(4))", "s0 >= 4"},
           {"And(LessThan(Symbol('s0'), Integer(4)), true)", "s0 <= 4"},
           {"Or(Equality(Symbol('s0'), Integer(4)), false)", "s0 == 4"},
           {"Not(Equality(Symbol('s0'), Integer(4)))", "s0 != 4"},
           {"And()", "true"},
           {"(s0 > 4) & (s1 > 4)", "s0 >= 5 and s1 >= 5"},
           {"(s0 > 4) | ~(s1 > 4)", "s0 >= 5 or s1 <= 4"},
           {"Eq(s0, 4)", "s0 == 4"},
           {"ToFloat(Symbol('s0'))", "float(s0)"},
           {"Float('0.5', precision=53)", "0.5"},
           {"Float(1.5)", "1.5"},
           {"Rational(1, 2)", "0.5"},
           {"Mul(Float('2.0', precision=53), Symbol('z0'))", "2.0*z0"},
           {"FloatTrueDiv(Symbol('z0'), Float('2.0', precision=53))", "z0/2.0"},
           {"IntTrueDiv(Symbol('s0'), Integer(4))", "float(s0)/4.0"},
           {"TruncToInt(Symbol('z0'))", "trunc(z0)"},
           {"math.trunc(0.5*torch.sym_float(s0))", "trunc(0.5*float(s0))"},
           {"FloorToInt(Symbol('z0'))", "floor(z0)"},
           {"CeilToInt(Symbol('z0'))", "ceil(z0)"},
           {"RoundToInt(Symbol('z0'))", "round(z0)"},
           {"floor(s0)", "s0"},
           {"OpaqueUnaryFn_sqrt(ToFloat(Symbol('s0')))", "sqrt(float(s0))"},
           {"OpaqueUnaryFn_cos(Symbol('z0'))", "cos(z0)"},
           {"TruncToFloat(Symbol('z0'))", "trunc(z0)"},
           {"FloatPow(Symbol('z0'), Float('2.0', precision=53))", "z0**2.0"},
           {"Where(s0 > 4, 1, 2)", "where(s0 >= 5,1,2)"},
           {"Piecewise(ExprCondPair(Integer(1), StrictGreaterThan(Symbol('s0'), Integer(4))), "
            "ExprCondPair(Integer(2), true))",
            "where(s0 >= 5,1,2)"},
           {"-2**2", "-4"},
           {"2**3**2", "512"},
           {"-s0//2", "-((s0+1)//2)"},
           {"2*s0%3", "(-s0)%3"},
           {"1e3", "1000.0"},
           {"2 - 3 - 4", "-5"},
           {"not s0 == 4 and s1 == 4", "s1 == 4 and s0 != 4"},
       }) {
    CAPTURE(std::string(text));
    CHECK_EQ(Canonical(store, text), std::string(want));
  }
}

TEST_CASE("bits of symbols are those of the numbers they stand for") {
  SymStore store;
  TestScope scope(store);
  const ExprId symbol = *ParseExpr("n0", store, scope);
  constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
  for (const int64_t mask : {int64_t{0}, int64_t{1}, int64_t{6}, int64_t{10}, int64_t{-1}, int64_t{-4}, int64_t{0x55aa},
                             kMost - 1, kLeast + 1}) {
    const ExprId number = store.OfDim(store.Int(mask));
    for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{-1}, int64_t{-6}, int64_t{1} << 40}) {
      CAPTURE(mask);
      CAPTURE(value);
      const auto at = [&](BitOperation operation) {
        return store.Evaluate(MakeBits(store, operation, symbol, number), {{symbol, value}});
      };
      const auto holds = [](std::optional<int64_t> got, int64_t want) { return !got.has_value() || *got == want; };
      CHECK(holds(at(BitOperation::kAnd), value & mask));
      CHECK(holds(at(BitOperation::kOr), value | mask));
      CHECK(holds(at(BitOperation::kXor), value ^ mask));
      if (mask > -8 && mask < 0x10000) CHECK(at(BitOperation::kXor).has_value());
    }
  }
  CHECK(!MakeBits(store, BitOperation::kAnd, symbol, *ParseExpr("s0", store, scope)).has_value());
  CHECK(!MakeBits(store, BitOperation::kAnd, symbol, store.OfDim(store.Int(kMost))).has_value());
}

TEST_CASE("what is no expression is refused with its check") {
  SymStore store;
  TestScope scope(store);
  for (const auto& [text, check] : std::initializer_list<Case>{
           {"", "expr_c1"},
           {" ", "expr_c1"},
           {"(s0", "expr_c1"},
           {"s0)", "expr_c1"},
           {"s0 s1", "expr_c1"},
           {"s0 +", "expr_c1"},
           {"s0.x", "expr_c1"},
           {"lambda: 0", "expr_c5"},
           {"__import__('os').system('true')", "expr_c1"},
           {"open('x')", "expr_c1"},
           {"Wonder(s0)", "expr_c2"},
           {"FloorDiv()", "expr_c1"},
           {"FloorDiv(s0)", "expr_c1"},
           {"Not(s0, s1)", "expr_c1"},
           {"Not(s0)", "expr_c1"},
           {"And(s0, s1)", "expr_c1"},
           {"(s0 == s1) + 1", "expr_c1"},
           {"FloorDiv(s0, Integer(0))", "expr_c4"},
           {"s0 // 0", "expr_c4"},
           {"Mod(s0, Integer(0))", "expr_c4"},
           {"Integer(1234567890123456789012345678901234567890)", "expr_c4"},
           {"1234567890123456789012345678901234567890", "expr_c4"},
           {"Integer()", "expr_c1"},
           {"Integer(x)", "expr_c1"},
           {"Pow(Integer(2), Integer(100000000))", "expr_c4"},
           {"9**9**9**9**9", "expr_c4"},
           {"s0**(-1)", "expr_c4"},
           {"Symbol('s0\\'')", "expr_c1"},
           {"Symbol('s 0')", "expr_c1"},
           {"Symbol()", "expr_c1"},
           {"Symbol('')", "expr_c1"},
           {"Symbol('s0', positive)", "expr_c1"},
           {"Symbol('s0'", "expr_c1"},
           {"x0", "expr_c5"},
           {"Null", "expr_c5"},
           {"Float('zz')", "expr_c1"},
           {"Piecewise(ExprCondPair(s0, s0 > 4))", "expr_c1"},
           {"L['x'", "expr_c1"},
           {"s0 = 3", "expr_c1"},
           {"'s0'", "expr_c1"},
           {"[s0]", "expr_c1"},
           {"s0 if s1 else s2", "expr_c1"},
           {"1.2.3", "expr_c1"},
           {"12ab", "expr_c1"},
       }) {
    CAPTURE(std::string(text));
    const absl::StatusOr<ExprId> e = ParseExpr(text, store, scope);
    REQUIRE_FALSE(e.ok());
    CAPTURE(std::string(e.status().message()));
    CHECK_EQ(CheckIdOf(e.status()), std::string(check));
  }
}

std::string Repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_CASE("hostile sizes are refused quickly and without deep recursion") {
  SymStore store;
  TestScope scope(store);
  std::string many_sums = "1", tower = "2", terms = "s0", powers = "(s0+s1+s2+s3+s4+s5)**60";
  for (int i = 0; i < 40; ++i) many_sums += "*(s" + std::to_string(2 * i) + "+s" + std::to_string(2 * i + 1) + ")";
  for (int i = 0; i < 100; ++i) tower += "**2";
  for (int i = 1; i < 6000; ++i) terms += "+s" + std::to_string(i);
  const std::string cases[] = {
      Repeat("Add(Integer(1), ", 20000) + "s0" + Repeat(")", 20000),
      Repeat("(", 100000),
      Repeat("(", 60000),
      Repeat("s0+", 400000) + "s0",
      Repeat("-", 60000) + "s0",
      Repeat("not ", 10000) + "s0 == 4",
      Repeat("~", 10000) + "(s0 == 4)",
      Repeat("2**", 10000) + "2",
      Repeat("max(s0,min(s1,", 1000) + "1" + Repeat("))", 1000),
      many_sums,
      tower,
      terms,
      powers,
      Repeat("(s0+s1+s2+s3+s4+s5+s6)*", 2000) + "1",
      Repeat("(s0//3+s1//5)*", 2000) + "1",
      "x" + Repeat("y", 5000),
  };
  for (const std::string& text : cases) {
    CAPTURE(text.substr(0, 40));
    const absl::StatusOr<ExprId> e = ParseExpr(text, store, scope);
    CHECK_FALSE(e.ok());
    CHECK_NE(CheckIdOf(e.status()), "");
  }
}

TEST_CASE("long texts of small values are read quickly") {
  SymStore store;
  for (const auto& [text, want] :
       {std::pair(Repeat("s0<", 5000) + "s1", "false"), std::pair(Repeat("s0-s0+", 5000) + "s1", "s1"),
        std::pair(Repeat("max(", 100) + "s0" + Repeat(",1)", 100), "s0")}) {
    CHECK_EQ(Canonical(store, text), want);
  }
}

// Resolves sources of values, as guards name them.
class SourceScope final : public SymbolScope {
 public:
  explicit SourceScope(SymStore& store) : store_(store) {}
  absl::StatusOr<ExprId> Resolve(std::string_view name) override {
    SymbolRow row;
    row.min = 2;
    if (name == "L['x'].size()[0]") {
      row.name = "s0";
    } else if (name == "L['d']['a'].size()[1]") {
      row.name = "s1";
    } else {
      return InvalidError("expr_c5", "unknown source `", name, "`");
    }
    return store_.OfDim(store_.Symbol(row));
  }

 private:
  SymStore& store_;
};

TEST_CASE("a source of a value is one name") {
  SymStore store;
  SourceScope scope(store);
  for (const auto& [text, want] : std::initializer_list<Case>{
           {"(L['x'].size()[0] % 2) == 0", "s0%2 == 0"},
           {"L['x'].size()[0] == 2*L['d']['a'].size()[1]", "s0 == 2*s1"},
           {"L['x'].size()[0] == 2 or (L['x'].size()[0] % 2) == 0", "s0 == 2 or s0%2 == 0"},
       }) {
    const auto e = ParseExpr(text, store, scope);
    REQUIRE_MESSAGE(e.ok(), e.status().message());
    CHECK_EQ(store.Print(*e), std::string(want));
  }
  CHECK_EQ(CheckIdOf(ParseExpr("L['y'].size()[0] > 2", store, scope).status()), "expr_c5");
}

}  // namespace
}  // namespace tare
