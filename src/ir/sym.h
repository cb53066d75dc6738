// Symbolic expressions: canonical while constructed, then interned, so equality is identity.
//
// Integer expressions are sums of terms (constant last), products are folded, floordiv and mod are
// reduced by known divisors. A symbol carries its range, divisor and hint in its identity: two
// programs may both say `s0` and mean different symbols, and a memo keyed by metadata stays sound.
// Every expression has a size bound (kMaxExprNodes); beyond it, and on 64-bit overflow, the result
// is Dim::Invalid(). Thread-safe. No order depends on ids: sums and arguments are ordered by
// structure and name, so printing is the same in every run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ir/dim.h"
#include "ir/ids.h"

namespace tare {

inline constexpr int kMaxExprNodes = 512;   // nodes of one expression, as a tree
inline constexpr int kMaxExprText = 65536;  // bytes of one expression's text
inline constexpr int kMaxExprDepth = 128;   // nesting of one expression's text

enum class ExprType : uint8_t { kInt, kFloat, kBool };
enum class ExprKind : uint8_t {
  kIntConst,
  kFloatConst,
  kBoolConst,
  kSymbol,
  kAdd,
  kMul,
  kPow,
  kFloorDiv,
  kMod,
  kMax,
  kMin,  // integers; kAdd … kPow, kMax, kMin also of floats
  kTrueDiv,
  kToFloat,
  kTrunc,
  kFloor,
  kCeil,
  kRound,
  kSqrt,       // floats; kTrunc … kRound give integers
  kFloatCall,  // other float function, by name (math.*)
  kEq,
  kNe,
  kLt,
  kLe,  // Gt and Ge are turned around
  kAnd,
  kOr,
  kNot,
  kWhere,
};

enum class SymbolKind : uint8_t { kBacked, kUnbacked, kFloat, kUnbackedFloat };

// What is known of a symbol for ever. Unbounded ends are INT64_MIN / INT64_MAX.
struct SymbolRow {
  std::string_view name;
  SymbolKind kind = SymbolKind::kBacked;
  int64_t min = 0;
  int64_t max = INT64_MAX;
  int64_t divisor = 1;          // the value is a multiple of it
  std::optional<int64_t> hint;  // value seen at export; backed symbols only
};

struct Range {
  int64_t min = INT64_MIN, max = INT64_MAX;
};  // saturated

enum class Tri : uint8_t { kNo, kYes, kUnknown };

// Facts that hold in one program beyond what symbols carry: axioms (guards of the exporter,
// asserts) such as `s0 == s1`, `s0 % 4 == 0`, `s1 // 2 >= 3`. Immutable; `id` is equal for equal
// lists of facts of one SymStore, 0 for none: it goes into memo keys.
struct Facts;

class SymStore {
 public:
  SymStore();
  ~SymStore();

  // --- integers
  Dim Int(int64_t value);
  Dim Symbol(const SymbolRow& row);
  Dim Add(Dim a, Dim b) {
    int64_t r;
    return a.is_static() && b.is_static() && !__builtin_add_overflow(a.value(), b.value(), &r) ? Dim::Static(r)
                                                                                               : AddSlow(a, b);
  }
  Dim Mul(Dim a, Dim b) {
    int64_t r;
    return a.is_static() && b.is_static() && !__builtin_mul_overflow(a.value(), b.value(), &r) ? Dim::Static(r)
                                                                                               : MulSlow(a, b);
  }
  Dim Sub(Dim a, Dim b) {
    return a.is_static() && b.is_static() && a.value() >= b.value() ? Dim::Static(a.value() - b.value())
                                                                    : SubSlow(a, b);
  }
  Dim Neg(Dim a);
  Dim FloorDiv(Dim a, Dim b);  // rounds towards minus infinity; by 0: invalid
  Dim Mod(Dim a, Dim b);       // sign of b, as in Python; by 0: invalid
  Dim CeilDiv(Dim a, Dim b);   // -((-a) // b)
  Dim Pow(Dim a, Dim b);
  Dim Max(Dim a, Dim b);
  Dim Min(Dim a, Dim b);
  // The constant, when `a` is one (negative ones are interned).
  std::optional<int64_t> Constant(Dim a) const;

  // --- floats and booleans
  ExprId Float(double value);
  ExprId Bool(bool value);
  ExprId OfDim(Dim a);              // any integer as an expression id
  Dim ToDim(ExprId integer) const;  // back; constants >= 0 become static
  ExprId FloatSymbol(const SymbolRow& row);
  ExprId Make(ExprKind kind, std::span<const ExprId> args, std::string_view name = {});  // canonicalises
  ExprId Eq(Dim a, Dim b);
  ExprId Ne(Dim a, Dim b);
  ExprId Lt(Dim a, Dim b);
  ExprId Le(Dim a, Dim b);
  ExprId Not(ExprId a);

  // --- looking
  ExprKind kind(ExprId id) const;
  ExprType type(ExprId id) const;
  std::span<const ExprId> args(ExprId id) const;
  const SymbolRow& symbol(ExprId id) const;      // kSymbol only
  std::string_view name(ExprId id) const;        // of a symbol or a kFloatCall, else ""
  int64_t int_value(ExprId id) const;            // kIntConst
  double float_value(ExprId id) const;           // kFloatConst
  bool bool_value(ExprId id) const;              // kBoolConst
  std::vector<ExprId> Symbols(ExprId id) const;  // distinct, in order of first appearance

  // --- asking: three-valued, from ranges, divisors and `facts` (may be null); never from hints
  Range RangeOf(Dim a, const Facts* facts) const;
  Tri Prove(ExprId boolean, const Facts* facts);
  Tri Equal(Dim a, Dim b, const Facts* facts) {
    return a == b ? Tri::kYes : a.is_static() && b.is_static() ? Tri::kNo : EqualSlow(a, b, facts);
  }
  Tri Less(Dim a, Dim b, const Facts* facts);       // a < b
  Tri LessEqual(Dim a, Dim b, const Facts* facts);  // a <= b
  // Simplifies under the facts (substitutes equalities, reduces divisions). Idempotent.
  Dim Simplify(Dim a, const Facts* facts);
  ExprId SimplifyExpr(ExprId a, const Facts* facts);

  // --- values: instantiates symbols; nullopt when one is missing, on overflow or division by 0
  using Values = absl::flat_hash_map<ExprId, int64_t>;
  std::optional<int64_t> Evaluate(ExprId integer_or_bool, const Values& values) const;
  // Value under the hints of all backed symbols.
  std::optional<int64_t> Hint(ExprId integer_or_bool) const;
  ExprId Substitute(ExprId id, const absl::flat_hash_map<ExprId, ExprId>& replacements);

  // --- text
  std::string Print(Dim a) const;  // infix, notation of goldens/README: s0*s1, 2*(s0//2)+1
  std::string Print(ExprId a) const;
  std::string PrintSrepr(ExprId a) const;  // SymPy's srepr, as torch writes it

  // Facts: axioms are conjunctions of boolean expressions.
  std::shared_ptr<const Facts> MakeFacts(std::span<const ExprId> axioms);

 private:
  Dim AddSlow(Dim a, Dim b);
  Dim SubSlow(Dim a, Dim b);
  Dim MulSlow(Dim a, Dim b);
  Tri EqualSlow(Dim a, Dim b, const Facts* facts);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

uint64_t IdOf(const Facts* facts);                        // 0 for null or empty
std::span<const ExprId> GivenAxioms(const Facts* facts);  // as given to MakeFacts

// Resolves a symbol's name while parsing text. Errors: InvalidArgument for an unknown one.
class SymbolScope {
 public:
  virtual ~SymbolScope() = default;
  virtual absl::StatusOr<ExprId> Resolve(std::string_view name) = 0;
};

// Parses infix (`s0*2 + 1`, `s0%2 == 0 and s1 <= 4`, `max(1, u0)`) or SymPy srepr
// (`Add(Symbol('s0', positive=True, integer=True), Integer(1))`): a closed grammar, nothing is
// evaluated. Errors: InvalidArgument [expr_c1] syntax, [expr_c2] unknown function, [expr_c3] too
// long or deep, [expr_c4] overflow or division by zero, [expr_c5] unknown symbol.
absl::StatusOr<ExprId> ParseExpr(std::string_view text, SymStore& store, SymbolScope& scope);

}  // namespace tare
