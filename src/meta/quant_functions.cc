// Ranges of quantised dtypes, and whether per-channel, per-token and per-group parameters fit a tensor.
#include <limits>
#include <optional>

#include "ir/status.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/rule_context.h"

namespace tare {
namespace {

struct QRange {
  int64_t min, max;
};

// Storage dtypes of affine quantisation. The float8 ones count with their finite range.
std::optional<QRange> RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return QRange{0, 255};
    case DType::kI8:
      return QRange{-128, 127};
    case DType::kU16:
      return QRange{0, 65535};
    case DType::kI16:
      return QRange{-32768, 32767};
    case DType::kI32:
      return QRange{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::kF8E5M2:
      return QRange{-57344, 57344};
    case DType::kF8E4M3FN:
      return QRange{-448, 448};
    default:
      return std::nullopt;
  }
}

absl::StatusOr<Value> IsQuantType(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Bool(RangeOf(dtype).has_value());
}

absl::StatusOr<Value> InQuantRange(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  const int64_t min = args.Constant(1), max = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  const auto range = RangeOf(dtype);
  return Value::Bool(range && min >= range->min && max <= range->max);
}

constexpr RuleFunctionRow kRows[] = {
    {"is_quant_type", "is_quant_type(dtype) -> bool",
     "u8, i8, u16, i16, i32, f8e5m2 or f8e4m3fn: can store quantised values.", 1, 1, IsQuantType},
    {"in_quant_range", "in_quant_range(dtype, min, max) -> bool",
     "The dtype can store quantised values, and min … max lies within its range.", 3, 3, InQuantRange},
};

}  // namespace

std::span<const RuleFunctionRow> QuantFunctions() { return kRows; }

}  // namespace tare
