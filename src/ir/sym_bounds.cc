// Lower bounds of sums whose atoms depend on each other: s0 - s0//2 >= 1 when s0 >= 2.
//
// Intervals treat atoms as independent. A relaxation replaces one term by something never larger
// that cancels better: k*(a//k) lies in [a-k+1, a], max(a, b) is one of its arguments, an axiom
// known to be >= 0 may be taken away. The search tries relaxations within a budget.
#include <algorithm>

#include "ir/sym_impl.h"

namespace tare {
namespace {

constexpr int kMaxDepth = 5;
constexpr int kBudget = 160;
constexpr size_t kMaxTerms = 24;

int64_t CeilDivInt(int64_t a, int64_t b) { return a == INT64_MIN ? a : -FloorDivInt(-a, b); }

}  // namespace

struct SymStore::Impl::BoundSearch {
  Impl& impl;
  std::span<const Sum> axioms;
  int budget = kBudget;

  // The constant that is left when every atom is written as its minimum plus something >= 0 and no
  // negative coefficient stays: proves (a-1)*(b-1) >= 0 in expanded form.
  int64_t ShiftedBound(const Sum& sum) {
    llvm::SmallVector<ExprId, 8> atoms;
    for (const Term& term : sum.terms) {
      for (const ExprId factor : impl.Factors(term.mono)) {
        const auto [atom, exponent] = impl.PowerOf(factor);
        if (exponent > 4) return INT64_MIN;
        if (std::find(atoms.begin(), atoms.end(), atom) == atoms.end()) atoms.push_back(atom);
      }
    }
    const auto shift = [&](ExprId atom) {
      Sum shifted;
      shifted.terms.push_back({atom, 1});
      shifted.constant = impl.at(atom).range.min;
      return shifted;
    };
    Sum total;
    total.constant = sum.constant;
    for (const Term& term : sum.terms) {
      Sum product;
      product.constant = term.coef;
      for (const ExprId factor : impl.Factors(term.mono)) {
        const auto [atom, exponent] = impl.PowerOf(factor);
        if (impl.at(atom).range.min == INT64_MIN) return INT64_MIN;
        for (int64_t i = 0; i < exponent; ++i) product = impl.MulSums(product, shift(atom));
        if (product.terms.size() > kMaxTerms * 4) return INT64_MIN;
      }
      total = impl.AddSums(total, product);
      if (!total.valid) return INT64_MIN;
    }
    Range bound{total.constant, total.constant};
    for (const Term& term : total.terms) {
      if (term.coef > 0) continue;  // atoms stand for what is above their minimum
      Range product{1, 1};
      for (const ExprId factor : impl.Factors(term.mono)) {
        const auto [atom, exponent] = impl.PowerOf(factor);
        const Range r = impl.at(atom).range;
        const Range above = r.max == INT64_MAX ? Range{0, INT64_MAX} : AddRange({0, r.max}, {-r.min, -r.min});
        for (int64_t i = 0; i < exponent; ++i) product = MulRange(product, above);
      }
      bound = AddRange(bound, MulRange(product, {term.coef, term.coef}));
    }
    return bound.min;
  }

  static Sum Without(const Sum& sum, size_t index) {
    Sum rest;
    rest.constant = sum.constant;
    for (size_t i = 0; i < sum.terms.size(); ++i) {
      if (i != index) rest.terms.push_back(sum.terms[i]);
    }
    return rest;
  }

  // coef * others * value, where term = coef * others * atom.
  Sum With(const Term& term, std::span<const ExprId> others, const Sum& value) {
    Sum product;
    product.constant = term.coef;
    product = impl.MulSums(product, value);
    for (const ExprId other : others) product = impl.MulSums(product, impl.ToSum(other));
    return product;
  }

  int64_t Try(Sum relaxed, int64_t scale, int64_t enough, int depth) {
    if (!relaxed.valid || relaxed.terms.size() > kMaxTerms) return INT64_MIN;
    int64_t target = enough;
    if (!MulTo(target, scale)) target = INT64_MAX;
    const int64_t bound = Search(relaxed, target, depth + 1);
    return bound == INT64_MIN ? bound : CeilDivInt(bound, scale);
  }

  // Relaxations of one term that holds `atom` once, times `others`, all of them >= 0.
  int64_t RelaxAtom(const Sum& sum, size_t index, ExprId atom, std::span<const ExprId> others, int64_t enough,
                    int depth) {
    const Term term = sum.terms[index];
    const Expr& e = impl.at(atom);
    const bool up = term.coef > 0;
    int64_t best = INT64_MIN;
    const auto consider = [&](const Sum& value, int64_t scale, int64_t slack) {
      // value/scale - slack/scale stands for the atom
      Sum shifted = value;
      if (!shifted.valid || !AddTo(shifted.constant, -slack)) return;
      Sum rest = impl.ScaleSum(Without(sum, index), scale);
      best = std::max(best, Try(impl.AddSums(rest, With(term, others, shifted)), scale, enough, depth));
    };
    switch (e.kind) {
      case ExprKind::kFloorDiv:
        if (impl.IsConst(e.args[1])) {
          const int64_t k = impl.at(e.args[1]).integer;
          if (k > 0) consider(impl.ToSum(e.args[0]), k, up ? k - 1 : 0);
        } else if (!up && impl.at(e.args[0]).range.min >= 0 && impl.at(e.args[1]).range.min >= 0) {
          // a//b <= a; b * (a//b) <= a
          const ExprId by = e.args[1];
          const auto at = std::find(others.begin(), others.end(), by);
          if (at != others.end()) {
            ExprList left(others.begin(), others.end());
            left.erase(left.begin() + (at - others.begin()));
            Sum rest = Without(sum, index);
            best = std::max(best, Try(impl.AddSums(rest, With(term, left, impl.ToSum(e.args[0]))), 1, enough, depth));
          }
          consider(impl.ToSum(e.args[0]), 1, 0);
        }
        break;
      case ExprKind::kMod: {
        const ExprId a = e.args[0], b = e.args[1];
        if (!up && impl.at(a).range.min >= 0 && impl.at(b).range.min >= 0) consider(impl.ToSum(a), 1, 0);
        if (!up && impl.at(b).range.min >= 0) consider(impl.ToSum(b), 1, 1);
        // a % b = a - b * (a // b)
        const Sum value = impl.ToSum(impl.Sub(a, impl.Mul(b, impl.FloorDiv(a, b))));
        if (best < enough) consider(value, 1, 0);
        break;
      }
      case ExprKind::kMax:
      case ExprKind::kMin: {
        const bool any = up == (e.kind == ExprKind::kMax);  // each argument bounds it
        int64_t worst = INT64_MAX;
        for (const ExprId arg : impl.args(atom)) {
          const int64_t before = best;
          best = INT64_MIN;
          consider(impl.ToSum(arg), 1, 0);
          worst = std::min(worst, best);
          best = any ? std::max(best, before) : before;
        }
        best = std::max(best, worst);  // it is one of them
        break;
      }
      default:
        break;
    }
    return best;
  }

  int64_t Search(const Sum& sum, int64_t enough, int depth) {
    if (!sum.valid) return INT64_MIN;
    int64_t best = impl.IntervalOf(sum).min;
    if (sum.terms.empty() || best >= enough || --budget < 0 || sum.terms.size() > kMaxTerms) return best;
    best = std::max(best, ShiftedBound(sum));
    if (best >= enough || depth >= kMaxDepth) return best;
    for (size_t i = 0; i < sum.terms.size() && best < enough; ++i) {
      const std::span<const ExprId> factors = impl.Factors(sum.terms[i].mono);
      for (size_t f = 0; f < factors.size() && best < enough; ++f) {
        ExprList others;
        bool positive = true;
        for (size_t g = 0; g < factors.size(); ++g) {
          if (g == f) continue;
          others.push_back(factors[g]);
          positive &= impl.at(factors[g]).range.min >= 0;
        }
        if (positive) best = std::max(best, RelaxAtom(sum, i, factors[f], others, enough, depth));
      }
    }
    for (const Sum& axiom : axioms) {
      for (const Term& known : axiom.terms) {
        if (best >= enough) break;
        const auto same =
            std::find_if(sum.terms.begin(), sum.terms.end(), [&](const Term& term) { return term.mono == known.mono; });
        if (same == sum.terms.end() || (same->coef > 0) != (known.coef > 0)) continue;
        const int64_t common = Gcd(same->coef, known.coef);
        const int64_t scale = std::abs(known.coef / common), times = std::abs(same->coef / common);
        Sum relaxed = impl.AddSums(impl.ScaleSum(sum, scale), impl.ScaleSum(axiom, -times));
        best = std::max(best, Try(std::move(relaxed), scale, enough, depth));
      }
    }
    return best;
  }
};

int64_t SymStore::Impl::LowerBound(const Sum& sum, std::span<const Sum> axioms, int64_t enough) {
  BoundSearch search{*this, axioms};
  return search.Search(sum, enough, 0);
}

bool SymStore::Impl::ProvenLessEqual(ExprId a, ExprId b) {
  return ProvenNonNegative(AddSums(ToSum(b), ScaleSum(ToSum(a), -1)));
}

bool SymStore::Impl::ProvenLess(ExprId a, ExprId b) {
  Sum sum = AddSums(ToSum(b), ScaleSum(ToSum(a), -1));
  return sum.valid && AddTo(sum.constant, -1) && ProvenNonNegative(sum);
}

Tri SymStore::Impl::ProveCompare(ExprKind kind, ExprId a, ExprId b, std::span<const Sum> axioms) {
  if (!a.has_value() || !b.has_value()) return Tri::kUnknown;
  if (at(a).type != ExprType::kInt) return Tri::kUnknown;
  const Sum up = AddSums(ToSum(b), ScaleSum(ToSum(a), -1));  // b - a
  const Sum down = ScaleSum(up, -1);
  if (!up.valid || !down.valid) return Tri::kUnknown;
  switch (kind) {
    case ExprKind::kLe:
      if (LowerBound(up, axioms, 0) >= 0) return Tri::kYes;
      return LowerBound(down, axioms, 1) >= 1 ? Tri::kNo : Tri::kUnknown;
    case ExprKind::kLt:
      if (LowerBound(up, axioms, 1) >= 1) return Tri::kYes;
      return LowerBound(down, axioms, 0) >= 0 ? Tri::kNo : Tri::kUnknown;
    case ExprKind::kEq: {
      const int64_t low = LowerBound(up, axioms, 1);
      if (low >= 1) return Tri::kNo;
      const int64_t high = LowerBound(down, axioms, 1);
      if (high >= 1) return Tri::kNo;
      return low >= 0 && high >= 0 ? Tri::kYes : Tri::kUnknown;
    }
    default:
      return Tri::kUnknown;
  }
}

}  // namespace tare
