// Rebuilding expressions: substitution, and the normal form used to compare.
#include "ir/sym_impl.h"

namespace tare {

// Bottom-up; depth is bounded by kMaxExprDepth.
ExprId SymStore::Impl::RebuildWith(ExprId id, const ExprMap& replaced, ExprMap& done) {
  if (!id.has_value()) return {};
  if (const auto it = replaced.find(id); it != replaced.end()) return it->second;
  if (const auto it = done.find(id); it != done.end()) return it->second;
  if (at(id).num_args == 0) return id;
  ExprId result = id;
  ExprList list;
  bool changed = false;
  for (const ExprId arg : args(id)) {
    list.push_back(RebuildWith(arg, replaced, done));
    if (!list.back().has_value()) return {};
    changed |= list.back() != arg;
  }
  if (changed) {
    const Expr& e = at(id);
    result = Make(e.kind, list, e.kind == ExprKind::kFloatCall ? *e.name : std::string_view());
  }
  done.emplace(id, result);
  return result;
}

std::vector<ExprId> SymStore::Impl::PostOrder(ExprId id) const {
  std::vector<ExprId> order;
  absl::flat_hash_set<ExprId> seen;
  llvm::SmallVector<std::pair<ExprId, uint32_t>, 16> stack;
  if (seen.insert(id).second) stack.push_back({id, 0});
  while (!stack.empty()) {
    auto& [e, next] = stack.back();
    if (next == at(e).num_args) {
      order.push_back(e);
      stack.pop_back();
    } else if (const ExprId arg = args(e)[next++]; seen.insert(arg).second) {
      stack.push_back({arg, 0});
    }
  }
  return order;
}

ExprId SymStore::Impl::Prune(ExprId id, std::span<const Sum> axioms) {
  if (axioms.empty()) return id;
  ExprMap done;
  for (const ExprId e : PostOrder(id)) {
    const ExprKind kind = at(e).kind;
    if ((kind != ExprKind::kMax && kind != ExprKind::kMin) || at(e).type != ExprType::kInt) continue;
    ExprList list(args(e).begin(), args(e).end());
    for (size_t i = 0; i < list.size();) {
      bool dropped = false;
      for (size_t j = 0; j < list.size() && !dropped; ++j) {
        if (i == j) continue;
        const ExprId low = kind == ExprKind::kMax ? list[i] : list[j],
                     high = kind == ExprKind::kMax ? list[j] : list[i];
        dropped = ProvenNonNegative(AddSums(ToSum(high), ScaleSum(ToSum(low), -1)), axioms);
      }
      if (dropped) {
        list.erase(list.begin() + i);
      } else {
        ++i;
      }
    }
    if (list.size() == args(e).size()) continue;
    const ExprId pruned = Rebuild(MinMax(kind, list), done);
    if (pruned.has_value()) done[e] = pruned;
  }
  return done.empty() ? id : Rebuild(id, done);
}

// Integer quotients and remainders by constants get the one numerator that all equal ones share:
// coefficients in (-k/2, k/2], the first positive, and for k = 2 an even constant, from
// (x+1)//2 = x - x//2.
ExprId SymStore::Impl::ProofForm(ExprId id) {
  if (!id.has_value()) return id;
  ExprMap done;
  for (const ExprId e : PostOrder(id)) {
    const Expr& expr = at(e);
    if (expr.type != ExprType::kInt) continue;
    if (expr.kind == ExprKind::kMod) {
      const ExprId a = Rebuild(expr.args[0], done), b = Rebuild(expr.args[1], done);
      const ExprId value = Sub(a, Mul(b, FloorDiv(a, b)));
      if (value.has_value() && value != e) done[e] = value;
      continue;
    }
    if (expr.kind != ExprKind::kFloorDiv || !IsConst(expr.args[1]) || expr.exact) continue;
    const ExprId numerator = Rebuild(expr.args[0], done);
    if (!numerator.has_value()) continue;
    const int64_t k = at(expr.args[1]).integer;
    Sum a = ToSum(numerator), outside, inside;
    for (const Term& term : a.terms) {
      int64_t rest = FloorModInt(term.coef, k);
      if (rest > k / 2) rest -= k;
      const int64_t whole = (term.coef - rest) / k;
      if (whole != 0) outside.terms.push_back({term.mono, whole});
      if (rest != 0) inside.terms.push_back({term.mono, rest});
    }
    inside.constant = a.constant;
    ExprId value;
    if (k == 2 && FloorModInt(inside.constant, 2) == 1) {
      inside.constant -= 1;
      value = Sub(FromSum(inside), FloorDivByConst(inside, 2));
    } else {
      value = FloorDivByConst(inside, k);
    }
    value = Add(FromSum(std::move(outside)), value);
    if (value.has_value() && value != e) done[e] = value;
  }
  return done.empty() ? id : Rebuild(id, done);
}

ExprId SymStore::Substitute(ExprId id, const absl::flat_hash_map<ExprId, ExprId>& replacements) {
  return impl_->Rebuild(id, replacements);
}

}  // namespace tare
