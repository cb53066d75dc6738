#include <string>

#include "ir/status.h"
#include "ir/sym.h"
#include "target.h"

namespace tare {
namespace {

class AnyScope final : public SymbolScope {
 public:
  explicit AnyScope(SymStore& store) : store_(store) {}
  absl::StatusOr<ExprId> Resolve(std::string_view name) override {
    if (name.find('[') != std::string_view::npos) name = "source";  // L['x'].size()[0]
    SymbolRow row;
    row.name = name;
    if (name[0] == 'z') {
      row.kind = SymbolKind::kFloat;
      return store_.FloatSymbol(row);
    }
    row.kind = name[0] == 'u' ? SymbolKind::kUnbacked : SymbolKind::kBacked;
    row.min = name[0] == 's' ? 2 : name[0] == 'u' ? 0 : name[0] == 'd' ? 4 : INT64_MIN;
    row.max = name[0] == 'b' ? 16 : INT64_MAX;
    row.divisor = name[0] == 'd' ? 4 : 1;
    return store_.OfDim(store_.Symbol(row));
  }

 private:
  SymStore& store_;
};

}  // namespace

// Reads, prints, reads again, bounds, proves and simplifies. A line of facts may follow: `expr | facts`.
void TryInput(std::string_view bytes) {
  SymStore store;
  AnyScope scope(store);
  const size_t bar = bytes.find('|');
  const absl::StatusOr<ExprId> e = ParseExpr(bytes.substr(0, bar), store, scope);
  if (!e.ok()) {
    TARE_CHECK(!CheckIdOf(e.status()).empty());
    return;
  }
  for (const std::string& text : {store.Print(*e), store.PrintSrepr(*e)}) {
    if (text.size() > kMaxExprText) continue;
    const absl::StatusOr<ExprId> back = ParseExpr(text, store, scope);
    // Text may nest deeper than the tree it prints, by brackets.
    if (!back.ok()) {
      TARE_CHECK(CheckIdOf(back.status()) == "expr_c3");
      continue;
    }
    TARE_CHECK(*back == *e);
  }
  std::shared_ptr<const Facts> facts;
  if (bar != std::string_view::npos) {
    const absl::StatusOr<ExprId> axiom = ParseExpr(bytes.substr(bar + 1), store, scope);
    if (axiom.ok()) facts = store.MakeFacts({&*axiom, 1});
  }
  SymStore::Values values;
  for (const ExprId symbol : store.Symbols(*e)) {
    const SymbolRow& row = store.symbol(symbol);
    values[symbol] = row.min == INT64_MIN ? -3 : row.min;
  }
  const std::optional<int64_t> value = store.Evaluate(*e, values);
  switch (store.type(*e)) {
    case ExprType::kInt: {
      const Range range = store.RangeOf(store.ToDim(*e), nullptr);
      if (value.has_value()) TARE_CHECK(range.min <= *value && *value <= range.max);
      (void)store.RangeOf(store.ToDim(*e), facts.get());
      break;
    }
    case ExprType::kBool: {
      const Tri proven = store.Prove(*e, nullptr);
      if (value.has_value() && proven != Tri::kUnknown) TARE_CHECK((proven == Tri::kYes) == (*value != 0));
      (void)store.Prove(*e, facts.get());
      break;
    }
    case ExprType::kFloat:
      break;
  }
  (void)store.SimplifyExpr(*e, facts.get());
}

}  // namespace tare
