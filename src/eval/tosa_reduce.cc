// TOSA's reductions along one axis. Source: TOSA 1.0, reduction operators, ARGMAX.
#include <cmath>
#include <limits>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

// A tensor as [outer, count, inner] around one axis.
struct Around {
  int64_t outer = 1, count = 1, inner = 1;
};
Around AroundAxis(const Tensor& x, int axis) {
  Around around;
  for (int i = 0; i < x.rank(); ++i) {
    (i < axis ? around.outer : i == axis ? around.count : around.inner) *= x.extent(i);
  }
  return around;
}

// step(so far, element) from `start` on, in the order of the axis; `Sum` is the type of the accumulator.
template <typename T, typename Sum, typename Step, typename Finish>
absl::StatusOr<Tensor> Reduce(const KernelCall& call, const Tensor& x, int axis, Sum start, Step step, Finish finish) {
  Extents shape(x.shape().begin(), x.shape().end());
  shape[axis] = 1;
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  const Around s = AroundAxis(x, axis);
  const T* in = x.data<T>().data();
  T* out = result.mutable_data<T>().data();
  std::vector<Sum> sums(s.inner);
  for (int64_t o = 0; o < s.outer; ++o) {
    std::fill(sums.begin(), sums.end(), start);
    for (int64_t k = 0; k < s.count; ++k, in += s.inner) {
      for (int64_t i = 0; i < s.inner; ++i) sums[i] = step(sums[i], in[i]);
    }
    for (int64_t i = 0; i < s.inner; ++i) *out++ = finish(sums[i]);
  }
  return result;
}

struct Operand {
  const Tensor& x;
  int axis;
};
absl::StatusOr<Operand> OperandOf(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const int axis = call.axis("axis", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c7", call.op_name(), ": a tensor of rank 0 has no axis");
  return Operand{x, axis};
}

enum class Kind : uint8_t { kSum, kProduct, kMax, kMin, kAll, kAny };

template <Kind kKind>
absl::StatusOr<Value> ReduceKernel(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call));
  const bool ignore_nan = (kKind == Kind::kMax || kKind == Kind::kMin) && call.text("nan_mode") == "IGNORE";
  TARE_RETURN_IF_ERROR(call.status());
  bool bad = false;
  TARE_ASSIGN_OR_RETURN(
      Tensor result, VisitElements(operand.x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
        using T = typename decltype(tag)::type;
        using Limits = std::numeric_limits<T>;
        const auto same = [](T v) { return v; };
        if constexpr (kKind == Kind::kSum || kKind == Kind::kProduct) {
          if constexpr (std::is_floating_point_v<T>) {
            return Reduce<T, T>(
                call, operand.x, operand.axis, kKind == Kind::kSum ? T{0} : T{1},
                [](T a, T b) { return kKind == Kind::kSum ? a + b : a * b; }, same);
          } else if constexpr (kKind == Kind::kProduct) {
            return UnimplementedError("eval_c13", call.op_name(), " on integers is not defined");
          } else {
            return Reduce<T, int64_t>(
                call, operand.x, operand.axis, 0,
                [&bad](int64_t a, T b) {
                  int64_t sum = 0;
                  bad |= __builtin_add_overflow(a, static_cast<int64_t>(b), &sum);
                  return sum;
                },
                [&bad](int64_t sum) {
                  bad |= sum != static_cast<int64_t>(static_cast<T>(sum));
                  return static_cast<T>(sum);
                });
          }
        } else if constexpr (kKind == Kind::kAll || kKind == Kind::kAny) {
          return Reduce<T, T>(
              call, operand.x, operand.axis, static_cast<T>(kKind == Kind::kAll),
              [](T a, T b) -> T { return kKind == Kind::kAll ? (a != 0 && b != 0) : (a != 0 || b != 0); }, same);
        } else {
          constexpr bool kMax = kKind == Kind::kMax;
          const T start = std::is_floating_point_v<T> ? (kMax ? -Limits::infinity() : Limits::infinity())
                                                      : (kMax ? Limits::lowest() : Limits::max());
          // Where every element is NaN and NaN is ignored, the result is NaN.
          return Reduce<T, T>(
              call, operand.x, operand.axis, ignore_nan ? static_cast<T>(Limits::quiet_NaN()) : start,
              [=](T a, T b) {
                if constexpr (std::is_floating_point_v<T>) {
                  if (std::isnan(a)) return ignore_nan ? b : a;
                  if (std::isnan(b)) return ignore_nan ? a : b;
                }
                return (kMax ? b > a : b < a) ? b : a;
              },
              same);
        }
      }));
  if (bad) return InvalidError("eval_c15", call.op_name(), ": a sum overflows ", Name(operand.x.dtype()));
  return Value(std::move(result));
}

// The first of the largest. NaN: the first NaN, or passed over when ignored.
absl::StatusOr<Value> ArgMax(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call));
  const Tensor& x = operand.x;
  const bool ignore_nan = call.text("nan_mode") == "IGNORE";
  TARE_RETURN_IF_ERROR(call.status());
  Extents shape(x.shape().begin(), x.shape().end());
  shape.erase(shape.begin() + operand.axis);
  const Around s = AroundAxis(x, operand.axis);
  return AsValue(VisitElements(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(DType::kI32, shape));
    const T* in = x.data<T>().data();
    int32_t* out = result.mutable_data<int32_t>().data();
    const auto is_nan = [](T v) {
      if constexpr (std::is_floating_point_v<T>) return std::isnan(v);
      return false;
    };
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t i = 0; i < s.inner; ++i) {
        const T* row = in + o * s.count * s.inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < s.count; ++k) {
          const T a = row[best * s.inner], b = row[k * s.inner];
          const bool better = is_nan(a) ? (ignore_nan && !is_nan(b)) : is_nan(b) ? !ignore_nan : b > a;
          if (better) best = k;
        }
        *out++ = static_cast<int32_t>(best);
      }
    }
    return result;
  }));
}

constexpr KernelRow kRows[] = {
    {"tosa.ARGMAX.default", ArgMax},
    {"tosa.REDUCE_ALL.default", ReduceKernel<Kind::kAll>},
    {"tosa.REDUCE_ANY.default", ReduceKernel<Kind::kAny>},
    {"tosa.REDUCE_MAX.default", ReduceKernel<Kind::kMax>},
    {"tosa.REDUCE_MIN.default", ReduceKernel<Kind::kMin>},
    {"tosa.REDUCE_PRODUCT.default", ReduceKernel<Kind::kProduct>},
    {"tosa.REDUCE_SUM.default", ReduceKernel<Kind::kSum>},
};

}  // namespace

std::span<const KernelRow> TosaReduceKernels() { return kRows; }

}  // namespace tare
