#include "absl/container/flat_hash_set.h"
#include "ir/status.h"
#include "ir/text_parts.h"

namespace tare {
namespace {

constexpr std::string_view kKindNames[] = {"backed", "unbacked", "float", "unbacked_float"};  // SymbolKind

// Symbols in order of first appearance.
class SymbolList {
 public:
  explicit SymbolList(const Context& context) : context_(context) {}

  void AddMeta(MetaId id) {
    if (!id.has_value()) return;
    pending_.assign(1, id);
    while (!pending_.empty()) {
      const MetaId next = pending_.back();
      pending_.pop_back();
      if (!seen_metas_.insert(next).second) continue;
      const Meta& meta = context_.metas.Get(next);
      if (meta.kind == MetaKind::kTensor) {
        for (const Dim dim : meta.tensor.shape) AddDim(dim);
        for (const Dim dim : meta.tensor.strides) AddDim(dim);
        AddDim(meta.tensor.offset);
      } else if (meta.kind == MetaKind::kInt) {
        AddDim(meta.value);
      } else if (meta.kind == MetaKind::kFloat || meta.kind == MetaKind::kBool) {
        if (meta.expr.has_value()) AddExpr(meta.expr);
      }
      pending_.insert(pending_.end(), meta.items.rbegin(), meta.items.rend());
    }
  }

  std::vector<ExprId> symbols;

 private:
  void AddDim(Dim dim) {
    if (!dim.is_static() && dim.is_valid()) AddExpr(dim.expr());
  }
  void AddExpr(ExprId expr) {
    if (!seen_exprs_.insert(expr).second) return;
    for (const ExprId symbol : context_.syms.Symbols(expr)) {
      // Two symbols of one name are one to a reader of the text.
      if (seen_names_.insert(context_.syms.symbol(symbol).name).second) symbols.push_back(symbol);
    }
  }

  const Context& context_;
  absl::flat_hash_set<MetaId> seen_metas_;
  absl::flat_hash_set<ExprId> seen_exprs_;
  absl::flat_hash_set<std::string_view> seen_names_;
  std::vector<MetaId> pending_;
};

std::string PrintBound(int64_t bound) { return bound == INT64_MIN ? "-inf" : bound == INT64_MAX ? "inf" : Cat(bound); }

absl::StatusOr<int64_t> ReadBound(Cursor& cursor) {
  if (cursor.Take("-inf")) return INT64_MIN;
  if (cursor.TakeWord("inf")) return INT64_MAX;
  return cursor.Integer();
}

void PrintRow(const SymbolRow& row, std::string& out) {
  const SymbolRow usual = TextSymbols::DefaultRow(row.name);
  const bool kind = row.kind != usual.kind, range = row.min != usual.min || row.max != usual.max;
  if (!kind && !range && row.divisor == 1 && !row.hint) return;
  CatTo(out, out.empty() ? "symbols {\n" : "", "  ", QuoteUnlessWord(row.name));
  if (kind) CatTo(out, " ", kKindNames[static_cast<size_t>(row.kind)]);
  if (range) CatTo(out, " in [", PrintBound(row.min), ",", PrintBound(row.max), "]");
  if (row.divisor != 1) CatTo(out, " % ", row.divisor);
  if (row.hint) CatTo(out, " hint ", *row.hint);
  out += '\n';
}

}  // namespace

void PrintSymbols(const Context& context, const Program& program, std::string& out) {
  SymbolList list(context);
  for (const Constant& constant : program.constants) list.AddMeta(constant.meta);
  for (const ProgramGraph& body : program.graphs) {
    for (const NodeId node : body.graph.nodes()) list.AddMeta(body.graph.meta(node));
  }
  std::string block;
  for (const ExprId symbol : list.symbols) PrintRow(context.syms.symbol(symbol), block);
  if (!block.empty()) CatTo(out, block, "}\n");
}

absl::Status ReadSymbols(Cursor& cursor, TextSymbols& symbols) {
  TARE_RETURN_IF_ERROR(cursor.Expect("{"));
  while (!cursor.Take("}")) {
    const size_t start = cursor.offset();
    TARE_ASSIGN_OR_RETURN(const std::string name, cursor.WordOrQuoted("the name of a symbol"));
    SymbolRow row = TextSymbols::DefaultRow(name);
    for (size_t kind = 0; kind < std::size(kKindNames); ++kind) {
      if (cursor.TakeWord(kKindNames[kind])) row.kind = static_cast<SymbolKind>(kind);
    }
    if (cursor.TakeWord("in")) {
      TARE_RETURN_IF_ERROR(cursor.Expect("["));
      TARE_ASSIGN_OR_RETURN(row.min, ReadBound(cursor));
      TARE_RETURN_IF_ERROR(cursor.Expect(","));
      TARE_ASSIGN_OR_RETURN(row.max, ReadBound(cursor));
      TARE_RETURN_IF_ERROR(cursor.Expect("]"));
      if (row.min > row.max) return cursor.Error("the range of a symbol is empty");
    }
    if (cursor.Take("%")) {
      TARE_ASSIGN_OR_RETURN(row.divisor, cursor.Integer());
      if (row.divisor < 1) return cursor.Error("the divisor of a symbol is at least 1");
    }
    if (cursor.TakeWord("hint")) {
      TARE_ASSIGN_OR_RETURN(row.hint, cursor.Integer());
    }
    if (!symbols.Declare(row).ok()) return cursor.ErrorAt(start, Cat("symbol ", name, " is there already"));
  }
  return absl::OkStatus();
}

}  // namespace tare
