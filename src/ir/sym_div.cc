// Floor division and remainder, as in Python: rounding towards minus infinity, sign of the divisor.
#include <algorithm>

#include "ir/sym_impl.h"

namespace tare {
namespace {

// Takes the constant out of a numerator: constant = quotient * k + rest.
int64_t TakeConstant(Sum& sum, int64_t k) {
  const int64_t quotient = FloorDivInt(sum.constant, k);
  sum.constant = FloorModInt(sum.constant, k);
  return quotient;
}

}  // namespace

// (a*k + rest) // k is a + rest // k: whatever k divides leaves the numerator; then a common factor
// is cancelled, a quotient inside a quotient is flattened, and the first sign is made positive by
// (-x) // k = -((x + k - 1) // k).
ExprId SymStore::Impl::FloorDivByConst(Sum a, int64_t k) {
  if (!a.valid || k == 0 || k == INT64_MIN) return {};
  if (k < 0) {
    a = ScaleSum(std::move(a), -1);
    k = -k;
    if (!a.valid) return {};
  }
  Sum outside;
  if (k == 1) return FromSum(std::move(a));

  // What k divides leaves.
  Sum inside;
  for (const Term& term : a.terms) {
    if (DivisorOf(term) % k == 0) {
      outside.terms.push_back(ExactQuotient(term, k));
      if (!outside.terms.back().mono.has_value()) return {};
      continue;
    }
    const int64_t whole = term.coef / k, rest = term.coef % k;  // sign kept: bounds stay sharp
    if (whole != 0) outside.terms.push_back({term.mono, whole});
    if (rest != 0) inside.terms.push_back({term.mono, rest});
  }
  inside.constant = a.constant;
  // A common factor is cancelled; the constant rounds down.
  int64_t common = k;
  for (const Term& term : inside.terms) common = Gcd(common, DivisorOf(term));
  if (common > 1) {
    Sum reduced;
    reduced.constant = FloorDivInt(inside.constant, common);
    for (const Term& term : inside.terms) {
      reduced.terms.push_back(ExactQuotient(term, common));
      if (!reduced.terms.back().mono.has_value()) return {};
    }
    CollectTerms(reduced);
    CollectTerms(outside);
    return FromSum(AddSums(outside, ToSum(FloorDivByConst(std::move(reduced), k / common))));
  }
  outside.constant = TakeConstant(inside, k);
  CollectTerms(outside);
  if (inside.terms.empty()) return FromSum(std::move(outside));

  // (rest + x // d) // k = (d*rest + x) // (d*k), when there is one such quotient.
  const Term* nested = nullptr;
  int quotients = 0;
  for (const Term& term : inside.terms) {
    const Expr& e = at(term.mono);
    if (e.kind != ExprKind::kFloorDiv || e.exact || !IsConst(e.args[1])) continue;
    ++quotients;
    if (term.coef == 1 || term.coef == -1) nested = &term;
  }
  if (nested != nullptr && quotients == 1) {
    const Expr& e = at(nested->mono);
    int64_t d = at(e.args[1]).integer;
    const int64_t inner = d;
    Sum numerator;
    numerator.constant = inside.constant;
    for (const Term& term : inside.terms) {
      if (&term != nested) numerator.terms.push_back(term);
    }
    numerator = ScaleSum(std::move(numerator), d);
    Sum x = ToSum(e.args[0]);
    if (nested->coef < 0) {  // -(x // d) = ((d - 1) - x) // d
      x = ScaleSum(std::move(x), -1);
      if (x.valid) x.valid = AddTo(x.constant, inner - 1);
    }
    numerator = AddSums(numerator, x);
    if (MulTo(d, k) && numerator.valid) {
      const ExprId quotient = FloorDivByConst(std::move(numerator), d);
      return FromSum(AddSums(outside, ToSum(quotient)));
    }
  }

  // The sign of the first term of the highest degree.
  const Term* lead = nullptr;
  int64_t lead_degree = 0;
  for (const Term& term : inside.terms) {
    int64_t degree = 0;
    for (const ExprId factor : Factors(term.mono)) degree += std::min<int64_t>(PowerOf(factor).second, kMaxExprText);
    if (degree > lead_degree) lead = &term, lead_degree = degree;
  }
  const bool flip = lead->coef < 0;
  if (flip) {
    inside = ScaleSum(std::move(inside), -1);
    if (!inside.valid || !AddTo(inside.constant, k - 1)) return {};
    int64_t quotient = -TakeConstant(inside, k);
    if (!AddTo(outside.constant, quotient)) return {};
  }
  const ExprId numerator = FromSum(inside);
  if (!numerator.has_value()) return {};
  const Range range = at(numerator).range;
  if (range.min != INT64_MIN && range.max != INT64_MAX && FloorDivInt(range.min, k) == FloorDivInt(range.max, k)) {
    const int64_t value = FloorDivInt(range.min, k);
    return AddTo(outside.constant, flip ? -value : value) ? FromSum(std::move(outside)) : ExprId{};
  }
  const ExprId pair[] = {numerator, Int(k)};
  const ExprId quotient = Intern({ExprKind::kFloorDiv, ExprType::kInt, pair});
  if (!quotient.has_value()) return {};
  Sum result;
  result.terms.push_back({quotient, flip ? -1 : 1});
  return FromSum(AddSums(outside, result));
}

ExprId SymStore::Impl::ModByConst(Sum a, int64_t k) {
  if (!a.valid || k == 0 || k == INT64_MIN) return {};
  if (k < 0) return Neg(ModByConst(ScaleSum(std::move(a), -1), -k));
  if (k == 1) return zero_id;
  Sum inside;
  inside.constant = a.constant;
  for (const Term& term : a.terms) {
    if (DivisorOf(term) % k == 0) continue;
    // A remainder inside by a multiple of k is its numerator.
    const Expr& e = at(term.mono);
    int64_t scaled = term.coef % k;
    if (e.kind == ExprKind::kMod && IsConst(e.args[1]) && MulTo(scaled, at(e.args[1]).integer) && scaled % k == 0) {
      inside = AddSums(inside, ScaleSum(ToSum(e.args[0]), term.coef % k));
      if (!inside.valid) return {};
      continue;
    }
    Sum one;
    one.terms.push_back(term);
    inside = AddSums(inside, one);
    if (!inside.valid) return {};
  }
  int64_t common = k;
  Sum reduced;
  for (const Term& term : inside.terms) {
    if (DivisorOf(term) % k == 0) continue;
    int64_t rest = FloorModInt(term.coef, k);
    if (rest > k / 2) rest -= k;  // symmetric
    reduced.terms.push_back({term.mono, rest});
    common = Gcd(common, DivisorOf(reduced.terms.back()));
  }
  // (g*x + g*q + r) % (g*k) = g * ((x + q) % k) + r
  int64_t rest = FloorModInt(inside.constant, k);
  if (reduced.terms.empty()) return Int(rest);
  if (common > 1) {
    Sum divided;
    divided.constant = rest / common;
    for (const Term& term : reduced.terms) {
      divided.terms.push_back(ExactQuotient(term, common));
      if (!divided.terms.back().mono.has_value()) return {};
    }
    CollectTerms(divided);
    const ExprId inner = ModByConst(std::move(divided), k / common);
    return Add(Mul(Int(common), inner), Int(rest % common));
  }
  reduced.constant = rest;
  const ExprId numerator = FromSum(std::move(reduced));
  if (!numerator.has_value()) return {};
  const Range range = at(numerator).range;
  if (range.min != INT64_MIN && range.max != INT64_MAX && FloorDivInt(range.min, k) == FloorDivInt(range.max, k)) {
    int64_t start = FloorDivInt(range.min, k);
    return MulTo(start, k) ? Sub(numerator, Int(start)) : ExprId{};
  }
  const ExprId pair[] = {numerator, Int(k)};
  return Intern({ExprKind::kMod, ExprType::kInt, pair});
}

// The mono x with x * b.mono = a, or none.
std::optional<ExprId> SymStore::Impl::DivideMono(ExprId a, ExprId b) {
  const std::span<const ExprId> x = Factors(a), y = Factors(b);
  ExprList left;
  size_t j = 0;
  for (const ExprId factor : x) {
    const auto [atom, exponent] = PowerOf(factor);
    if (j < y.size()) {
      const auto [divisor, power] = PowerOf(y[j]);
      if (divisor == atom) {
        if (power > exponent) return std::nullopt;
        if (power < exponent) left.push_back(MakePower(atom, exponent - power));
        ++j;
        continue;
      }
    }
    left.push_back(factor);
  }
  if (j < y.size()) return std::nullopt;
  return MonoOf(left);
}

ExprId SymStore::Impl::SplitBySum(Sum& a, const Sum& b) {
  Sum outside, inside;
  if (b.terms.size() == 1 && b.constant == 0) {
    const Term& divisor = b.terms[0];
    for (const Term& term : a.terms) {
      const std::optional<ExprId> mono = DivideMono(term.mono, divisor.mono);
      const int64_t whole = mono.has_value() ? FloorDivInt(term.coef, divisor.coef) : 0;
      const int64_t rest = mono.has_value() ? FloorModInt(term.coef, divisor.coef) : term.coef;
      if (rest != 0) inside.terms.push_back({term.mono, rest});
      if (whole == 0) continue;
      if (IsConst(*mono)) {
        if (!AddTo(outside.constant, whole)) return {};
      } else {
        outside.terms.push_back({*mono, whole});
      }
    }
    inside.constant = a.constant;
    a = std::move(inside);
    CollectTerms(outside);
    return FromSum(std::move(outside));
  }
  // Long division by the first term of a sum, each step by what the structure dictates.
  for (int step = 0; step < 8; ++step) {
    const Term& lead = b.terms[0];
    bool found = false;
    for (const Term& term : a.terms) {
      const std::optional<ExprId> mono = DivideMono(term.mono, lead.mono);
      if (!mono.has_value()) continue;
      const int64_t whole = FloorDivInt(term.coef, lead.coef);
      if (whole == 0) continue;
      Sum factor;
      if (IsConst(*mono)) {
        factor.constant = whole;
      } else {
        factor.terms.push_back({*mono, whole});
      }
      const Sum rest = AddSums(a, ScaleSum(MulSums(factor, b), -1));
      if (!rest.valid || rest.terms.size() > a.terms.size()) continue;
      outside = AddSums(outside, factor);
      if (!outside.valid) return {};
      a = rest;
      found = true;
      break;
    }
    if (!found) break;
  }
  return FromSum(std::move(outside));
}

// x // (s//2) of an even s is 2*x // s: without exact quotients equal factors are seen to be equal.
bool SymStore::Impl::ScaleExact(Sum& a, Sum& b) {
  int64_t common = 1;
  for (const Sum* sum : {&a, &b}) {
    for (const Term& term : sum->terms) {
      if (!at(term.mono).exact) continue;
      llvm::SmallVector<ExactFactor, 4> roots;
      int64_t den = 1;
      if (!ExactRoots(term.mono, roots, den) || !MulTo(common, den / Gcd(common, den))) return false;
    }
  }
  if (common == 1) return true;
  for (Sum* sum : {&a, &b}) {
    *sum = ScaleSum(std::move(*sum), common);
    if (!sum->valid || !NormalizeExact(*sum)) return false;
  }
  return true;
}

// Cancels what divides numerator and divisor alike: a common mono and a common coefficient.
bool SymStore::Impl::CancelCommon(Sum& a, Sum& b) {
  if (a.terms.empty() || b.terms.empty()) return true;
  int64_t common = 0;
  for (const Sum* sum : {&a, &b}) {
    common = Gcd(common, sum->constant);
    for (const Term& term : sum->terms) common = Gcd(common, term.coef);
  }
  ExprList shared;
  if (a.constant == 0 && b.constant == 0) {
    for (const ExprId factor : Factors(b.terms[0].mono)) {
      auto [atom, least] = PowerOf(factor);
      for (const Sum* sum : {&a, &b}) {
        for (const Term& term : sum->terms) {
          int64_t exponent = 0;
          for (const ExprId other : Factors(term.mono)) {
            if (const auto [base, power] = PowerOf(other); base == atom) exponent = power;
          }
          least = std::min(least, exponent);
        }
      }
      if (least > 0) shared.push_back(MakePower(atom, least));
    }
  }
  if (common <= 1 && shared.empty()) return true;
  const ExprId mono = MonoOf(shared);
  if (!mono.has_value()) return false;
  for (Sum* sum : {&a, &b}) {
    if (common > 1) sum->constant /= common;
    for (Term& term : sum->terms) {
      if (common > 1) term.coef /= common;
      if (shared.empty()) continue;
      const std::optional<ExprId> rest = DivideMono(term.mono, mono);
      if (!rest.has_value()) return false;
      term.mono = *rest;
    }
    // A term that became a number joins the constant.
    for (size_t i = 0; i < sum->terms.size();) {
      if (!IsConst(sum->terms[i].mono)) {
        ++i;
        continue;
      }
      if (!AddTo(sum->constant, sum->terms[i].coef)) return false;
      sum->terms.erase(sum->terms.begin() + i);
    }
    CollectTerms(*sum);
  }
  return true;
}

ExprId SymStore::Impl::FloorDiv(ExprId a, ExprId b) {
  if (!a.has_value() || !b.has_value() || IsConst(b, 0)) return {};
  if (IsConst(a) && IsConst(b)) {
    if (at(a).integer == INT64_MIN && at(b).integer == -1) return {};
    return Int(FloorDivInt(at(a).integer, at(b).integer));
  }
  if (IsConst(b)) return FloorDivByConst(ToSum(a), at(b).integer);
  if (IsConst(a, 0)) return zero_id;
  if (a == b) return one_id;
  Sum numerator = ToSum(a), divisor = ToSum(b);
  if (!ScaleExact(numerator, divisor) || !CancelCommon(numerator, divisor)) return {};
  if (divisor.terms.empty()) return FloorDivByConst(std::move(numerator), divisor.constant);
  const ExprId outside = SplitBySum(numerator, divisor);
  if (!outside.has_value()) return {};
  if (numerator.terms.empty() && numerator.constant == 0) return outside;
  if (!CancelCommon(numerator, divisor)) return {};
  if (divisor.terms.empty()) return Add(outside, FloorDivByConst(std::move(numerator), divisor.constant));
  const ExprId rest = FromSum(std::move(numerator));
  const ExprId by = FromSum(std::move(divisor));
  if (!rest.has_value() || !by.has_value()) return {};
  const Expr& r = at(rest);
  // x // a // b = x // (a*b)
  if (r.kind == ExprKind::kFloorDiv && at(by).range.min > 0 && at(r.args[1]).range.min > 0) {
    return Add(outside, FloorDiv(r.args[0], Mul(r.args[1], by)));
  }
  if (r.range.min >= 0 && ProvenLess(rest, by)) return outside;
  const Range range = FloorDivRange(r.range, at(by).range);
  const bool unbounded = range.min == INT64_MIN || range.max == INT64_MAX;
  if (range.min == range.max && !unbounded) return Add(outside, Int(range.min));
  const ExprId pair[] = {rest, by};
  return Add(outside, Intern({ExprKind::kFloorDiv, ExprType::kInt, pair}));
}

ExprId SymStore::Impl::Mod(ExprId a, ExprId b) {
  if (!a.has_value() || !b.has_value() || IsConst(b, 0)) return {};
  if (IsConst(a) && IsConst(b)) return Int(FloorModInt(at(a).integer, at(b).integer));
  if (IsConst(b)) return ModByConst(ToSum(a), at(b).integer);
  if (IsConst(a, 0) || a == b) return zero_id;
  Sum numerator = ToSum(a);
  const Sum divisor = ToSum(b);
  if (!SplitBySum(numerator, divisor).has_value()) return {};
  const ExprId rest = FromSum(std::move(numerator));
  if (!rest.has_value() || IsConst(rest, 0)) return rest;
  if (at(rest).range.min >= 0 && ProvenLess(rest, b)) return rest;
  const ExprId pair[] = {rest, b};
  return Intern({ExprKind::kMod, ExprType::kInt, pair});
}

}  // namespace tare
