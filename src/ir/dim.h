// An integer of the program that may be symbolic: an extent, a stride, an offset, an int scalar.
//
// raw >= 0 is that number. raw < 0 names an interned expression of a SymStore; a negative constant
// is one of those. kInvalid is the poison of overflow: it absorbs every operation, so arithmetic
// needs no error path and the rule evaluator reports it once, as [overflow].
// Equal dims of one SymStore are equal values of raw.
#pragma once

#include <cstdint>
#include <utility>

#include "ir/ids.h"

namespace tare {

class Dim {
 public:
  constexpr Dim() = default;
  // `value` >= 0; SymStore::Int makes negative ones.
  static constexpr Dim Static(int64_t value) { return Dim(value); }
  static constexpr Dim OfExpr(ExprId expr) { return Dim(~static_cast<int64_t>(expr.index)); }
  static constexpr Dim Invalid() { return Dim(INT64_MIN); }

  constexpr bool is_static() const { return raw_ >= 0; }
  constexpr bool is_valid() const { return raw_ != INT64_MIN; }
  // Only when is_static().
  constexpr int64_t value() const { return raw_; }
  // Only when !is_static() and is_valid().
  constexpr ExprId expr() const { return ExprId{static_cast<uint32_t>(~raw_)}; }
  constexpr int64_t raw() const { return raw_; }

  friend constexpr bool operator==(Dim, Dim) = default;
  friend constexpr bool operator==(Dim a, int64_t b) { return a.raw_ == b && b >= 0; }
  template <typename H>
  friend H AbslHashValue(H h, Dim dim) {
    return H::combine(std::move(h), dim.raw_);
  }

 private:
  explicit constexpr Dim(int64_t raw) : raw_(raw) {}
  int64_t raw_ = 0;
};
static_assert(sizeof(Dim) == 8);

}  // namespace tare
