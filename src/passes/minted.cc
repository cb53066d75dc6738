#include "passes/minted.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {
namespace {

constexpr int kMaxNesting = 64;  // of tuples and lists; deeper ones keep the derived symbols

class Renaming {
 public:
  explicit Renaming(Context& context) : context_(context) {}

  // Visits every expression of a record.
  template <typename Visit>
  void ForEach(MetaId id, int depth, Visit visit) {
    if (!id.has_value() || depth > kMaxNesting) return;
    const Meta& meta = context_.metas.Get(id);
    switch (meta.kind) {
      case MetaKind::kTensor:
        for (const Dim dim : meta.tensor.shape) VisitDim(dim, visit);
        for (const Dim dim : meta.tensor.strides) VisitDim(dim, visit);
        VisitDim(meta.tensor.offset, visit);
        return;
      case MetaKind::kInt:
        return VisitDim(meta.value, visit);
      case MetaKind::kFloat:
      case MetaKind::kBool:
        if (meta.expr.has_value()) visit(meta.expr);
        return;
      default:
        for (const MetaId item : meta.items) ForEach(item, depth + 1, visit);
    }
  }

  void Keep(MetaId operand) {
    ForEach(operand, 0, [&](ExprId expr) {
      for (const ExprId symbol : context_.syms.Symbols(expr)) stands_for_[symbol] = symbol;
    });
  }

  // Pairs the expressions of both records in order; pairs of plain unbacked symbols are renamings.
  void Match(MetaId old, MetaId derived) {
    std::vector<ExprId> from, to;
    ForEach(derived, 0, [&](ExprId expr) { from.push_back(expr); });
    ForEach(old, 0, [&](ExprId expr) { to.push_back(expr); });
    if (from.size() != to.size()) return;
    for (size_t i = 0; i < from.size(); ++i)
      if (IsUnbacked(from[i]) && IsUnbacked(to[i])) stands_for_.try_emplace(from[i], to[i]);
  }

  MetaId Rename(MetaId id, int depth) {
    if (!id.has_value() || depth > kMaxNesting) return id;
    Meta meta = context_.metas.Get(id);
    llvm::SmallVector<Dim, 8> shape, strides;
    llvm::SmallVector<MetaId, 8> items;
    switch (meta.kind) {
      case MetaKind::kTensor:
        for (const Dim dim : meta.tensor.shape) shape.push_back(Rename(dim));
        for (const Dim dim : meta.tensor.strides) strides.push_back(Rename(dim));
        meta.tensor.shape = shape;
        meta.tensor.strides = strides;
        meta.tensor.offset = Rename(meta.tensor.offset);
        break;
      case MetaKind::kInt:
        meta.value = Rename(meta.value);
        break;
      case MetaKind::kFloat:
      case MetaKind::kBool:
        if (meta.expr.has_value()) meta.expr = context_.syms.Substitute(meta.expr, stands_for_);
        break;
      default:
        for (const MetaId item : meta.items) items.push_back(Rename(item, depth + 1));
        meta.items = items;
    }
    return context_.metas.Intern(meta);
  }

 private:
  template <typename Visit>
  void VisitDim(Dim dim, Visit& visit) {
    if (!dim.is_static() && dim.is_valid()) visit(dim.expr());
  }
  Dim Rename(Dim dim) {
    if (dim.is_static() || !dim.is_valid()) return dim;
    return context_.syms.ToDim(context_.syms.Substitute(dim.expr(), stands_for_));
  }
  bool IsUnbacked(ExprId expr) const {
    if (context_.syms.kind(expr) != ExprKind::kSymbol) return false;
    const SymbolKind kind = context_.syms.symbol(expr).kind;
    return kind == SymbolKind::kUnbacked || kind == SymbolKind::kUnbackedFloat;
  }

  Context& context_;
  absl::flat_hash_map<ExprId, ExprId> stands_for_;
};

}  // namespace

MetaId KeepMintedSymbols(Context& context, MetaId old, MetaId derived, std::span<const MetaId> operands) {
  if (!old.has_value() || old == derived) return derived;
  Renaming renaming(context);
  for (const MetaId operand : operands) renaming.Keep(operand);
  renaming.Match(old, derived);
  return renaming.Rename(derived, 0);
}

}  // namespace tare
