// Symbols of tests by name: s… backed from 2, t… backed from 0, u… unbacked from 0, d… a multiple
// of 4 from 4, n… anything, z… float, b… backed in [2, 16].
#pragma once

#include <string>
#include <string_view>

#include "ir/status.h"
#include "ir/sym.h"

namespace tare {

class TestScope final : public SymbolScope {
 public:
  explicit TestScope(SymStore& store) : store_(store) {}
  absl::StatusOr<ExprId> Resolve(std::string_view name) override {
    SymbolRow row;
    row.name = name;
    switch (name[0]) {
      case 's':
        row.min = 2;
        break;
      case 't':
        break;
      case 'b':
        row.min = 2;
        row.max = 16;
        break;
      case 'u':
        row.kind = SymbolKind::kUnbacked;
        break;
      case 'n':
        row.kind = SymbolKind::kUnbacked;
        row.min = INT64_MIN;
        break;
      case 'd':
        row.min = 4;
        row.divisor = 4;
        break;
      case 'z':
        row.kind = SymbolKind::kFloat;
        return store_.FloatSymbol(row);
      default:
        return InvalidError("expr_c5", "unknown symbol `", name, "`");
    }
    return store_.OfDim(store_.Symbol(row));
  }

 private:
  SymStore& store_;
};

// The expression's canonical text, or the message of its error.
inline std::string Canonical(SymStore& store, std::string_view text) {
  TestScope scope(store);
  const absl::StatusOr<ExprId> e = ParseExpr(text, store, scope);
  return e.ok() ? store.Print(*e) : std::string(e.status().message());
}

}  // namespace tare
