// Sums and products: polynomials with integer coefficients over atoms, expanded, in one order.
#include <algorithm>

#include "ir/sym_impl.h"

namespace tare {
namespace {

constexpr size_t kMaxPairs = 4096;  // of terms multiplied in one product
constexpr int64_t kMaxSumPower = 64;

Sum Invalid() {
  Sum sum;
  sum.valid = false;
  return sum;
}

}  // namespace

int64_t FloorDivInt(int64_t a, int64_t b) {
  if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t FloorModInt(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int64_t Gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? -static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? -static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  while (y != 0) x = std::exchange(y, x % y);
  return x > INT64_MAX ? 1 : static_cast<int64_t>(x);
}

std::span<const ExprId> SymStore::Impl::Factors(const ExprId& mono) const {
  const Expr& e = at(mono);
  if (e.kind == ExprKind::kMul) return {e.args, e.num_args};
  return {&mono, 1};
}

Term SymStore::Impl::TermOf(ExprId e) const {
  const Expr& expr = at(e);
  if (expr.kind == ExprKind::kMul && expr.base.has_value()) return {expr.base, at(expr.args[0]).integer};
  return {e, 1};
}

Sum SymStore::Impl::ToSum(ExprId e) const {
  Sum sum;
  if (!e.has_value()) return Invalid();
  const Expr& expr = at(e);
  if (expr.kind == ExprKind::kIntConst) {
    sum.constant = expr.integer;
  } else if (expr.kind == ExprKind::kAdd) {
    for (const ExprId arg : args(e)) {
      if (IsConst(arg)) {
        sum.constant = at(arg).integer;
      } else {
        sum.terms.push_back(TermOf(arg));
      }
    }
  } else {
    sum.terms.push_back(TermOf(e));
  }
  return sum;
}

ExprId SymStore::Impl::ScaleMono(ExprId mono, int64_t coef) {
  if (coef == 0 || !mono.has_value()) return coef == 0 ? zero_id : ExprId{};
  if (coef == 1) return mono;
  ExprList list;
  list.push_back(Int(coef));
  const std::span<const ExprId> factors = Factors(mono);
  list.append(factors.begin(), factors.end());
  return Intern({ExprKind::kMul, ExprType::kInt, list});
}

ExprId SymStore::Impl::FromSum(Sum sum) {
  if (!sum.valid) return {};
  const bool exact =
      std::any_of(sum.terms.begin(), sum.terms.end(), [this](const Term& t) { return at(t.mono).exact; });
  if (exact && !NormalizeExact(sum)) return {};
  if (sum.terms.empty()) return Int(sum.constant);
  if (sum.terms.size() == 1 && sum.constant == 0) return ScaleMono(sum.terms[0].mono, sum.terms[0].coef);
  if (sum.terms.size() > kMaxExprNodes) return {};
  ExprList list;
  for (const Term& term : sum.terms) list.push_back(ScaleMono(term.mono, term.coef));
  if (sum.constant != 0) list.push_back(Int(sum.constant));
  return Intern({ExprKind::kAdd, ExprType::kInt, list});
}

Sum SymStore::Impl::AddSums(const Sum& a, const Sum& b) const {
  if (!a.valid || !b.valid) return Invalid();
  Sum sum;
  sum.constant = a.constant;
  if (!AddTo(sum.constant, b.constant)) return Invalid();
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const int c = i == a.terms.size() ? 1 : j == b.terms.size() ? -1 : Compare(a.terms[i].mono, b.terms[j].mono);
    if (c != 0) {
      sum.terms.push_back(c < 0 ? a.terms[i++] : b.terms[j++]);
      continue;
    }
    Term term = a.terms[i++];
    if (!AddTo(term.coef, b.terms[j++].coef)) return Invalid();
    if (term.coef != 0) sum.terms.push_back(term);
  }
  return sum;
}

Sum SymStore::Impl::ScaleSum(Sum a, int64_t factor) const {
  if (factor == 0 && a.valid) return {};
  if (!a.valid || !MulTo(a.constant, factor)) return Invalid();
  for (Term& term : a.terms) {
    if (!MulTo(term.coef, factor)) return Invalid();
  }
  return a;
}

// Sorts terms and adds up those of one mono.
void SymStore::Impl::CollectTerms(Sum& sum) const {
  std::sort(sum.terms.begin(), sum.terms.end(),
            [this](const Term& a, const Term& b) { return Compare(a.mono, b.mono) < 0; });
  size_t out = 0;
  for (size_t i = 0; i < sum.terms.size();) {
    Term term = sum.terms[i++];
    while (i < sum.terms.size() && sum.terms[i].mono == term.mono) {
      if (!AddTo(term.coef, sum.terms[i++].coef)) sum.valid = false;
    }
    if (term.coef != 0) sum.terms[out++] = term;
  }
  sum.terms.truncate(out);
}

Sum SymStore::Impl::MulSums(const Sum& a, const Sum& b) {
  if (!a.valid || !b.valid) return Invalid();
  if (a.terms.empty()) return ScaleSum(b, a.constant);
  if (b.terms.empty()) return ScaleSum(a, b.constant);
  if (a.terms.size() * b.terms.size() > kMaxPairs) return Invalid();
  Sum sum;
  sum.constant = a.constant;
  if (!MulTo(sum.constant, b.constant)) return Invalid();
  const auto scaled = [&sum](const Sum& terms, int64_t factor) {
    if (factor == 0) return true;
    for (Term term : terms.terms) {
      if (!MulTo(term.coef, factor)) return false;
      sum.terms.push_back(term);
    }
    return true;
  };
  if (!scaled(a, b.constant) || !scaled(b, a.constant)) return Invalid();
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      Term term{MulMono(x.mono, y.mono), x.coef};
      if (!term.mono.has_value() || !MulTo(term.coef, y.coef)) return Invalid();
      sum.terms.push_back(term);
    }
  }
  CollectTerms(sum);
  return sum;
}

std::pair<ExprId, int64_t> SymStore::Impl::PowerOf(ExprId factor) const {
  const Expr& e = at(factor);
  if (e.kind == ExprKind::kPow && IsConst(e.args[1])) return {e.args[0], at(e.args[1]).integer};
  return {factor, 1};
}

ExprId SymStore::Impl::MakePower(ExprId atom, int64_t exponent) {
  if (exponent == 0) return one_id;
  if (exponent == 1) return atom;
  const ExprId list[] = {atom, Int(exponent)};
  return Intern({ExprKind::kPow, ExprType::kInt, list});
}

ExprId SymStore::Impl::MonoOf(const ExprList& factors) {
  if (factors.empty()) return one_id;
  if (factors.size() == 1) return factors[0];
  return Intern({ExprKind::kMul, ExprType::kInt, factors});
}

ExprId SymStore::Impl::MulMono(ExprId a, ExprId b) {
  const std::span<const ExprId> x = Factors(a), y = Factors(b);
  ExprList list;
  size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    if (i == x.size() || j == y.size()) {
      list.push_back(i == x.size() ? y[j++] : x[i++]);
      continue;
    }
    const auto [atom_x, exponent_x] = PowerOf(x[i]);
    const auto [atom_y, exponent_y] = PowerOf(y[j]);
    if (atom_x == atom_y) {
      int64_t exponent = exponent_x;
      if (!AddTo(exponent, exponent_y)) return {};
      list.push_back(MakePower(atom_x, exponent));
      if (!list.back().has_value()) return {};
      ++i, ++j;
    } else {
      list.push_back(Compare(atom_x, atom_y) < 0 ? x[i++] : y[j++]);
    }
  }
  return MonoOf(list);
}

ExprId SymStore::Impl::Add(ExprId a, ExprId b) { return FromSum(AddSums(ToSum(a), ToSum(b))); }
ExprId SymStore::Impl::Sub(ExprId a, ExprId b) { return FromSum(AddSums(ToSum(a), ScaleSum(ToSum(b), -1))); }
ExprId SymStore::Impl::Mul(ExprId a, ExprId b) { return FromSum(MulSums(ToSum(a), ToSum(b))); }
ExprId SymStore::Impl::Neg(ExprId a) { return FromSum(ScaleSum(ToSum(a), -1)); }

ExprId SymStore::Impl::Pow(ExprId a, ExprId b) {
  if (!a.has_value() || !b.has_value()) return {};
  if (!IsConst(b)) {
    if (IsConst(a, 1)) return one_id;
    const ExprId list[] = {a, b};
    return at(b).range.min < 0 ? ExprId{} : Intern({ExprKind::kPow, ExprType::kInt, list});
  }
  const int64_t exponent = at(b).integer;
  if (exponent < 0) return {};
  if (exponent == 0) return one_id;
  if (exponent == 1 || IsConst(a, 0) || IsConst(a, 1)) return a;
  if (IsConst(a, -1)) return exponent % 2 == 0 ? one_id : a;
  const Expr& base = at(a);
  const bool is_atom = base.kind != ExprKind::kAdd && base.kind != ExprKind::kMul && base.kind != ExprKind::kPow &&
                       base.kind != ExprKind::kIntConst;
  if (is_atom && !base.exact) return MakePower(a, exponent);
  if (exponent > kMaxSumPower) return {};
  Sum power, square = ToSum(a);
  power.constant = 1;
  for (int64_t rest = exponent; rest > 0; rest /= 2) {
    if (rest % 2 != 0) power = MulSums(power, square);
    if (rest > 1) square = MulSums(square, square);
    if (!power.valid || !square.valid) return {};
  }
  return FromSum(std::move(power));
}

}  // namespace tare
