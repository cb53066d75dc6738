#include "backends/tosa/symbol_origins.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

using Found = absl::FunctionRef<bool(Dim)>;

// Extents of a tensor, or a number, that are not static. Stops when `found` says so.
bool AnyDynamic(const Meta& meta, Found found) {
  const auto dynamic = [&](Dim dim) { return !dim.is_static() && found(dim); };
  if (meta.kind == MetaKind::kInt) return dynamic(meta.value);
  if (meta.kind != MetaKind::kTensor) return false;
  return std::any_of(meta.tensor.shape.begin(), meta.tensor.shape.end(), dynamic);
}

// The same of a value, which may be several results.
bool AnyDynamic(const MetaStore& metas, MetaId id, Found found) {
  if (!id.has_value()) return false;
  const Meta& meta = metas.Get(id);
  return AnyDynamic(meta, found) || std::any_of(meta.items.begin(), meta.items.end(),
                                                [&](MetaId item) { return AnyDynamic(metas.Get(item), found); });
}

}  // namespace

void SymbolOrigins::Walk() {
  walked_ = true;
  SymStore& syms = program_.context->syms;
  absl::flat_hash_set<MetaId> seen;
  for (const NodeId node : program_.main().nodes()) {
    const MetaId meta = program_.main().meta(node);
    if (!seen.insert(meta).second) continue;
    AnyDynamic(program_.context->metas, meta, [&](Dim dim) {
      for (const ExprId symbol : syms.Symbols(syms.OfDim(dim))) first_.emplace(symbol, node);
      return false;
    });
  }
}

std::string SymbolOrigins::Of(NodeId node) {
  const Graph& graph = program_.main();
  SymStore& syms = program_.context->syms;
  ExprId symbol;
  const auto first = [&](Dim dim) {
    const std::vector<ExprId> symbols = syms.Symbols(syms.OfDim(dim));
    if (!symbols.empty()) symbol = symbols[0];
    return !symbols.empty();
  };
  bool found = false;
  for (const NodeId operand : graph.operands(node))
    found = found || AnyDynamic(program_.context->metas, graph.meta(operand), first);
  if (!found && !AnyDynamic(program_.context->metas, graph.meta(node), first)) return "";
  if (!walked_) Walk();
  const auto origin = first_.find(symbol);
  if (origin == first_.end()) return "";
  const NodeId from = origin->second;
  return absl::StrCat(TextPiece(syms.name(symbol)), " comes from ", graph.op(from) == op::placeholder ? "input %" : "%",
                      TextPiece(graph.NameOf(from)));
}

}  // namespace tare
