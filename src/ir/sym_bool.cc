// Comparisons and logic. Comparisons of integers are `0 <= sum`, `0 == sum`, `0 != sum` in lowest
// terms, printed with the positive terms on one side: equal conditions meet in one id.
#include <algorithm>

#include "ir/sym_impl.h"

namespace tare {
namespace {

int64_t ContentOf(const Sum& sum) {
  int64_t content = 0;
  for (const Term& term : sum.terms) content = Gcd(content, term.coef);
  return content;
}

}  // namespace

// Integers: kLt becomes kLe. The sides are what is positive and what is negative of b - a.
ExprId SymStore::Impl::Compare(ExprKind kind, ExprId a, ExprId b) {
  if (!a.has_value() || !b.has_value()) return {};
  const ExprType type =
      at(a).type == ExprType::kFloat || at(b).type == ExprType::kFloat ? ExprType::kFloat : at(a).type;
  if (type != ExprType::kInt) return CompareOther(kind, a, b);
  Sum sum = AddSums(ToSum(b), ScaleSum(ToSum(a), -1));
  if (kind == ExprKind::kLt) {
    if (!sum.valid || !AddTo(sum.constant, -1)) return {};
    kind = ExprKind::kLe;
  }
  if (!sum.valid) return {};
  const bool is_equality = kind != ExprKind::kLe;
  if (const int64_t content = ContentOf(sum); content > 1) {
    if (is_equality && sum.constant % content != 0) return Bool(kind == ExprKind::kNe);
    for (Term& term : sum.terms) term.coef /= content;
    sum.constant = FloorDivInt(sum.constant, content);
  }
  if (is_equality && !sum.terms.empty() && sum.terms[0].coef > 0) sum = ScaleSum(std::move(sum), -1);
  if (!sum.valid) return {};
  const Range range = IntervalOf(sum);
  if (kind == ExprKind::kLe) {
    if (range.min >= 0) return true_id;
    if (range.max < 0) return false_id;
  } else {
    if (range.min > 0 || range.max < 0) return Bool(kind == ExprKind::kNe);
    if (range.min == 0 && range.max == 0) return Bool(kind == ExprKind::kEq);
  }
  Sum left, right;
  for (const Term& term : sum.terms) {
    if (term.coef > 0) {
      right.terms.push_back(term);
    } else {
      if (term.coef == INT64_MIN) return {};
      left.terms.push_back({term.mono, -term.coef});
    }
  }
  if (sum.constant > 0) right.constant = sum.constant;
  if (sum.constant < 0) {
    if (sum.constant == INT64_MIN) return {};
    left.constant = -sum.constant;
  }
  const ExprId sides[] = {FromSum(std::move(left)), FromSum(std::move(right))};
  return Intern({kind, ExprType::kBool, sides});
}

// Floats and booleans keep their sides.
ExprId SymStore::Impl::CompareOther(ExprKind kind, ExprId a, ExprId b) {
  if (at(a).type == ExprType::kBool || at(b).type == ExprType::kBool) {
    if (at(a).type != at(b).type || kind == ExprKind::kLt || kind == ExprKind::kLe) return {};
    const bool same = kind == ExprKind::kEq;
    if (a == b) return Bool(same);
    if (at(a).kind == ExprKind::kBoolConst) std::swap(a, b);
    if (at(b).kind == ExprKind::kBoolConst) return (at(b).integer != 0) == same ? a : Not(a);
  } else {
    a = ToFloat(a);
    b = ToFloat(b);
    if (!a.has_value() || !b.has_value()) return {};
    if (at(a).kind == ExprKind::kFloatConst && at(b).kind == ExprKind::kFloatConst) {
      const double x = at(a).real, y = at(b).real;
      return Bool(kind == ExprKind::kEq   ? x == y
                  : kind == ExprKind::kNe ? x != y
                  : kind == ExprKind::kLt ? x < y
                                          : x <= y);
    }
  }
  const bool symmetric = kind == ExprKind::kEq || kind == ExprKind::kNe;
  if (symmetric && Compare(a, b) > 0) std::swap(a, b);
  const ExprId sides[] = {a, b};
  return Intern({kind, ExprType::kBool, sides});
}

ExprId SymStore::Impl::Not(ExprId a) {
  if (!a.has_value() || at(a).type != ExprType::kBool) return {};
  const Expr& e = at(a);
  switch (e.kind) {
    case ExprKind::kBoolConst:
      return Bool(e.integer == 0);
    case ExprKind::kNot:
      return e.args[0];
    case ExprKind::kEq:
      return Compare(ExprKind::kNe, e.args[0], e.args[1]);
    case ExprKind::kNe:
      return Compare(ExprKind::kEq, e.args[0], e.args[1]);
    case ExprKind::kLe:
      if (at(e.args[0]).type == ExprType::kInt) return Compare(ExprKind::kLt, e.args[1], e.args[0]);
      break;  // of floats: NaN
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      ExprList list;
      for (const ExprId arg : args(a)) list.push_back(Not(arg));
      return AndOr(e.kind == ExprKind::kAnd ? ExprKind::kOr : ExprKind::kAnd, list);
    }
    default:
      break;
  }
  return Intern({ExprKind::kNot, ExprType::kBool, {&a, 1}});
}

ExprId SymStore::Impl::AndOr(ExprKind kind, std::span<const ExprId> given) {
  const ExprId neutral = Bool(kind == ExprKind::kAnd), absorbing = Bool(kind == ExprKind::kOr);
  ExprList list;
  for (const ExprId arg : given) {
    if (!arg.has_value() || at(arg).type != ExprType::kBool) return {};
    if (arg == absorbing) return absorbing;
    if (arg == neutral) continue;
    if (at(arg).kind == kind) {
      list.append(args(arg).begin(), args(arg).end());
    } else {
      list.push_back(arg);
    }
  }
  if (list.size() > kMaxExprNodes) return {};
  SortUnique(list);
  for (const ExprId arg : list) {
    const ExprId opposite = Not(arg);
    if (std::find(list.begin(), list.end(), opposite) != list.end()) return absorbing;
  }
  if (list.empty()) return neutral;
  if (list.size() == 1) return list[0];
  return Intern({kind, ExprType::kBool, list});
}

ExprId SymStore::Impl::Where(ExprId condition, ExprId yes, ExprId no) {
  if (!condition.has_value() || !yes.has_value() || !no.has_value()) return {};
  if (at(condition).type != ExprType::kBool) return {};
  if (at(yes).type != at(no).type) {
    if (at(yes).type == ExprType::kBool || at(no).type == ExprType::kBool) return {};
    yes = ToFloat(yes);
    no = ToFloat(no);
    if (!yes.has_value() || !no.has_value()) return {};
  }
  if (at(condition).kind == ExprKind::kBoolConst) return condition == true_id ? yes : no;
  if (yes == no) return yes;
  const ExprId list[] = {condition, yes, no};
  return Intern({ExprKind::kWhere, at(yes).type, list});
}

}  // namespace tare
