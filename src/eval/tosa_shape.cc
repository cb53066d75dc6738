// TOSA's shapes: lists of integers. Source: TOSA 1.0, CONST_SHAPE; TOSA 1.1, shape operators.
#include <algorithm>
#include <bit>

#include "absl/strings/str_join.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

Value ShapeValue(std::span<const int64_t> shape) {
  std::vector<Value> items;
  for (const int64_t extent : shape) items.push_back(Value::Int(extent));
  return Value::List(std::move(items));
}

absl::StatusOr<Value> ConstShape(KernelCall& call) { return ShapeValue(call.ints("shape")); }

absl::StatusOr<Value> DimOf(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const int axis = call.axis("axis", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c7", call.op_name(), ": a tensor of rank 0 has no axis");
  return ShapeValue(std::vector<int64_t>{x.extent(axis)});
}

enum class Kind : uint8_t { kAdd, kSub, kMul, kMax, kMin, kMod, kDivCeil, kDivFloor };

template <Kind kKind>
absl::StatusOr<Value> Binary(KernelCall& call) {
  const std::vector<int64_t> a = call.ints("shape1"), b = call.ints("shape2");
  TARE_RETURN_IF_ERROR(call.status());
  if (a.size() != b.size()) return InvalidError("eval_c16", call.op_name(), ": lengths differ");
  std::vector<int64_t> result(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t x = a[i], y = b[i];
    bool bad = false;
    if constexpr (kKind == Kind::kAdd) {
      bad = __builtin_add_overflow(x, y, &result[i]);
    } else if constexpr (kKind == Kind::kSub) {
      bad = __builtin_sub_overflow(x, y, &result[i]);
    } else if constexpr (kKind == Kind::kMul) {
      bad = __builtin_mul_overflow(x, y, &result[i]);
    } else if constexpr (kKind == Kind::kMax) {
      result[i] = std::max(x, y);
    } else if constexpr (kKind == Kind::kMin) {
      result[i] = std::min(x, y);
    } else if (bad = x < 0 || y <= 0; !bad) {
      result[i] = kKind == Kind::kMod ? x % y : x / y + (kKind == Kind::kDivCeil && x % y != 0 ? 1 : 0);
    }
    if (bad) return InvalidError("eval_c15", call.op_name(), ": ", x, " and ", y, " have no defined result");
  }
  return ShapeValue(result);
}

enum class Log : uint8_t { kExp2, kCeil, kFloor };
template <Log kLog>
absl::StatusOr<Value> PowerOfTwo(KernelCall& call) {
  std::vector<int64_t> shape = call.ints("input");
  TARE_RETURN_IF_ERROR(call.status());
  for (int64_t& x : shape) {
    if (kLog == Log::kExp2 ? x < 0 || x > 62 : x < 1)
      return InvalidError("eval_c15", call.op_name(), ": ", x, " has no defined result");
    const auto bits = static_cast<uint64_t>(x);
    x = kLog == Log::kExp2 ? int64_t{1} << x : kLog == Log::kCeil ? std::bit_width(bits - 1) : std::bit_width(bits) - 1;
  }
  return ShapeValue(shape);
}

absl::StatusOr<Value> SliceShape(KernelCall& call) {
  const std::vector<int64_t> x = call.ints("input"), start = call.ints("start", 1), size = call.ints("size", 1);
  TARE_RETURN_IF_ERROR(call.status());
  const auto length = static_cast<int64_t>(x.size());
  if (start[0] < 0 || size[0] < 0 || start[0] > length || size[0] > length - start[0])
    return InvalidError("eval_c16", call.op_name(), ": ", size[0], " values from ", start[0], " do not fit ", length);
  return ShapeValue(std::span(x).subspan(start[0], size[0]));
}

absl::StatusOr<Value> ConcatShape(KernelCall& call) {
  std::vector<int64_t> joined;
  for (const std::vector<int64_t>& shape : call.int_lists("shape_list"))
    joined.insert(joined.end(), shape.begin(), shape.end());
  return ShapeValue(joined);
}

absl::StatusOr<Value> AssertEqual(KernelCall& call) {
  const std::vector<int64_t> a = call.ints("input1"), b = call.ints("input2");
  const bool broadcast = call.flag("allow_broadcast");
  TARE_RETURN_IF_ERROR(call.status());
  bool equal = a.size() == b.size();
  for (size_t i = 0; i < a.size() && equal; ++i) equal = a[i] == b[i] || (broadcast && (a[i] == 1 || b[i] == 1));
  if (!equal)
    return InvalidError("eval_c15", call.op_name(), ": [", absl::StrJoin(a, ","), "] and [", absl::StrJoin(b, ","),
                        "] differ");
  return Value();
}

constexpr KernelRow kRows[] = {
    {"tosa.ADD_SHAPE.default", Binary<Kind::kAdd>},
    {"tosa.ASSERT_EQUAL_SHAPE.default", AssertEqual},
    {"tosa.CONCAT_SHAPE.default", ConcatShape},
    {"tosa.CONST_SHAPE.default", ConstShape},
    {"tosa.DIM.default", DimOf},
    {"tosa.DIV_CEIL_SHAPE.default", Binary<Kind::kDivCeil>},
    {"tosa.DIV_FLOOR_SHAPE.default", Binary<Kind::kDivFloor>},
    {"tosa.EXP2_SHAPE.default", PowerOfTwo<Log::kExp2>},
    {"tosa.LOG2_CEIL_SHAPE.default", PowerOfTwo<Log::kCeil>},
    {"tosa.LOG2_FLOOR_SHAPE.default", PowerOfTwo<Log::kFloor>},
    {"tosa.MAX_SHAPE.default", Binary<Kind::kMax>},
    {"tosa.MIN_SHAPE.default", Binary<Kind::kMin>},
    {"tosa.MOD_SHAPE.default", Binary<Kind::kMod>},
    {"tosa.MUL_SHAPE.default", Binary<Kind::kMul>},
    {"tosa.SLICE_SHAPE.default", SliceShape},
    {"tosa.SUB_SHAPE.default", Binary<Kind::kSub>},
};

}  // namespace

std::span<const KernelRow> TosaShapeKernels() { return kRows; }

}  // namespace tare
