// Exact quotients: s // 4 of a symbol known to be a multiple of 8 is s/4, and 4*(s//4) is s.
//
// A mono with such factors is written as (p/q) * mono of symbols; the canonical form divides the
// symbols from left to right by what their divisors allow. So equal rational values meet.
#include <algorithm>

#include "ir/sym_impl.h"

namespace tare {

// Splits `factor` = root^exponent / den^exponent, root a symbol with a divisor when it is exact.
SymStore::Impl::ExactFactor SymStore::Impl::SplitExact(ExprId factor) const {
  const auto [atom, exponent] = PowerOf(factor);
  const Expr& e = at(atom);
  if (e.kind == ExprKind::kFloorDiv && e.exact) return {e.args[0], exponent, at(e.args[1]).integer};
  return {atom, exponent, 1};
}

// num/den times a product of roots, as a term; no value when the quotient is not exact.
Term SymStore::Impl::ExactProduct(llvm::ArrayRef<ExactFactor> roots, int64_t num, int64_t den) {
  const int64_t common = Gcd(num, den);
  num /= common;
  den /= common;
  ExprId mono = one_id;
  for (const ExactFactor& root : roots) {
    const Expr& e = at(root.root);
    int64_t left = root.exponent;
    const int64_t divisor = e.kind == ExprKind::kSymbol ? e.symbol->divisor : 1;
    while (left > 0 && den > 1) {
      const int64_t part = Gcd(den, divisor);
      if (part == 1) break;
      // As many powers at once as divide by the same part.
      int64_t count = 0, rest = den;
      while (count < left && rest % part == 0 && Gcd(rest, divisor) == part) rest /= part, ++count;
      const ExprId pair[] = {root.root, Int(part)};
      const ExprId quotient = Intern({ExprKind::kFloorDiv, ExprType::kInt, pair});
      const ExprId power = quotient.has_value() ? MakePower(quotient, count) : quotient;
      if (!power.has_value()) return {};
      mono = IsConst(mono) ? power : MulMono(mono, power);
      if (!mono.has_value()) return {};
      den = rest;
      left -= count;
    }
    if (left == 0) continue;
    const ExprId power = MakePower(root.root, left);
    if (!power.has_value()) return {};
    mono = IsConst(mono) ? power : MulMono(mono, power);
    if (!mono.has_value()) return {};
  }
  if (den != 1) return {};
  return {mono, num};
}

bool SymStore::Impl::ExactRoots(ExprId mono, llvm::SmallVectorImpl<ExactFactor>& roots, int64_t& den) const {
  for (const ExprId factor : Factors(mono)) {
    const ExactFactor part = SplitExact(factor);
    for (int64_t i = 0; i < part.exponent && part.den > 1; ++i) {
      if (!MulTo(den, part.den)) return false;
    }
    const auto same =
        std::find_if(roots.begin(), roots.end(), [&](const ExactFactor& r) { return r.root == part.root; });
    if (same != roots.end()) {
      if (!AddTo(same->exponent, part.exponent)) return false;
    } else {
      roots.push_back({part.root, part.exponent, 1});
    }
  }
  std::sort(roots.begin(), roots.end(),
            [this](const ExactFactor& a, const ExactFactor& b) { return Compare(a.root, b.root) < 0; });
  return true;
}

bool SymStore::Impl::NormalizeExact(Sum& sum) {
  struct Group {
    ExprId key;  // product of the roots
    llvm::SmallVector<ExactFactor, 4> roots;
    __int128 num;
    int64_t den;
  };
  llvm::SmallVector<Group, 4> groups;
  Sum result;
  result.constant = sum.constant;
  for (const Term& term : sum.terms) {
    if (!at(term.mono).exact) {
      result.terms.push_back(term);
      continue;
    }
    Group group{one_id, {}, term.coef, 1};
    if (!ExactRoots(term.mono, group.roots, group.den)) return false;
    for (const ExactFactor& root : group.roots) {
      const ExprId power = MakePower(root.root, root.exponent);
      if (!power.has_value()) return false;
      group.key = IsConst(group.key) ? power : MulMono(group.key, power);
      if (!group.key.has_value()) return false;
    }
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.key == group.key; });
    if (same == groups.end()) {
      groups.push_back(std::move(group));
      continue;
    }
    // a/b + c/d over the least common denominator
    int64_t den = same->den / Gcd(same->den, group.den);
    if (!MulTo(den, group.den)) return false;
    same->num = same->num * (den / same->den) + group.num * (den / group.den);
    same->den = den;
    if (same->num > INT64_MAX || same->num < -INT64_MAX) return false;
  }
  for (const Group& group : groups) {
    if (group.num == 0) continue;
    const Term term = ExactProduct(group.roots, static_cast<int64_t>(group.num), group.den);
    if (!term.mono.has_value()) return false;
    result.terms.push_back(term);
  }
  CollectTerms(result);
  sum = std::move(result);
  return sum.valid;
}

int64_t SymStore::Impl::DivisorOf(const Term& term) const {
  int64_t divisor = at(term.mono).divisor;
  return MulTo(divisor, term.coef) && divisor != INT64_MIN ? std::abs(divisor) : Gcd(term.coef, 0);
}

Term SymStore::Impl::ExactQuotient(const Term& term, int64_t k) {
  if (term.coef % k == 0) return {term.mono, term.coef / k};
  llvm::SmallVector<ExactFactor, 4> roots;
  int64_t den = 1;
  if (!ExactRoots(term.mono, roots, den) || !MulTo(den, k)) return {};
  return ExactProduct(roots, term.coef, den);
}

}  // namespace tare
