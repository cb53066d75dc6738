// The public face of SymStore: dims in and out, construction by kind, looking.
#include "ir/sym.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "ir/status.h"
#include "ir/sym_impl.h"

namespace tare {

SymStore::SymStore() : impl_(std::make_unique<Impl>()) {}
SymStore::~SymStore() = default;

ExprId SymStore::OfDim(Dim a) {
  if (!a.is_valid()) return {};
  return a.is_static() ? impl_->Int(a.value()) : a.expr();
}

Dim SymStore::ToDim(ExprId id) const {
  if (!id.has_value()) return Dim::Invalid();
  const Expr& e = impl_->at(id);
  if (e.type != ExprType::kInt) return Dim::Invalid();
  if (e.kind == ExprKind::kIntConst && e.integer >= 0) return Dim::Static(e.integer);
  return Dim::OfExpr(id);
}

Dim SymStore::Int(int64_t value) { return value >= 0 ? Dim::Static(value) : Dim::OfExpr(impl_->Int(value)); }
Dim SymStore::Symbol(const SymbolRow& row) { return ToDim(impl_->Symbol(row)); }
Dim SymStore::AddSlow(Dim a, Dim b) { return ToDim(impl_->Add(OfDim(a), OfDim(b))); }
Dim SymStore::SubSlow(Dim a, Dim b) { return ToDim(impl_->Sub(OfDim(a), OfDim(b))); }
Dim SymStore::MulSlow(Dim a, Dim b) { return ToDim(impl_->Mul(OfDim(a), OfDim(b))); }
Dim SymStore::Neg(Dim a) { return ToDim(impl_->Neg(OfDim(a))); }
Dim SymStore::Pow(Dim a, Dim b) { return ToDim(impl_->Pow(OfDim(a), OfDim(b))); }

Dim SymStore::FloorDiv(Dim a, Dim b) {
  if (a.is_static() && b.is_static() && b.value() != 0) return Dim::Static(a.value() / b.value());
  return ToDim(impl_->FloorDiv(OfDim(a), OfDim(b)));
}
Dim SymStore::Mod(Dim a, Dim b) {
  if (a.is_static() && b.is_static() && b.value() != 0) return Dim::Static(a.value() % b.value());
  return ToDim(impl_->Mod(OfDim(a), OfDim(b)));
}
Dim SymStore::CeilDiv(Dim a, Dim b) {
  if (a.is_static() && b.is_static() && b.value() != 0) {
    return Dim::Static(a.value() / b.value() + (a.value() % b.value() != 0));
  }
  return ToDim(impl_->CeilDiv(OfDim(a), OfDim(b)));
}
Dim SymStore::Max(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return a.value() >= b.value() ? a : b;
  const ExprId pair[] = {OfDim(a), OfDim(b)};
  return ToDim(impl_->MinMax(ExprKind::kMax, pair));
}
Dim SymStore::Min(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return a.value() <= b.value() ? a : b;
  const ExprId pair[] = {OfDim(a), OfDim(b)};
  return ToDim(impl_->MinMax(ExprKind::kMin, pair));
}

std::optional<int64_t> SymStore::Constant(Dim a) const {
  if (!a.is_valid()) return std::nullopt;
  if (a.is_static()) return a.value();
  const Expr& e = impl_->at(a.expr());
  if (e.kind != ExprKind::kIntConst) return std::nullopt;
  return e.integer;
}

ExprId SymStore::Float(double value) { return impl_->Float(value); }
ExprId SymStore::Bool(bool value) { return impl_->Bool(value); }
ExprId SymStore::FloatSymbol(const SymbolRow& row) { return impl_->Symbol(row); }
ExprId SymStore::Eq(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return impl_->Bool(a.value() == b.value());
  return impl_->Compare(ExprKind::kEq, OfDim(a), OfDim(b));
}
ExprId SymStore::Ne(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return impl_->Bool(a.value() != b.value());
  return impl_->Compare(ExprKind::kNe, OfDim(a), OfDim(b));
}
ExprId SymStore::Lt(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return impl_->Bool(a.value() < b.value());
  return impl_->Compare(ExprKind::kLt, OfDim(a), OfDim(b));
}
ExprId SymStore::Le(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return impl_->Bool(a.value() <= b.value());
  return impl_->Compare(ExprKind::kLe, OfDim(a), OfDim(b));
}
ExprId SymStore::Not(ExprId a) { return impl_->Not(a); }
ExprId SymStore::Make(ExprKind kind, std::span<const ExprId> args, std::string_view name) {
  return impl_->Make(kind, args, name);
}

ExprKind SymStore::kind(ExprId id) const { return impl_->at(id).kind; }
ExprType SymStore::type(ExprId id) const { return impl_->at(id).type; }
std::span<const ExprId> SymStore::args(ExprId id) const { return impl_->args(id); }
const SymbolRow& SymStore::symbol(ExprId id) const {
  TARE_CHECK(impl_->at(id).kind == ExprKind::kSymbol);
  return *impl_->at(id).symbol;
}
std::string_view SymStore::name(ExprId id) const {
  const Expr& e = impl_->at(id);
  return e.kind == ExprKind::kSymbol ? e.symbol->name : e.kind == ExprKind::kFloatCall ? *e.name : std::string_view();
}
int64_t SymStore::int_value(ExprId id) const {
  TARE_CHECK(impl_->at(id).kind == ExprKind::kIntConst);
  return impl_->at(id).integer;
}
double SymStore::float_value(ExprId id) const {
  TARE_CHECK(impl_->at(id).kind == ExprKind::kFloatConst);
  return impl_->at(id).real;
}
bool SymStore::bool_value(ExprId id) const {
  TARE_CHECK(impl_->at(id).kind == ExprKind::kBoolConst);
  return impl_->at(id).integer != 0;
}

std::vector<ExprId> SymStore::Symbols(ExprId id) const {
  std::vector<ExprId> found, stack;
  absl::flat_hash_set<ExprId> seen;
  if (id.has_value()) stack.push_back(id);
  while (!stack.empty()) {
    const ExprId e = stack.back();
    stack.pop_back();
    if (!seen.insert(e).second) continue;
    if (kind(e) == ExprKind::kSymbol) found.push_back(e);
    const std::span<const ExprId> list = args(e);
    for (size_t i = list.size(); i > 0; --i) stack.push_back(list[i - 1]);
  }
  return found;
}

ExprId SymStore::Impl::Make(ExprKind kind, std::span<const ExprId> args, std::string_view name) {
  bool any_float = false;
  for (const ExprId arg : args) {
    if (!arg.has_value()) return {};
    any_float |= at(arg).type == ExprType::kFloat;
  }
  const auto has = [&](size_t n) { return args.size() == n; };
  const auto integers = [&] {
    return std::all_of(args.begin(), args.end(), [this](ExprId e) { return at(e).type == ExprType::kInt; });
  };
  switch (kind) {
    case ExprKind::kAdd:
    case ExprKind::kMul: {
      if (args.empty()) return {};
      if (any_float) return MakeFloat(kind, args, name);
      if (!integers()) return {};
      Sum total = ToSum(args[0]);
      for (const ExprId arg : args.subspan(1)) {
        total = kind == ExprKind::kAdd ? AddSums(total, ToSum(arg)) : MulSums(total, ToSum(arg));
        if (!total.valid || total.terms.size() > kMaxExprNodes) return {};
      }
      return FromSum(std::move(total));
    }
    case ExprKind::kPow:
    case ExprKind::kFloorDiv:
    case ExprKind::kMod:
      if (!has(2)) return {};
      if (any_float) return MakeFloat(kind, args, name);
      if (!integers()) return {};
      return kind == ExprKind::kPow        ? Pow(args[0], args[1])
             : kind == ExprKind::kFloorDiv ? FloorDiv(args[0], args[1])
                                           : Mod(args[0], args[1]);
    case ExprKind::kMax:
    case ExprKind::kMin:
      if (args.empty()) return {};
      if (any_float) return MakeFloat(kind, args, name);
      return integers() ? MinMax(kind, args) : ExprId{};
    case ExprKind::kTrueDiv:
      return has(2) ? MakeFloat(kind, args, name) : ExprId{};
    case ExprKind::kToFloat:
      return has(1) ? ToFloat(args[0]) : ExprId{};
    case ExprKind::kTrunc:
    case ExprKind::kFloor:
    case ExprKind::kCeil:
    case ExprKind::kRound:
      if (!has(1)) return {};
      if (at(args[0]).type == ExprType::kInt) return args[0];
      return MakeFloat(kind, args, name);
    case ExprKind::kSqrt:
      return has(1) ? MakeFloat(kind, args, name) : ExprId{};
    case ExprKind::kFloatCall:
      if (name.empty()) return {};
      if (name == kIndicatorName) {
        return integers() && args.size() % 2 == 0 ? Intern({kind, ExprType::kInt, args, 0, nullptr, name}) : ExprId{};
      }
      return MakeFloat(kind, args, name);
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
      return has(2) ? Compare(kind, args[0], args[1]) : ExprId{};
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return AndOr(kind, args);
    case ExprKind::kNot:
      return has(1) ? Not(args[0]) : ExprId{};
    case ExprKind::kWhere:
      return has(3) ? Where(args[0], args[1], args[2]) : ExprId{};
    case ExprKind::kIntConst:
    case ExprKind::kFloatConst:
    case ExprKind::kBoolConst:
    case ExprKind::kSymbol:
      return {};
  }
  return {};
}

}  // namespace tare
