// Symbols of one golden line: their rows, the facts, and assignments that satisfy the facts.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/sym.h"

namespace tare {

// Values for `symbols`, in the same order, which make every axiom true: at most `limit`, large and
// different values first. Deterministic.
std::vector<std::vector<int64_t>> Assignments(SymStore& syms, const std::vector<ExprId>& symbols,
                                              const std::vector<ExprId>& axioms, size_t limit);

class LineSymbols final : public SymbolScope {
 public:
  // Symbols met in `text`, with ranges and hints that agree with `facts` (a list of conditions).
  static absl::StatusOr<LineSymbols> Make(Context& context, std::string_view text, std::string_view facts);

  // Other names are symbols of the result that the rule mints.
  absl::StatusOr<ExprId> Resolve(std::string_view name) override;
  bool IsOfCall(ExprId symbol) const;
  const std::shared_ptr<const Facts>& facts() const { return facts_; }
  const std::vector<ExprId>& axioms() const { return axioms_; }
  std::vector<ExprId> All() const;  // integers, in order of name

 private:
  explicit LineSymbols(Context& context) : context_(&context) {}
  ExprId Declare(const SymbolRow& row);
  absl::Status ReadFacts(std::string_view facts);

  Context* context_;
  std::vector<std::pair<std::string, ExprId>> known_;
  std::vector<std::string> of_call_;
  std::vector<ExprId> axioms_;
  std::shared_ptr<const Facts> facts_;
};

}  // namespace tare
