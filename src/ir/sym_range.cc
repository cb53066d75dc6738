// Intervals and known divisors of nodes, from those of their arguments.
#include <algorithm>

#include "ir/sym_impl.h"

namespace tare {
namespace {

constexpr int64_t kLow = INT64_MIN, kHigh = INT64_MAX;

bool IsInfinite(int64_t bound) { return bound == kLow || bound == kHigh; }

int64_t Clamp(__int128 value) {
  if (value <= kLow) return kLow;
  if (value >= kHigh) return kHigh;
  return static_cast<int64_t>(value);
}

int64_t AddBound(int64_t a, int64_t b, int64_t infinity) {
  if (a == infinity || b == infinity) return infinity;
  return Clamp(static_cast<__int128>(a) + b);
}

int64_t MulBound(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (IsInfinite(a) || IsInfinite(b)) return (a < 0) == (b < 0) ? kHigh : kLow;
  return Clamp(static_cast<__int128>(a) * b);
}

int64_t DivBound(int64_t a, int64_t b) {  // b > 0
  if (IsInfinite(a)) return b == kHigh ? (a < 0 ? kLow : kHigh) : a;
  if (b == kHigh) return a < 0 ? -1 : 0;
  return FloorDivInt(a, b);
}

Range PowRange(Range base, int64_t exponent) {
  Range power{1, 1};
  for (int64_t i = 0; i < std::min<int64_t>(exponent, 64); ++i) power = MulRange(power, base);
  if (exponent > 64) power = base.min >= 1 ? Range{power.min, kHigh} : base.min >= 0 ? Range{0, kHigh} : Range{};
  if (exponent % 2 == 0 && base.min < 0) power.min = base.max < 0 ? power.min : 0;
  return power;
}

}  // namespace

Range AddRange(Range a, Range b) { return {AddBound(a.min, b.min, kLow), AddBound(a.max, b.max, kHigh)}; }

Range MulRange(Range a, Range b) {
  const int64_t corners[] = {MulBound(a.min, b.min), MulBound(a.min, b.max), MulBound(a.max, b.min),
                             MulBound(a.max, b.max)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Range NegRange(Range a) { return MulRange(a, {-1, -1}); }

Range FloorDivRange(Range a, Range b) {
  if (b.max < 0) return FloorDivRange(NegRange(a), NegRange(b));
  if (b.min < 0) return {};
  b.min = std::max<int64_t>(b.min, 1);  // there is no division by 0
  b.max = std::max(b.max, b.min);
  return {a.min >= 0 ? DivBound(a.min, b.max) : DivBound(a.min, b.min),
          a.max >= 0 ? DivBound(a.max, b.min) : DivBound(a.max, b.max)};
}

Range ModRange(Range a, Range b) {
  if (b.min >= 0) {
    const int64_t top = b.max == kHigh ? kHigh : std::max<int64_t>(b.max - 1, 0);
    return {0, a.min >= 0 ? std::min(top, a.max) : top};
  }
  if (b.max <= 0) return {b.min == kLow ? kLow : std::min<int64_t>(b.min + 1, 0), 0};
  return {b.min == kLow ? kLow : b.min + 1, b.max == kHigh ? kHigh : b.max - 1};
}

Range Intersect(Range a, Range b) { return {std::max(a.min, b.min), std::min(a.max, b.max)}; }

Range SymStore::Impl::IntervalOf(const Sum& sum) const {
  Range range{sum.constant, sum.constant};
  for (const Term& term : sum.terms) range = AddRange(range, MulRange(at(term.mono).range, {term.coef, term.coef}));
  return range;
}

Range SymStore::Impl::RangeOfKey(const ExprKey& key) const {
  if (key.type == ExprType::kFloat) return {};
  if (key.type == ExprType::kBool) return {0, 1};
  const auto range = [&](size_t i) { return at(key.args[i]).range; };
  switch (key.kind) {
    case ExprKind::kIntConst:
      return {key.integer, key.integer};
    case ExprKind::kSymbol:
      return {key.symbol->min, key.symbol->max};
    case ExprKind::kAdd: {
      Range sum{0, 0};
      for (size_t i = 0; i < key.args.size(); ++i) sum = AddRange(sum, range(i));
      return sum;
    }
    case ExprKind::kMul: {
      Range product{1, 1};
      for (size_t i = 0; i < key.args.size(); ++i) product = MulRange(product, range(i));
      return product;
    }
    case ExprKind::kPow:
      if (const Expr& e = at(key.args[1]); e.kind == ExprKind::kIntConst) return PowRange(range(0), e.integer);
      return range(0).min >= 1 ? Range{1, kHigh} : range(0).min >= 0 ? Range{0, kHigh} : Range{};
    case ExprKind::kFloorDiv:
      return FloorDivRange(range(0), range(1));
    case ExprKind::kMod:
      return ModRange(range(0), range(1));
    case ExprKind::kMax:
    case ExprKind::kMin: {
      Range result = range(0);
      for (size_t i = 1; i < key.args.size(); ++i) {
        const Range r = range(i);
        result = key.kind == ExprKind::kMax ? Range{std::max(result.min, r.min), std::max(result.max, r.max)}
                                            : Range{std::min(result.min, r.min), std::min(result.max, r.max)};
      }
      return result;
    }
    case ExprKind::kWhere:
      return {std::min(range(1).min, range(2).min), std::max(range(1).max, range(2).max)};
    case ExprKind::kFloatCall:
      return {0, 1};  // the only integer one is an indicator
    default:
      return {};
  }
}

int64_t SymStore::Impl::DivisorOfKey(const ExprKey& key) const {
  switch (key.kind) {
    case ExprKind::kIntConst:
      return Gcd(key.integer, 0);
    case ExprKind::kSymbol:
      return key.symbol->divisor;
    case ExprKind::kMul: {
      int64_t product = 1;
      for (const ExprId arg : key.args) {
        const int64_t before = product;
        if (!MulTo(product, at(arg).divisor)) product = before;
      }
      return product;
    }
    case ExprKind::kPow: {
      if (!IsConst(key.args[1])) return 1;
      int64_t product = 1;
      for (int64_t i = 0; i < std::min<int64_t>(at(key.args[1]).integer, 63); ++i) {
        const int64_t before = product;
        if (!MulTo(product, at(key.args[0]).divisor)) return before;
      }
      return product;
    }
    case ExprKind::kFloorDiv: {
      const Expr& num = at(key.args[0]);
      const Expr& den = at(key.args[1]);
      if (num.kind != ExprKind::kSymbol || den.kind != ExprKind::kIntConst || den.integer <= 0) return 1;
      return num.symbol->divisor % den.integer == 0 ? num.symbol->divisor / den.integer : 1;
    }
    default:
      return 1;
  }
}

}  // namespace tare
