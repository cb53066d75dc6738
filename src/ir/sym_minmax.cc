// Maximum and minimum: flat, sorted, without arguments that can never win.
#include <algorithm>

#include "ir/sym_impl.h"

namespace tare {
namespace {
constexpr size_t kMaxPairwise = 24;  // arguments compared with each other
}

ExprId SymStore::Impl::MinMax(ExprKind kind, std::span<const ExprId> given) {
  const bool is_max = kind == ExprKind::kMax;
  ExprList list;
  std::optional<int64_t> constant;
  const auto take = [&](ExprId e) {
    if (!IsConst(e)) {
      list.push_back(e);
    } else if (const int64_t v = at(e).integer; !constant.has_value() || (is_max ? v > *constant : v < *constant)) {
      constant = v;
    }
  };
  for (const ExprId arg : given) {
    if (!arg.has_value()) return {};
    if (at(arg).kind == kind) {
      for (const ExprId inner : args(arg)) take(inner);
    } else {
      take(arg);
    }
  }
  SortUnique(list);
  if (constant.has_value()) list.insert(list.begin(), Int(*constant));
  if (list.size() <= kMaxPairwise) {
    // Drop what is never better than another one that stays.
    for (size_t i = 0; i < list.size();) {
      bool dropped = false;
      for (size_t j = 0; j < list.size() && !dropped; ++j) {
        if (i == j) continue;
        dropped = is_max ? ProvenLessEqual(list[i], list[j]) : ProvenLessEqual(list[j], list[i]);
      }
      if (dropped) {
        list.erase(list.begin() + i);
      } else {
        ++i;
      }
    }
  }
  if (list.size() == 1) return list[0];
  // max(4*a, 4*b) = 4*max(a, b)
  int64_t common = 0;
  for (const ExprId e : list) {
    const Sum sum = ToSum(e);
    common = Gcd(common, sum.constant);
    for (const Term& term : sum.terms) common = Gcd(common, term.coef);
  }
  if (common > 1) {
    for (ExprId& e : list) {
      Sum sum = ToSum(e);
      sum.constant /= common;
      for (Term& term : sum.terms) term.coef /= common;
      e = FromSum(std::move(sum));
      if (!e.has_value()) return {};
    }
    return Mul(Int(common), MinMax(kind, list));
  }
  return Intern({kind, ExprType::kInt, list});
}

}  // namespace tare
