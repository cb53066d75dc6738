// TOSA's elementwise operators of one, two and three tensors. Source: TOSA 1.0, elementwise operators.
// Where the specification leaves a result open (overflow, a shift out of range, division by zero) we refuse.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "eval/comparisons.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

// --- f(a, b, bad): `bad` is set where the specification requires something that does not hold.

template <typename T>
T Checked(int64_t value, bool& bad) {
  bad |= value != static_cast<int64_t>(static_cast<T>(value));
  return static_cast<T>(value);
}

struct Add {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    int64_t sum = 0;
    bad |= __builtin_add_overflow(static_cast<int64_t>(a), static_cast<int64_t>(b), &sum);
    return Checked<T>(sum, bad);
  }
};
struct Sub {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) return a - b;
    int64_t difference = 0;
    bad |= __builtin_sub_overflow(static_cast<int64_t>(a), static_cast<int64_t>(b), &difference);
    return Checked<T>(difference, bad);
  }
};
struct IntDiv {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if (b == 0 || (b == static_cast<T>(-1) && a == std::numeric_limits<T>::min())) {
      bad = true;
      return 0;
    }
    return static_cast<T>(a / b);
  }
};
struct Pow {
  template <typename T>
  static T Of(T a, T b, bool&) {
    return std::pow(a, b);
  }
};
struct And {
  template <typename T>
  static T Of(T a, T b, bool&) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T Of(T a, T b, bool&) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T Of(T a, T b, bool&) {
    return static_cast<T>(a ^ b);
  }
};

template <typename T>
bool BadShift(T shift) {
  return shift < 0 || shift >= static_cast<T>(8 * sizeof(T));
}
struct LeftShift {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    using U = std::make_unsigned_t<T>;
    if (bad |= BadShift(b); BadShift(b)) return 0;
    return static_cast<T>(static_cast<U>(static_cast<uint64_t>(static_cast<U>(a)) << b));
  }
};
struct LogicalRightShift {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    using U = std::make_unsigned_t<T>;
    if (bad |= BadShift(b); BadShift(b)) return 0;
    return static_cast<T>(static_cast<U>(a) >> b);
  }
};
template <bool kRound>
struct RightShift {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if (bad |= BadShift(b); BadShift(b)) return 0;
    const int64_t wide = a;
    return static_cast<T>((wide >> b) + (kRound && b > 0 ? (wide >> (b - 1)) & 1 : 0));
  }
};

enum class Nan : uint8_t { kPropagate, kIgnore };
template <Nan kNan, bool kMax>
struct Extreme {
  template <typename T>
  static T Of(T a, T b, bool&) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return kNan == Nan::kPropagate ? a : b;
      if (std::isnan(b)) return kNan == Nan::kPropagate ? b : a;
    }
    return kMax ? std::max(a, b) : std::min(a, b);
  }
};

absl::Status SameTypes(const KernelCall& call, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return absl::OkStatus();
  return InvalidError("eval_c14", call.op_name(), ": operands are ", Describe(a), " and ", Describe(b));
}

// Integer operators also take f32 only where kFloats.
enum class Types : uint8_t { kIntegers, kFloats, kBoth };

template <typename F, Types kTypes>
absl::StatusOr<Value> Binary(KernelCall& call) {
  const Tensor& a = call.tensor("input1");
  const Tensor& b = call.tensor("input2");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_RETURN_IF_ERROR(SameTypes(call, a, b));
  bool bad = false;
  const auto apply = [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    if constexpr ((kTypes == Types::kIntegers && std::is_floating_point_v<T>) ||
                  (kTypes == Types::kFloats && !std::is_floating_point_v<T>)) {
      return UnimplementedError("eval_c13", call.op_name(), " on ", Name(a.dtype()), " cannot be evaluated");
    } else {
      return Map2<T, T>(call, a, b, a.dtype(), [&bad](T x, T y) { return F::template Of<T>(x, y, bad); });
    }
  };
  TARE_ASSIGN_OR_RETURN(Tensor result, VisitElements(a.dtype(), call.op_name(), apply));
  if (bad) {
    return InvalidError("eval_c15", call.op_name(),
                        ": an element has no defined result: it overflows, divides by zero or shifts too far");
  }
  return Value(std::move(result));
}

template <typename F>
absl::StatusOr<Value> Compare(KernelCall& call) {
  const Tensor& a = call.tensor("input1");
  const Tensor& b = call.tensor("input2");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_RETURN_IF_ERROR(SameTypes(call, a, b));
  return AsValue(VisitElements(a.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map2<T, uint8_t>(call, a, b, DType::kBool, [](T x, T y) -> uint8_t { return F::template Of<T>(x, y); });
  }));
}

template <bool kMax>
absl::StatusOr<Value> MaxOrMin(KernelCall& call) {
  return call.text("nan_mode") == "IGNORE" ? Binary<Extreme<Nan::kIgnore, kMax>, Types::kBoth>(call)
                                           : Binary<Extreme<Nan::kPropagate, kMax>, Types::kBoth>(call);
}

absl::StatusOr<Value> ArithmeticRightShift(KernelCall& call) {
  return call.flag("round") ? Binary<RightShift<true>, Types::kIntegers>(call)
                            : Binary<RightShift<false>, Types::kIntegers>(call);
}

// Integers of 8, 16 and 32 bits give i32. With a shift the 64-bit product is rounded half up and must fit;
// without one the low 32 bits are taken.
absl::StatusOr<Value> Mul(KernelCall& call) {
  const Tensor& a = call.tensor("input1");
  const Tensor& b = call.tensor("input2");
  const int64_t shift = call.integer("shift");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_RETURN_IF_ERROR(SameTypes(call, a, b));
  if (shift < 0 || shift > 63 || (shift > 0 && a.dtype() != DType::kI32))
    return InvalidError("eval_c15", "tosa.MUL.default: shift ", shift, " of ", Name(a.dtype()), " is not defined");
  bool bad = false;
  const auto apply = [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      return Map2<T, T>(call, a, b, a.dtype(), [](T x, T y) { return x * y; });
    } else if constexpr (std::is_signed_v<T> && sizeof(T) <= 4) {
      return Map2<T, int32_t>(call, a, b, DType::kI32, [shift, &bad](T x, T y) -> int32_t {
        const int64_t product = static_cast<int64_t>(x) * static_cast<int64_t>(y);
        if (shift == 0) return static_cast<int32_t>(static_cast<uint32_t>(product));
        return Checked<int32_t>(
            static_cast<int64_t>((static_cast<__int128>(product) + (__int128{1} << (shift - 1))) >> shift), bad);
      });
    } else {
      return UnimplementedError("eval_c13", "tosa.MUL.default on ", Name(a.dtype()), " cannot be evaluated");
    }
  };
  TARE_ASSIGN_OR_RETURN(Tensor result, VisitElements(a.dtype(), call.op_name(), apply));
  if (bad) return InvalidError("eval_c15", "tosa.MUL.default: a product does not fit i32 after the shift");
  return Value(std::move(result));
}

absl::StatusOr<Value> Select(KernelCall& call) {
  const Tensor& condition = call.tensor("condition");
  const Tensor& a = call.tensor("input1");
  const Tensor& b = call.tensor("input2");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_RETURN_IF_ERROR(SameTypes(call, a, b));
  if (condition.dtype() != DType::kBool) return InvalidError("eval_c14", "tosa.SELECT.default: condition is not bool");
  return AsValue(VisitElements(a.dtype(), call.op_name(), [&](auto tag) {
    return SelectElements<typename decltype(tag)::type>(call, condition, a, b);
  }));
}

// --- one operand

struct Abs {
  template <typename T>
  static T Of(T x, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) return std::abs(x);
    return x < 0 ? Sub::Of<T>(0, x, bad) : x;
  }
};
struct BitwiseNot {
  template <typename T>
  static T Of(T x, bool&) {
    return static_cast<T>(~x);
  }
};
struct LogicalNot {
  template <typename T>
  static T Of(T x, bool&) {
    return x == 0;
  }
};
struct CountLeadingZeros {
  template <typename T>
  static T Of(T x, bool&) {
    return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

template <typename F, Types kTypes>
absl::StatusOr<Value> Unary(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  TARE_RETURN_IF_ERROR(call.status());
  bool bad = false;
  const auto apply = [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    if constexpr (kTypes == Types::kIntegers && std::is_floating_point_v<T>) {
      return UnimplementedError("eval_c13", call.op_name(), " on ", Name(x.dtype()), " cannot be evaluated");
    } else {
      return Map<T, T>(call, x, x.dtype(), [&bad](T v) { return F::template Of<T>(v, bad); });
    }
  };
  TARE_ASSIGN_OR_RETURN(Tensor result, VisitElements(x.dtype(), call.op_name(), apply));
  if (bad) return InvalidError("eval_c15", call.op_name(), ": a result overflows");
  return Value(std::move(result));
}

// Floating: -x. Integers: zero points are taken off, the result is clipped to the type.
absl::StatusOr<Value> Negate(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  const int64_t in_zp = call.zero_point("input1"), out_zp = call.result_zero_point();
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map<T, T>(call, x, x.dtype(), [&](T v) -> T {
      if constexpr (std::is_floating_point_v<T>) {
        return -v;
      } else {
        const int64_t value = out_zp - (static_cast<int64_t>(v) - in_zp);
        return static_cast<T>(std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
      }
    });
  }));
}

constexpr KernelRow kRows[] = {
    {"tosa.ABS.default", Unary<Abs, Types::kBoth>},
    {"tosa.ADD.default", Binary<Add, Types::kBoth>},
    {"tosa.ARITHMETIC_RIGHT_SHIFT.default", ArithmeticRightShift},
    {"tosa.BITWISE_AND.default", Binary<And, Types::kIntegers>},
    {"tosa.BITWISE_NOT.default", Unary<BitwiseNot, Types::kIntegers>},
    {"tosa.BITWISE_OR.default", Binary<Or, Types::kIntegers>},
    {"tosa.BITWISE_XOR.default", Binary<Xor, Types::kIntegers>},
    {"tosa.CLZ.default", Unary<CountLeadingZeros, Types::kIntegers>},
    {"tosa.EQUAL.default", Compare<Equal>},
    {"tosa.GREATER.default", Compare<Greater>},
    {"tosa.GREATER_EQUAL.default", Compare<GreaterEqual>},
    {"tosa.INTDIV.default", Binary<IntDiv, Types::kIntegers>},
    {"tosa.LOGICAL_AND.default", Binary<And, Types::kIntegers>},
    {"tosa.LOGICAL_LEFT_SHIFT.default", Binary<LeftShift, Types::kIntegers>},
    {"tosa.LOGICAL_NOT.default", Unary<LogicalNot, Types::kIntegers>},
    {"tosa.LOGICAL_OR.default", Binary<Or, Types::kIntegers>},
    {"tosa.LOGICAL_RIGHT_SHIFT.default", Binary<LogicalRightShift, Types::kIntegers>},
    {"tosa.LOGICAL_XOR.default", Binary<Xor, Types::kIntegers>},
    {"tosa.MAXIMUM.default", MaxOrMin<true>},
    {"tosa.MINIMUM.default", MaxOrMin<false>},
    {"tosa.MUL.default", Mul},
    {"tosa.NEGATE.default", Negate},
    {"tosa.POW.default", Binary<Pow, Types::kFloats>},
    {"tosa.SELECT.default", Select},
    {"tosa.SUB.default", Binary<Sub, Types::kBoth>},
};

}  // namespace

std::span<const KernelRow> TosaElementwiseKernels() { return kRows; }

}  // namespace tare
