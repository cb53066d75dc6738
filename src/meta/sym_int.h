// Arithmetic on integers of one SymStore, written as formulas: `(in + 2 * pad - 1) / stride` would
// hide the rounding, so division is by name.
#pragma once

#include <cstdint>

#include "ir/dim.h"
#include "ir/sym.h"

namespace tare {

class SymInt {
 public:
  SymInt(SymStore& syms, Dim dim) : syms_(&syms), dim_(dim) {}
  SymInt(SymStore& syms, int64_t value) : syms_(&syms), dim_(syms.Int(value)) {}

  Dim dim() const { return dim_; }
  operator Dim() const { return dim_; }  // NOLINT: a SymInt is a Dim that knows its store
  SymStore& syms() const { return *syms_; }

  friend SymInt operator+(SymInt a, Dim b) { return {*a.syms_, a.syms_->Add(a.dim_, b)}; }
  friend SymInt operator-(SymInt a, Dim b) { return {*a.syms_, a.syms_->Sub(a.dim_, b)}; }
  friend SymInt operator*(SymInt a, Dim b) { return {*a.syms_, a.syms_->Mul(a.dim_, b)}; }
  friend SymInt operator+(SymInt a, int64_t b) { return a + a.syms_->Int(b); }
  friend SymInt operator-(SymInt a, int64_t b) { return a - a.syms_->Int(b); }
  friend SymInt operator*(SymInt a, int64_t b) { return a * a.syms_->Int(b); }
  friend SymInt operator+(SymInt a, SymInt b) { return a + b.dim_; }
  friend SymInt operator-(SymInt a, SymInt b) { return a - b.dim_; }
  friend SymInt operator*(SymInt a, SymInt b) { return a * b.dim_; }

 private:
  SymStore* syms_;
  Dim dim_;
};

inline SymInt FloorDiv(SymInt a, Dim b) { return {a.syms(), a.syms().FloorDiv(a, b)}; }
inline SymInt CeilDiv(SymInt a, Dim b) { return {a.syms(), a.syms().CeilDiv(a, b)}; }
inline SymInt Mod(SymInt a, Dim b) { return {a.syms(), a.syms().Mod(a, b)}; }
inline SymInt Max(SymInt a, Dim b) { return {a.syms(), a.syms().Max(a, b)}; }
inline SymInt Min(SymInt a, Dim b) { return {a.syms(), a.syms().Min(a, b)}; }

}  // namespace tare
