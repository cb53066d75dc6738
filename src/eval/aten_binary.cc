// ATen's functions of two and three elements. Source: torch/_refs/__init__.py.
#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/comparisons.h"
#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

// Integers wrap, as in PyTorch; `bad` is a division by zero.
template <typename T>
using Unsigned = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>;

struct Add {
  template <typename T>
  static T Of(T a, T b, bool&) {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  }
};
struct Sub {
  template <typename T>
  static T Of(T a, T b, bool&) {
    if constexpr (std::is_floating_point_v<T>) return a - b;
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
  }
};
struct Mul {
  template <typename T>
  static T Of(T a, T b, bool&) {
    if constexpr (std::is_floating_point_v<T>) {
      return a * b;
    } else {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    }
  }
};
struct Divide {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) return a / b;
    return bad = true, a;
  }
};
struct DivideTrunc {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) return std::trunc(a / b);
    if (b == 0) return bad = true, T{0};
    if constexpr (std::is_signed_v<T>) {
      if (b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<Unsigned<T>>(a));
    }
    return static_cast<T>(a / b);
  }
};
struct DivideFloor {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) {
      if (b == 0) return a / b;
      T quotient = (a - std::fmod(a, b)) / b;
      if (std::fmod(a, b) != 0 && (b < 0) != (std::fmod(a, b) < 0)) quotient -= 1;
      const T floor = std::floor(quotient);
      return quotient - floor > T{0.5} ? floor + 1 : floor;
    } else {
      if (b == 0) return bad = true, T{0};
      if constexpr (std::is_signed_v<T>) {
        if (b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<Unsigned<T>>(a));
      }
      const T quotient = static_cast<T>(a / b);
      return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
    }
  }
};
template <bool kFloor>
struct Rest {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) {
      const T rest = std::fmod(a, b);
      return kFloor && rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
    } else {
      if (b == 0) return bad = true, T{0};
      if constexpr (std::is_signed_v<T>) {
        if (b == static_cast<T>(-1)) return 0;
      }
      const T rest = static_cast<T>(a % b);
      return kFloor && rest != 0 && (b < 0) != (rest < 0) ? static_cast<T>(rest + b) : rest;
    }
  }
};
struct Power {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) {
      if (b == 2) return a * a;
      return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    } else {
      if (b < 0) return bad |= a == 0, static_cast<T>(a == 1 ? 1 : a == static_cast<T>(-1) ? (b % 2 != 0 ? -1 : 1) : 0);
      uint64_t result = 1, base = static_cast<uint64_t>(a);
      for (auto n = static_cast<uint64_t>(b); n > 0; n >>= 1, base *= base) {
        if ((n & 1) != 0) result *= base;
      }
      return static_cast<T>(result);
    }
  }
};
struct Atan2 {
  template <typename T>
  static T Of(T a, T b, bool&) {
    return static_cast<T>(std::atan2(static_cast<double>(a), static_cast<double>(b)));
  }
};
template <bool kMax>
struct Extreme {
  template <typename T>
  static T Of(T a, T b, bool&) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    return kMax ? std::max(a, b) : std::min(a, b);
  }
};
enum class Bits : uint8_t { kAnd, kOr, kXor };
template <Bits kBits>
struct Bitwise {
  template <typename T>
  static T Of(T a, T b, bool& bad) {
    if constexpr (std::is_floating_point_v<T>) {
      return bad = true, a;
    } else {
      return static_cast<T>(kBits == Bits::kAnd ? a & b : kBits == Bits::kOr ? a | b : a ^ b);
    }
  }
};

struct Operands {
  Tensor a, b;
};
// Both in `dtype`.
absl::StatusOr<Operands> InDType(const KernelCall& call, const Tensor& a, const Tensor& b, DType dtype) {
  Operands operands;
  TARE_ASSIGN_OR_RETURN(operands.a, Converted(call, a, dtype));
  TARE_ASSIGN_OR_RETURN(operands.b, Converted(call, b, dtype));
  return operands;
}

template <typename F>
absl::StatusOr<Value> Apply(KernelCall& call, const Tensor& a, const Tensor& b, DType dtype) {
  TARE_ASSIGN_OR_RETURN(const Operands in, InDType(call, a, b, dtype));
  bool bad = false;
  TARE_ASSIGN_OR_RETURN(Tensor result, VisitElements(dtype, call.op_name(), [&](auto tag) {
                          using T = typename decltype(tag)::type;
                          return Map2<T, T>(call, in.a, in.b, dtype,
                                            [&bad](T x, T y) { return F::template Of<T>(x, y, bad); });
                        }));
  if (bad) return InvalidError("eval_c15", call.op_name(), ": an element has no defined result");
  return Value(std::move(result));
}

DType ResultOr(const KernelCall& call, const Tensor& a, const Tensor& b) {
  return call.result_dtype().value_or(CommonDType(call, "self", a, "other", b));
}

template <typename F>
absl::StatusOr<Value> Binary(KernelCall& call) {
  const Tensor a = call.tensor_or_number("self"), b = call.tensor_or_number("other");
  TARE_RETURN_IF_ERROR(call.status());
  return Apply<F>(call, a, b, ResultOr(call, a, b));
}

// self + alpha * other.
template <typename F, bool kSwapped = false>
absl::StatusOr<Value> Scaled(KernelCall& call) {
  Tensor a = call.tensor_or_number("self"), b = call.tensor_or_number("other");
  const Number alpha = call.number("alpha");
  TARE_RETURN_IF_ERROR(call.status());
  const DType dtype = ResultOr(call, a, b);
  if constexpr (kSwapped) std::swap(a, b);
  if (alpha.as_real() != 1) {
    TARE_ASSIGN_OR_RETURN(const Tensor other, Converted(call, b, dtype));
    TARE_ASSIGN_OR_RETURN(b, VisitElements(dtype, call.op_name(), [&](auto tag) {
                            using T = typename decltype(tag)::type;
                            const T factor = std::is_floating_point_v<T> ? static_cast<T>(alpha.as_real())
                                                                         : static_cast<T>(alpha.integer);
                            bool bad = false;
                            return Map<T, T>(call, other, dtype, [=, &bad](T v) { return Mul::Of<T>(v, factor, bad); });
                          }));
  }
  return Apply<F>(call, a, b, dtype);
}

absl::StatusOr<Value> DivideMode(KernelCall& call) {
  if (!call.given("rounding_mode")) return Binary<Divide>(call);
  return call.text("rounding_mode") == "floor" ? Binary<DivideFloor>(call) : Binary<DivideTrunc>(call);
}

absl::StatusOr<Value> Pow(KernelCall& call) {
  const Tensor a = call.tensor_or_number("self"), b = call.tensor_or_number("exponent");
  TARE_RETURN_IF_ERROR(call.status());
  return Apply<Power>(call, a, b, call.result_dtype().value_or(CommonDType(call, "self", a, "exponent", b)));
}

template <typename F>
absl::StatusOr<Value> Compare(KernelCall& call) {
  const Tensor a = call.tensor_or_number("self"), b = call.tensor_or_number("other");
  TARE_RETURN_IF_ERROR(call.status());
  const DType dtype = CommonDType(call, "self", a, "other", b);
  TARE_ASSIGN_OR_RETURN(const Operands in, InDType(call, a, b, dtype));
  return AsValue(VisitElements(dtype, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map2<T, uint8_t>(call, in.a, in.b, DType::kBool,
                            [](T x, T y) -> uint8_t { return F::template Of<T>(x, y); });
  }));
}

template <Bits kBits>
absl::StatusOr<Value> Logical(KernelCall& call) {
  const Tensor a = call.tensor_or_number("self"), b = call.tensor_or_number("other");
  TARE_RETURN_IF_ERROR(call.status());
  return Apply<Bitwise<kBits>>(call, a, b, DType::kBool);
}

absl::StatusOr<Value> SelectFrom(KernelCall& call, const Tensor& condition, const Tensor& a, const Tensor& b,
                                 DType dtype) {
  TARE_ASSIGN_OR_RETURN(const Tensor mask, Converted(call, condition, DType::kBool));
  TARE_ASSIGN_OR_RETURN(const Operands in, InDType(call, a, b, dtype));
  return AsValue(VisitElements(dtype, call.op_name(), [&](auto tag) {
    return SelectElements<typename decltype(tag)::type>(call, mask, in.a, in.b);
  }));
}

absl::StatusOr<Value> Where(KernelCall& call) {
  const Tensor& condition = call.tensor("condition");
  const Tensor a = call.tensor_or_number("self"), b = call.tensor_or_number("other");
  TARE_RETURN_IF_ERROR(call.status());
  return SelectFrom(call, condition, a, b, ResultOr(call, a, b));
}

absl::StatusOr<Value> MaskedFill(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& mask = call.tensor("mask");
  const Tensor value = call.tensor_or_number("value");
  TARE_RETURN_IF_ERROR(call.status());
  return SelectFrom(call, mask, value, self, self.dtype());
}

// The weight is one number or one per channel, axis 1.
absl::StatusOr<Value> Prelu(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& weight = call.tensor("weight");
  TARE_RETURN_IF_ERROR(call.status());
  Extents shape(self.rank(), 1);
  if (weight.size() != 1 && self.rank() > 1) shape[1] = weight.size();
  TARE_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  if (count != weight.size() || weight.dtype() != self.dtype())
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(weight), " does not go with ", Describe(self));
  const Tensor slopes = weight.Reshaped(shape);
  return AsValue(VisitFloats(self.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map2<T, T>(call, self, slopes, self.dtype(), [](T x, T w) { return x > 0 ? x : x * w; });
  }));
}

// self + value * tensor1 * tensor2, or / tensor2.
template <typename F>
absl::StatusOr<Value> AddProduct(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& a = call.tensor("tensor1");
  const Tensor& b = call.tensor("tensor2");
  const double factor = call.real("value");
  TARE_RETURN_IF_ERROR(call.status());
  const DType dtype = call.result_dtype().value_or(self.dtype());
  TARE_ASSIGN_OR_RETURN(const Value product, Apply<F>(call, a, b, dtype));
  TARE_ASSIGN_OR_RETURN(const Operands in, InDType(call, self, product.tensor, dtype));
  return AsValue(VisitElements(dtype, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T scale = static_cast<T>(factor);
    return Map2<T, T>(call, in.a, in.b, dtype, [scale](T x, T y) { return static_cast<T>(x + scale * y); });
  }));
}

constexpr KernelRow kRows[] = {
    {"aten.__and__.Scalar", Binary<Bitwise<Bits::kAnd>>},
    {"aten.__and__.Tensor", Binary<Bitwise<Bits::kAnd>>},
    {"aten.__or__.Scalar", Binary<Bitwise<Bits::kOr>>},
    {"aten.__or__.Tensor", Binary<Bitwise<Bits::kOr>>},
    {"aten.__xor__.Tensor", Binary<Bitwise<Bits::kXor>>},
    {"aten.add.Scalar", Scaled<Add>},
    {"aten.add.Tensor", Scaled<Add>},
    {"aten.addcdiv.default", AddProduct<Divide>},
    {"aten.addcmul.default", AddProduct<Mul>},
    {"aten.atan2.default", Binary<Atan2>},
    {"aten.bitwise_and.Scalar", Binary<Bitwise<Bits::kAnd>>},
    {"aten.bitwise_and.Tensor", Binary<Bitwise<Bits::kAnd>>},
    {"aten.bitwise_or.Scalar", Binary<Bitwise<Bits::kOr>>},
    {"aten.bitwise_or.Tensor", Binary<Bitwise<Bits::kOr>>},
    {"aten.bitwise_xor.Scalar", Binary<Bitwise<Bits::kXor>>},
    {"aten.bitwise_xor.Tensor", Binary<Bitwise<Bits::kXor>>},
    {"aten.div.Scalar", Binary<Divide>},
    {"aten.div.Scalar_mode", DivideMode},
    {"aten.div.Tensor", Binary<Divide>},
    {"aten.div.Tensor_mode", DivideMode},
    {"aten.eq.Scalar", Compare<Equal>},
    {"aten.eq.Tensor", Compare<Equal>},
    {"aten.floor_divide.default", Binary<DivideFloor>},
    {"aten.fmod.Scalar", Binary<Rest<false>>},
    {"aten.fmod.Tensor", Binary<Rest<false>>},
    {"aten.ge.Scalar", Compare<GreaterEqual>},
    {"aten.ge.Tensor", Compare<GreaterEqual>},
    {"aten.gt.Scalar", Compare<Greater>},
    {"aten.gt.Tensor", Compare<Greater>},
    {"aten.le.Scalar", Compare<LessEqual>},
    {"aten.le.Tensor", Compare<LessEqual>},
    {"aten.logical_and.default", Logical<Bits::kAnd>},
    {"aten.logical_or.default", Logical<Bits::kOr>},
    {"aten.logical_xor.default", Logical<Bits::kXor>},
    {"aten.lt.Scalar", Compare<Less>},
    {"aten.lt.Tensor", Compare<Less>},
    {"aten.masked_fill.Scalar", MaskedFill},
    {"aten.masked_fill.Tensor", MaskedFill},
    {"aten.max.other", Binary<Extreme<true>>},
    {"aten.maximum.default", Binary<Extreme<true>>},
    {"aten.min.other", Binary<Extreme<false>>},
    {"aten.minimum.default", Binary<Extreme<false>>},
    {"aten.mul.Scalar", Binary<Mul>},
    {"aten.mul.Tensor", Binary<Mul>},
    {"aten.ne.Scalar", Compare<NotEqual>},
    {"aten.ne.Tensor", Compare<NotEqual>},
    {"aten.pow.Scalar", Pow},
    {"aten.pow.Tensor_Scalar", Pow},
    {"aten.pow.Tensor_Tensor", Pow},
    {"aten.prelu.default", Prelu},
    {"aten.remainder.Scalar", Binary<Rest<true>>},
    {"aten.remainder.Tensor", Binary<Rest<true>>},
    {"aten.rsub.Scalar", Scaled<Sub, true>},
    {"aten.rsub.Tensor", Scaled<Sub, true>},
    {"aten.sub.Scalar", Scaled<Sub>},
    {"aten.sub.Tensor", Scaled<Sub>},
    {"aten.where.Scalar", Where},
    {"aten.where.ScalarOther", Where},
    {"aten.where.ScalarSelf", Where},
    {"aten.where.self", Where},
};

}  // namespace

std::span<const KernelRow> AtenBinaryKernels() { return kRows; }

}  // namespace tare
