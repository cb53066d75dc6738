// Typed access to the arguments of a rule function, with one sticky error.
//
//   RuleArgs args(rc, values);
//   const TensorMeta& self = args.Tensor(0);
//   const int64_t dim = args.Constant(1);
//   TARE_RETURN_IF_ERROR(args.status());
//
// An argument of the wrong kind is a fault of the row, not of the program: [rule_args_c1].
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "ir/meta.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/rule_context.h"
#include "meta/value.h"

namespace tare {

class RuleArgs {
 public:
  RuleArgs(RuleContext& rc, std::span<const Value> values) : rc_(rc), values_(values) {}

  size_t size() const { return values_.size(); }
  bool IsNone(size_t i) const { return i >= values_.size() || values_[i].is_none(); }
  const Value& Any(size_t i) const;  // none beyond the end

  const TensorMeta& Tensor(size_t i);
  const TensorMeta* MaybeTensor(size_t i);                    // null when none
  llvm::SmallVector<const TensorMeta*, 8> Tensors(size_t i);  // of a list; entries that are none are null
  Dim Int(size_t i);                                          // symbolic allowed; a bool counts as 0 or 1
  std::optional<Dim> MaybeInt(size_t i);
  int64_t Constant(size_t i);           // specialises a backed symbol
  std::span<const Dim> Ints(size_t i);  // a single integer is a list of one; none is empty
  bool Flag(size_t i);                  // none is false
  double Real(size_t i);                // ints convert
  std::string_view Text(size_t i);
  DType Type(size_t i);

  const absl::Status& status() const { return status_; }

 private:
  void Wrong(size_t i, std::string_view wanted);
  RuleContext& rc_;
  std::span<const Value> values_;
  absl::Status status_;
};

}  // namespace tare

// The condition (two equal integers) must hold; `otherwise`, a status, is made only when it does not.
#define TARE_REQUIRE(rc, condition, otherwise)                       \
  do {                                                               \
    const absl::StatusOr<bool> tare_holds_ = (rc).Demand(condition); \
    if (!tare_holds_.ok()) return tare_holds_.status();              \
    if (!*tare_holds_) return (otherwise);                           \
  } while (0)
#define TARE_REQUIRE_EQUAL(rc, a, b, otherwise)                          \
  do {                                                                   \
    const absl::StatusOr<bool> tare_holds_ = (rc).DemandEqual((a), (b)); \
    if (!tare_holds_.ok()) return tare_holds_.status();                  \
    if (!*tare_holds_) return (otherwise);                               \
  } while (0)
