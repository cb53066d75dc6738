// Three-valued answers and simplification under facts.
#include "ir/sym_facts.h"
#include "ir/sym_impl.h"

namespace tare {
namespace {

constexpr size_t kMaxSharp = 64;  // terms for which bounds are worth a search

Tri Negate(Tri t) { return t == Tri::kYes ? Tri::kNo : t == Tri::kNo ? Tri::kYes : Tri::kUnknown; }

std::span<const Sum> AxiomsOf(const Facts* facts) {
  return facts == nullptr ? std::span<const Sum>() : std::span<const Sum>(facts->nonnegative);
}

}  // namespace

ExprId SymStore::Impl::Refined(ExprId e, const Facts* facts) {
  if (facts == nullptr || !e.has_value()) return e;
  e = Rebuild(e, facts->forward);
  return e.has_value() ? Prune(e, facts->nonnegative) : e;
}

Range SymStore::RangeOf(Dim a, const Facts* facts) const {
  if (!a.is_valid()) return {};
  if (a.is_static()) return {a.value(), a.value()};
  Impl& impl = *impl_;
  const ExprId e = impl.Refined(a.expr(), facts);
  if (!e.has_value()) return impl.at(a.expr()).range;
  const Sum sum = impl.ToSum(e);
  Range range = impl.at(e).range;
  if (sum.terms.size() > kMaxSharp || impl.at(e).kind == ExprKind::kIntConst) return range;
  range.min = std::max(range.min, impl.LowerBound(sum, AxiomsOf(facts), INT64_MAX));
  const Sum minus = impl.ScaleSum(sum, -1);
  const int64_t high = minus.valid ? impl.LowerBound(minus, AxiomsOf(facts), INT64_MAX) : INT64_MIN;
  if (high != INT64_MIN) range.max = std::min(range.max, -high);
  return range;
}

Tri SymStore::Impl::ProveRefined(ExprId e, const Facts* facts) {
  const Expr& expr = at(e);
  if (expr.kind == ExprKind::kBoolConst) return expr.integer != 0 ? Tri::kYes : Tri::kNo;
  if (facts != nullptr) {
    if (facts->known.contains(e)) return Tri::kYes;
    if (!facts->known.empty() && facts->known.contains(Not(e))) return Tri::kNo;
  }
  switch (expr.kind) {
    case ExprKind::kEq:
      return ProveEqual(expr.args[0], expr.args[1], facts);
    case ExprKind::kNe:
      return Negate(ProveEqual(expr.args[0], expr.args[1], facts));
    case ExprKind::kLe:
    case ExprKind::kLt:
      return ProveCompare(expr.kind, expr.args[0], expr.args[1], AxiomsOf(facts));
    case ExprKind::kNot:
      return Negate(ProveRefined(expr.args[0], facts));
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      const Tri decisive = expr.kind == ExprKind::kAnd ? Tri::kNo : Tri::kYes;
      Tri all = Negate(decisive);
      for (const ExprId arg : args(e)) {
        const Tri one = ProveRefined(arg, facts);
        if (one == decisive) return one;
        if (one == Tri::kUnknown) all = one;
      }
      return all;
    }
    default:
      return Tri::kUnknown;
  }
}

Tri SymStore::Impl::ProveEqual(ExprId a, ExprId b, const Facts* facts) {
  if (!a.has_value() || !b.has_value()) return Tri::kUnknown;
  if (a == b) return Tri::kYes;
  if (at(a).type != ExprType::kInt || at(b).type != ExprType::kInt) return Tri::kUnknown;
  const ExprId difference = ProofForm(Sub(a, b));
  if (difference.has_value()) {
    if (IsConst(difference)) return at(difference).integer == 0 ? Tri::kYes : Tri::kNo;
    // Terms with a common factor cannot make up for a constant without it.
    const Sum sum = ToSum(difference);
    int64_t content = 0;
    for (const Term& term : sum.terms) content = Gcd(content, DivisorOf(term));
    if (content > 1 && sum.constant % content != 0) return Tri::kNo;
    if (const Tri t = ProveCompare(ExprKind::kEq, difference, zero_id, AxiomsOf(facts)); t != Tri::kUnknown) return t;
  }
  return ProveCompare(ExprKind::kEq, a, b, AxiomsOf(facts));
}

Tri SymStore::Prove(ExprId boolean, const Facts* facts) {
  if (!boolean.has_value()) return Tri::kUnknown;
  if (boolean == impl_->Bool(true)) return Tri::kYes;
  if (boolean == impl_->Bool(false)) return Tri::kNo;
  const ExprId e = impl_->Refined(boolean, facts);
  return e.has_value() ? impl_->ProveRefined(e, facts) : Tri::kUnknown;
}

Tri SymStore::EqualSlow(Dim a, Dim b, const Facts* facts) {
  return impl_->ProveEqual(impl_->Refined(OfDim(a), facts), impl_->Refined(OfDim(b), facts), facts);
}

Tri SymStore::Less(Dim a, Dim b, const Facts* facts) {
  if (a.is_static() && b.is_static()) return a.value() < b.value() ? Tri::kYes : Tri::kNo;
  return Prove(Lt(a, b), facts);
}

Tri SymStore::LessEqual(Dim a, Dim b, const Facts* facts) {
  if (a.is_static() && b.is_static()) return a.value() <= b.value() ? Tri::kYes : Tri::kNo;
  return Prove(Le(a, b), facts);
}

ExprId SymStore::SimplifyExpr(ExprId a, const Facts* facts) {
  if (facts == nullptr || !a.has_value()) return a;
  const ExprId e = impl_->Refined(a, facts);
  if (!e.has_value()) return a;
  const ExprId back = impl_->Rebuild(e, facts->backward);
  return back.has_value() ? back : a;
}

Dim SymStore::Simplify(Dim a, const Facts* facts) {
  if (a.is_static() || !a.is_valid() || facts == nullptr) return a;
  return ToDim(SimplifyExpr(a.expr(), facts));
}

}  // namespace tare
