#include "ir/sym_bits.h"

#include <array>
#include <bit>
#include <utility>

namespace tare {
namespace {

ExprId Number(SymStore& store, int64_t value) { return store.OfDim(store.Int(value)); }

// Arithmetic on expressions; what has no value stays without.
ExprId Combine(SymStore& store, ExprKind kind, ExprId a, ExprId b) {
  if (!a.has_value() || !b.has_value()) return ExprId{};
  return store.Make(kind, std::array{a, b});
}

ExprId Minus(SymStore& store, ExprId a, ExprId b) {
  return Combine(store, ExprKind::kAdd, a, Combine(store, ExprKind::kMul, Number(store, -1), b));
}

ExprId Masked(SymStore& store, ExprId x, int64_t mask) {
  if (mask < 0) return Minus(store, x, Masked(store, x, ~mask));
  ExprId result = Number(store, 0);
  for (uint64_t rest = static_cast<uint64_t>(mask); rest != 0;) {
    const int low = std::countr_zero(rest);
    const int length = std::countr_one(rest >> low);
    if (length > 62) return ExprId{};
    const ExprId above = Combine(store, ExprKind::kFloorDiv, x, Number(store, int64_t{1} << low));
    const ExprId run = Combine(store, ExprKind::kMod, above, Number(store, int64_t{1} << length));
    result =
        Combine(store, ExprKind::kAdd, result, Combine(store, ExprKind::kMul, Number(store, int64_t{1} << low), run));
    rest &= ~(((uint64_t{1} << length) - 1) << low);
  }
  return result;
}

int64_t OnNumbers(BitOperation operation, int64_t a, int64_t b) {
  switch (operation) {
    case BitOperation::kAnd:
      return a & b;
    case BitOperation::kOr:
      return a | b;
    case BitOperation::kXor:
      return a ^ b;
  }
  return 0;
}

}  // namespace

ExprId MakeBits(SymStore& store, BitOperation operation, ExprId a, ExprId b) {
  if (!a.has_value() || !b.has_value()) return ExprId{};
  if (store.kind(b) != ExprKind::kIntConst) std::swap(a, b);
  if (store.kind(b) != ExprKind::kIntConst) return ExprId{};
  const int64_t mask = store.int_value(b);
  if (store.kind(a) == ExprKind::kIntConst) {
    return Number(store, OnNumbers(operation, store.int_value(a), mask));
  }
  const ExprId common = Masked(store, a, mask);
  if (operation == BitOperation::kAnd) return common;
  const ExprId one_of_both = Minus(store, Combine(store, ExprKind::kAdd, a, b), common);
  return operation == BitOperation::kOr ? one_of_both : Minus(store, one_of_both, common);
}

}  // namespace tare
