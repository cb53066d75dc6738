// Turns axioms into facts: equalities eliminate symbols, bounds and divisibility refine them, the
// rest is kept as linear inequalities and known conditions.
#include "ir/sym_facts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tare {
namespace {

constexpr int kMaxRounds = 8;
constexpr size_t kMaxAxioms = 4096;

int64_t CeilTo(int64_t value, int64_t step) {
  const int64_t rest = FloorModInt(value, step);
  if (rest == 0) return value;
  int64_t up = value;
  return AddTo(up, step - rest) ? up : value;
}

}  // namespace

struct SymStore::Impl::FactsBuilder {
  Impl& impl;
  Facts& facts;
  bool changed = false;

  ExprId Apply(ExprId e) { return impl.Rebuild(e, facts.forward); }

  // What was read before a replacement, in terms after it.
  Sum Current(const Sum& sum) {
    if (!sum.valid) return sum;
    return impl.ToSum(Apply(impl.FromSum(sum)));
  }

  // From now on `from` (a refined symbol or node) is written as `to`.
  void Replace(ExprId from, ExprId to) {
    if (from == to || !to.has_value() || facts.forward.contains(from)) return;
    const ExprMap step = {{from, to}};
    for (auto& [key, value] : facts.forward) {
      const ExprId next = impl.Rebuild(value, step);
      if (next.has_value()) value = next;
    }
    facts.forward.emplace(from, to);
    for (Sum& sum : facts.nonnegative) {
      const Sum next = impl.ToSum(impl.Rebuild(impl.FromSum(sum), step));
      if (next.valid) sum = next;
    }
    absl::flat_hash_set<ExprId> known;
    for (const ExprId e : facts.known) {
      const ExprId next = impl.Rebuild(e, step);
      if (next.has_value()) known.insert(next);
    }
    facts.known = std::move(known);
    changed = true;
  }

  ExprId Origin(ExprId symbol) const {
    const auto it = facts.backward.find(symbol);
    return it == facts.backward.end() ? symbol : it->second;
  }

  void Refine(ExprId symbol, Range range, int64_t divisor) {
    SymbolRow row = *impl.at(symbol).symbol;
    const SymbolRow before = row;
    row.min = std::max(row.min, range.min);
    row.max = std::min(row.max, range.max);
    if (divisor > 1) {
      int64_t common = row.divisor / Gcd(row.divisor, divisor);
      if (MulTo(common, divisor)) row.divisor = common;
    }
    if (row.divisor > 1) {
      if (row.min != INT64_MIN) row.min = CeilTo(row.min, row.divisor);
      if (row.max != INT64_MAX) row.max -= FloorModInt(row.max, row.divisor);
    }
    if (row.min > row.max) return;  // contradictory: nothing is learnt
    if (row.min == before.min && row.max == before.max && row.divisor == before.divisor) return;
    if (row.min == row.max) return Replace(symbol, impl.Int(row.min));
    const ExprId refined = impl.Symbol(row);
    if (!refined.has_value()) return;
    facts.backward[refined] = Origin(symbol);
    Replace(symbol, refined);
  }

  bool IsSymbol(ExprId e) const { return impl.at(e).kind == ExprKind::kSymbol; }

  bool Occurs(ExprId symbol, ExprId in) const {
    if (symbol == in) return true;
    for (const ExprId arg : impl.args(in)) {
      if (Occurs(symbol, arg)) return true;
    }
    return false;
  }
  // `symbol` occurs in one term only.
  bool OccursOnce(const Sum& sum, size_t index) const {
    for (size_t i = 0; i < sum.terms.size(); ++i) {
      if (i != index && Occurs(sum.terms[index].mono, sum.terms[i].mono)) return false;
    }
    return true;
  }

  void AddNonNegative(const Sum& sum) {
    if (!sum.valid || sum.terms.empty() || impl.IntervalOf(sum).min >= 0) return;
    const ExprId id = impl.FromSum(sum);
    for (const Sum& have : facts.nonnegative) {
      if (impl.FromSum(have) == id) return;
    }
    facts.nonnegative.push_back(sum);
    changed = true;
  }

  // sum == 0.
  void Equality(Sum sum) {
    sum = Current(sum);
    if (!sum.valid) return;
    CancelNonZero(sum);
    // A symbol with coefficient 1, the last in order, unbacked ones first; then any coefficient.
    int best = -1;
    bool best_unit = false, best_unbacked = false;
    for (size_t i = 0; i < sum.terms.size(); ++i) {
      const Term& term = sum.terms[i];
      if (!IsSymbol(term.mono) || !OccursOnce(sum, i)) continue;
      const bool unit = term.coef == 1 || term.coef == -1;
      const bool unbacked = impl.at(term.mono).symbol->kind == SymbolKind::kUnbacked;
      if (best < 0 || std::pair(unit, unbacked) >= std::pair(best_unit, best_unbacked)) {
        best = static_cast<int>(i);
        best_unit = unit;
        best_unbacked = unbacked;
      }
    }
    if (best >= 0) {
      const Term term = sum.terms[best];
      sum.terms.erase(sum.terms.begin() + best);
      // coef * symbol = -rest
      const Sum rest = impl.ScaleSum(sum, term.coef > 0 ? -1 : 1);
      const int64_t k = std::abs(term.coef);
      const ExprId value = impl.FloorDivByConst(rest, k);
      if (!value.has_value()) return;
      const SymbolRow row = *impl.at(term.mono).symbol;
      Replace(term.mono, value);
      if (k > 1) Divisible(rest, k);
      const Sum sum_value = impl.ToSum(Apply(value));
      if (row.min != INT64_MIN) Inequality(Shifted(sum_value, 1, row.min));
      if (row.max != INT64_MAX) Inequality(Shifted(sum_value, -1, row.max));
      if (row.divisor > 1) Divisible(sum_value, row.divisor);
      return;
    }
    // s == 2*((s + 1)//2) says that s is even: the other terms have a common factor.
    for (size_t i = 0; i < sum.terms.size(); ++i) {
      const Term term = sum.terms[i];
      if (!IsSymbol(term.mono) || (term.coef != 1 && term.coef != -1)) continue;
      int64_t common = sum.constant == INT64_MIN ? 1 : Gcd(sum.constant, 0);
      for (size_t k = 0; k < sum.terms.size(); ++k) {
        if (k != i) common = Gcd(common, sum.terms[k].coef);
      }
      if (common <= 1 || impl.at(term.mono).divisor % common == 0) continue;
      Sum one;
      one.terms.push_back({term.mono, 1});
      return Divisible(one, common);
    }
    // Another atom that stands alone.
    for (size_t i = sum.terms.size(); i > 0; --i) {
      const Term term = sum.terms[i - 1];
      if ((term.coef != 1 && term.coef != -1) || impl.Factors(term.mono).size() != 1) continue;
      if (impl.at(term.mono).kind == ExprKind::kPow || !OccursOnce(sum, i - 1)) continue;
      Sum rest = sum;
      rest.terms.erase(rest.terms.begin() + (i - 1));
      const ExprId value = impl.FromSum(impl.ScaleSum(rest, term.coef > 0 ? -1 : 1));
      if (!value.has_value() || Occurs(term.mono, value)) continue;
      QuotientBounds(sum);
      QuotientBounds(impl.ScaleSum(sum, -1));
      Replace(term.mono, value);
      return;
    }
    Inequality(sum);
    Inequality(impl.ScaleSum(sum, -1));
  }

  // sum/sign - bound >= 0.
  Sum Shifted(const Sum& sum, int sign, int64_t bound) const {
    Sum shifted = impl.ScaleSum(sum, sign);
    if (!shifted.valid) return shifted;
    int64_t offset = bound;
    shifted.valid = MulTo(offset, -sign) && AddTo(shifted.constant, offset);
    return shifted;
  }

  // s0*s1 == s1*s1 says s0 == s1 when s1 > 0.
  void CancelNonZero(Sum& sum) {
    if (sum.constant != 0 || sum.terms.size() < 2) return;
    for (bool again = true; again;) {
      again = false;
      const ExprId first = sum.terms[0].mono;
      for (const ExprId factor : impl.Factors(first)) {
        const ExprId atom = impl.PowerOf(factor).first;
        if (impl.at(atom).range.min <= 0) continue;
        Sum divided;
        for (const Term& term : sum.terms) {
          const std::optional<ExprId> rest = impl.DivideMono(term.mono, atom);
          if (!rest.has_value()) break;
          if (impl.IsConst(*rest)) {
            divided.valid = AddTo(divided.constant, term.coef);
          } else {
            divided.terms.push_back({*rest, term.coef});
          }
          if (&term == &sum.terms.back()) again = divided.valid;
        }
        if (!again) continue;
        impl.CollectTerms(divided);
        sum = std::move(divided);
        break;
      }
      if (sum.terms.size() < 2 || sum.constant != 0) break;
    }
  }

  // sum % k == 0.
  void Divisible(const Sum& sum, int64_t k) {
    const ExprId remainder = impl.ModByConst(Current(sum), k);
    if (!remainder.has_value()) return;
    const Expr& e = impl.at(remainder);
    if (e.kind == ExprKind::kIntConst) return;
    if (e.kind != ExprKind::kMod) return Equality(impl.ToSum(remainder));
    const Sum a = impl.ToSum(e.args[0]);
    k = impl.at(e.args[1]).integer;
    if (a.terms.size() == 1 && a.constant == 0 && IsSymbol(a.terms[0].mono)) {
      // c * s % k == 0 with gcd(c, k) = 1, as the canonical form has it
      return Refine(a.terms[0].mono, {}, k);
    }
    for (size_t i = a.terms.size(); i > 0; --i) {
      const Term& term = a.terms[i - 1];
      if (!IsSymbol(term.mono) || (term.coef != 1 && term.coef != -1) || !OccursOnce(a, i - 1)) continue;
      // s = k*q - rest with a new integer q
      const ExprId quotient = impl.FloorDivByConst(a, k);
      if (!quotient.has_value()) break;
      SymbolRow row;
      const std::string name = absl::StrCat("quotient_", facts.backward.size());
      row.name = name;
      row.kind = SymbolKind::kUnbacked;
      const Range range = impl.at(quotient).range;
      row.min = range.min;
      row.max = range.max;
      const ExprId q = impl.Symbol(row);
      if (!q.has_value()) break;
      const ExprId origin = impl.Rebuild(quotient, facts.backward);
      if (!origin.has_value()) break;
      facts.backward[q] = origin;
      Sum rest = a;
      rest.terms.erase(rest.terms.begin() + (i - 1));
      Sum value;
      value.terms.push_back({q, k});
      value = impl.AddSums(value, impl.ScaleSum(rest, -1));
      const ExprId symbol = term.mono;
      const SymbolRow before = *impl.at(symbol).symbol;
      Replace(symbol, impl.FromSum(impl.ScaleSum(value, term.coef)));
      const Sum now = impl.ScaleSum(value, term.coef);
      if (before.min != INT64_MIN) Inequality(Shifted(now, 1, before.min));
      if (before.max != INT64_MAX) Inequality(Shifted(now, -1, before.max));
      return;
    }
    Replace(remainder, impl.zero_id);
  }

  // Bounds of a quotient are bounds of its numerator: c*(a//k) + c0 >= 0.
  void QuotientBounds(const Sum& sum) {
    if (!sum.valid || sum.terms.size() != 1) return;
    const Term& term = sum.terms[0];
    const Expr& e = impl.at(term.mono);
    if (e.kind != ExprKind::kFloorDiv || !impl.IsConst(e.args[1]) || sum.constant == INT64_MIN) return;
    const int64_t k = impl.at(e.args[1]).integer;
    const Sum a = impl.ToSum(e.args[0]);
    if (term.coef > 0) {  // q >= m  ->  a >= k*m
      int64_t bound = -FloorDivInt(sum.constant, term.coef);
      if (MulTo(bound, k)) Inequality(Shifted(a, 1, bound));
    } else if (term.coef != INT64_MIN) {  // q <= m  ->  a <= k*m + k - 1
      int64_t bound = FloorDivInt(sum.constant, -term.coef);
      if (MulTo(bound, k) && AddTo(bound, k - 1)) Inequality(Shifted(a, -1, bound));
    }
  }

  // sum >= 0.
  void Inequality(const Sum& given) {
    const Sum sum = Current(given);
    if (!sum.valid || sum.terms.empty()) return;
    if (sum.terms.size() == 1 && IsSymbol(sum.terms[0].mono)) {
      const int64_t coef = sum.terms[0].coef;
      if (coef == INT64_MIN || sum.constant == INT64_MIN) return;
      if (coef > 0) return Refine(sum.terms[0].mono, {-FloorDivInt(sum.constant, coef), INT64_MAX}, 1);
      return Refine(sum.terms[0].mono, {INT64_MIN, FloorDivInt(sum.constant, -coef)}, 1);
    }
    QuotientBounds(sum);
    AddNonNegative(sum);
  }

  void Learn(ExprId condition) {
    const Expr& e = impl.at(condition);
    const bool integers = e.num_args == 2 && impl.at(e.args[0]).type == ExprType::kInt;
    switch (e.kind) {
      case ExprKind::kBoolConst:
        return;
      case ExprKind::kAnd:
        for (const ExprId arg : impl.args(condition)) {
          const ExprId now = Apply(arg);
          if (now.has_value()) Learn(now);
        }
        return;
      case ExprKind::kEq:
        if (integers) {
          Sum sum = impl.AddSums(impl.ToSum(e.args[0]), impl.ScaleSum(impl.ToSum(e.args[1]), -1));
          if (!sum.valid) return;
          if (sum.constant == 0 && sum.terms.size() == 1 && impl.at(sum.terms[0].mono).kind == ExprKind::kMod) {
            const Expr& mod = impl.at(sum.terms[0].mono);
            if (impl.IsConst(mod.args[1])) return Divisible(impl.ToSum(mod.args[0]), impl.at(mod.args[1]).integer);
            DivisibleBy(mod.args[0], mod.args[1]);
          }
          return Equality(std::move(sum));
        }
        break;
      case ExprKind::kNe:
        if (integers) ExcludeEnd(e.args[0], e.args[1]);
        break;
      case ExprKind::kLe:
        if (integers) return Inequality(impl.AddSums(impl.ToSum(e.args[1]), impl.ScaleSum(impl.ToSum(e.args[0]), -1)));
        break;
      default:
        break;
    }
    if (facts.known.insert(condition).second) changed = true;
  }

  // a % b == 0 for symbolic b: a == b * (a // b).
  void DivisibleBy(ExprId a, ExprId b) {
    const ExprId difference = impl.Sub(a, impl.Mul(b, impl.FloorDiv(a, b)));
    const Sum sum = impl.ToSum(difference);
    AddNonNegative(sum);
    AddNonNegative(impl.ScaleSum(sum, -1));
  }

  // A value that may not be the end of its range is further in.
  void ExcludeEnd(ExprId a, ExprId b) {
    const Sum sum = impl.AddSums(impl.ToSum(a), impl.ScaleSum(impl.ToSum(b), -1));
    if (!sum.valid) return;
    const Sum minus = impl.ScaleSum(sum, -1);
    if (impl.LowerBound(sum, facts.nonnegative, 0) == 0) Inequality(Shifted(sum, 1, 1));
    if (minus.valid && impl.LowerBound(minus, facts.nonnegative, 0) == 0) Inequality(Shifted(minus, 1, 1));
  }
};

void SymStore::Impl::BuildFacts(Facts& facts) {
  FactsBuilder builder{*this, facts};
  for (int round = 0; round < kMaxRounds; ++round) {
    builder.changed = false;
    for (const ExprId axiom : facts.axioms) {
      const ExprId now = builder.Apply(axiom);
      if (now.has_value()) builder.Learn(now);
    }
    if (!builder.changed) break;
  }
}

std::shared_ptr<const Facts> SymStore::MakeFacts(std::span<const ExprId> axioms) {
  auto facts = std::make_shared<Facts>();
  std::string key;
  for (const ExprId axiom : axioms) {
    if (!axiom.has_value() || type(axiom) != ExprType::kBool || axiom == impl_->true_id) continue;
    if (facts->axioms.size() == kMaxAxioms) break;  // fewer facts only prove less
    facts->axioms.push_back(axiom);
    absl::StrAppend(&key, axiom.index, ",");
  }
  if (facts->axioms.empty()) return facts;
  impl_->BuildFacts(*facts);
  std::lock_guard lock(impl_->facts_mutex);
  facts->id = impl_->facts_ids.emplace(key, impl_->facts_ids.size() + 1).first->second;
  return facts;
}

uint64_t IdOf(const Facts* facts) { return facts == nullptr ? 0 : facts->id; }
std::span<const ExprId> GivenAxioms(const Facts* facts) {
  return facts == nullptr ? std::span<const ExprId>() : facts->axioms;
}

}  // namespace tare
