// ATen's reductions, scans and softmax. Sums of floating point are taken in double and rounded once.
// Source: torch/_refs/__init__.py, torch/_decomp/decompositions.py.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/rows.h"
#include "ir/status.h"

namespace tare {
namespace {

struct Operand {
  Rows rows;
  bool keepdim = false;
};

// `self`, in `dtype` if it has a value, along `dim`, which may be an int, a list or absent.
absl::StatusOr<Operand> OperandOf(KernelCall& call, std::optional<DType> dtype) {
  const Tensor& self = call.tensor("self");
  const std::vector<int64_t> dims = call.given("dim") ? call.ints("dim") : std::vector<int64_t>();
  Operand operand;
  operand.keepdim = call.given("keepdim") && call.flag("keepdim");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor x, Converted(call, self, dtype.value_or(self.dtype())));
  TARE_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOf(call, dims, x.rank()));
  TARE_ASSIGN_OR_RETURN(operand.rows, RowsOf(call, x, axes));
  return operand;
}

// f(first element, length) for each row.
template <typename In, typename Out, typename F>
absl::StatusOr<Tensor> MapRows(const KernelCall& call, const Operand& operand, DType dtype, F f) {
  const Rows& rows = operand.rows;
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(dtype, operand.keepdim ? rows.kept_ones : rows.kept));
  const In* in = rows.elements.data<In>().data();
  for (int64_t i = 0; i < rows.count; ++i) result.mutable_data<Out>()[i] = f(in + i * rows.length, rows.length);
  return result;
}

template <typename T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

enum class Kind : uint8_t { kSum, kMean, kProduct };

template <Kind kKind>
absl::StatusOr<Value> Total(KernelCall& call) {
  const std::optional<DType> dtype = call.result_dtype();
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call, dtype));
  const DType type = operand.rows.elements.dtype();
  return AsValue(VisitElements(type, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapRows<T, T>(call, operand, type, [](const T* row, int64_t n) {
      Sum<T> total = kKind == Kind::kProduct ? 1 : 0;
      for (int64_t i = 0; i < n; ++i) {
        const auto v = static_cast<Sum<T>>(row[i]);
        total = kKind == Kind::kProduct ? total * v : total + v;
      }
      if constexpr (std::is_floating_point_v<T>) {
        if (kKind == Kind::kMean) total /= static_cast<double>(n);
      }
      return static_cast<T>(total);
    });
  }));
}

template <typename T>
bool IsNan(T v) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(v);
  return false;
}

// The index of the first of the largest or smallest; NaN counts as both.
template <typename T, bool kMax>
int64_t Best(const T* row, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n && !IsNan(row[best]); ++i) {
    if (IsNan(row[i]) || (kMax ? row[i] > row[best] : row[i] < row[best])) best = i;
  }
  return best;
}

absl::Status NotEmpty(const KernelCall& call, const Operand& operand) {
  if (operand.rows.length > 0 || operand.rows.count == 0) return absl::OkStatus();
  return InvalidError("eval_c18", call.op_name(), ": nothing to choose from");
}

template <bool kMax>
absl::StatusOr<Value> Extreme(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call, std::nullopt));
  TARE_RETURN_IF_ERROR(NotEmpty(call, operand));
  const DType type = operand.rows.elements.dtype();
  return AsValue(VisitElements(type, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapRows<T, T>(call, operand, type, [](const T* row, int64_t n) { return row[Best<T, kMax>(row, n)]; });
  }));
}

template <bool kMax>
absl::StatusOr<Value> ArgExtreme(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call, std::nullopt));
  TARE_RETURN_IF_ERROR(NotEmpty(call, operand));
  return AsValue(VisitElements(operand.rows.elements.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapRows<T, int64_t>(call, operand, DType::kI64, Best<T, kMax>);
  }));
}

template <bool kMax>
absl::StatusOr<Value> ExtremeWithIndex(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(Value values, Extreme<kMax>(call));
  TARE_ASSIGN_OR_RETURN(Value indices, ArgExtreme<kMax>(call));
  return Value::List({std::move(values), std::move(indices)});
}

template <bool kAll>
absl::StatusOr<Value> Truth(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call, std::nullopt));
  const DType out = call.result_dtype().value_or(DType::kBool);
  return AsValue(VisitElements(operand.rows.elements.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapRows<T, uint8_t>(call, operand, out, [](const T* row, int64_t n) -> uint8_t {
      const auto holds = [](T v) { return v != 0; };
      return kAll ? std::all_of(row, row + n, holds) : std::any_of(row, row + n, holds);
    });
  }));
}

// Mean and sum of squared distances from it.
template <typename T>
std::pair<double, double> Moments(const T* row, int64_t n) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(row[i]);
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    squares += (static_cast<double>(row[i]) - mean) * (static_cast<double>(row[i]) - mean);
  return {mean, squares};
}

absl::StatusOr<double> Correction(KernelCall& call) {
  double correction = 1;
  if (call.given("correction")) correction = call.real("correction");
  if (call.given("unbiased")) correction = call.flag("unbiased") ? 1 : 0;
  TARE_RETURN_IF_ERROR(call.status());
  return correction;
}

template <bool kRoot>
absl::StatusOr<Value> Variance(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const double correction, Correction(call));
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call, std::nullopt));
  const DType type = operand.rows.elements.dtype();
  return AsValue(VisitFloats(type, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapRows<T, T>(call, operand, type, [correction](const T* row, int64_t n) {
      const double variance = Moments(row, n).second / std::max(0.0, static_cast<double>(n) - correction);
      return static_cast<T>(kRoot ? std::sqrt(variance) : variance);
    });
  }));
}

absl::StatusOr<Value> VarianceAndMean(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(Value variance, Variance<false>(call));
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call, std::nullopt));
  const DType type = operand.rows.elements.dtype();
  TARE_ASSIGN_OR_RETURN(Tensor mean, VisitFloats(type, call.op_name(), [&](auto tag) {
                          using T = typename decltype(tag)::type;
                          return MapRows<T, T>(call, operand, type, [](const T* row, int64_t n) {
                            return static_cast<T>(Moments(row, n).first);
                          });
                        }));
  return Value::List({std::move(variance), Value(std::move(mean))});
}

absl::StatusOr<Value> LogSumExp(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call, call.result_dtype()));
  const DType type = operand.rows.elements.dtype();
  return AsValue(VisitFloats(type, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapRows<T, T>(call, operand, type, [](const T* row, int64_t n) {
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t i = 0; i < n; ++i) most = std::max(most, static_cast<double>(row[i]));
      const double shift = std::isinf(most) ? 0 : most;
      for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(row[i]) - shift);
      return static_cast<T>(std::log(sum) + shift);
    });
  }));
}

absl::StatusOr<Value> VectorNorm(KernelCall& call) {
  const double order = call.given("ord") ? call.real("ord") : call.given("p") ? call.real("p") : 2.0;
  TARE_ASSIGN_OR_RETURN(const Operand operand, OperandOf(call, call.result_dtype()));
  const DType type = operand.rows.elements.dtype();
  return AsValue(VisitFloats(type, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapRows<T, T>(call, operand, type, [order](const T* row, int64_t n) {
      double total = std::isinf(order) && order < 0 ? std::numeric_limits<double>::infinity() : 0;
      for (int64_t i = 0; i < n; ++i) {
        const double v = std::abs(static_cast<double>(row[i]));
        if (std::isinf(order)) {
          total = order > 0 ? std::max(total, v) : std::min(total, v);
        } else {
          total += order == 0 ? (v != 0 ? 1 : 0) : order == 2 ? v * v : std::pow(v, order);
        }
      }
      if (!std::isinf(order) && order != 0) total = order == 2 ? std::sqrt(total) : std::pow(total, 1 / order);
      return static_cast<T>(total);
    });
  }));
}

// Along one axis, with a result of the same shape: transform(row in, row out, length).
template <typename F>
absl::StatusOr<Value> AlongAxis(KernelCall& call, DType type, F transform) {
  const Tensor& self = call.tensor("self");
  const int axis = call.axis("dim", self.rank());
  TARE_RETURN_IF_ERROR(call.status());
  const std::vector<int> axes = self.rank() == 0 ? std::vector<int>() : std::vector<int>{axis};
  TARE_ASSIGN_OR_RETURN(const Tensor x, Converted(call, self, type));
  TARE_ASSIGN_OR_RETURN(const Rows rows, RowsOf(call, x, axes));
  TARE_ASSIGN_OR_RETURN(const Tensor result,
                        VisitElements(type, call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
                          using T = typename decltype(tag)::type;
                          TARE_ASSIGN_OR_RETURN(Tensor out, call.Make(type, rows.elements.shape()));
                          for (int64_t i = 0; i < rows.count; ++i) {
                            transform(rows.elements.data<T>().data() + i * rows.length,
                                      out.mutable_data<T>().data() + i * rows.length, rows.length);
                          }
                          return out;
                        }));
  return AsValue(FromRows(call, result, x.shape(), axes));
}

// A safe softmax of nothing but -inf is zeros.
enum class SoftmaxKind : uint8_t { kPlain, kLog, kSafe };
template <SoftmaxKind kKind>
absl::StatusOr<Value> Softmax(KernelCall& call) {
  const DType type = call.result_dtype().value_or(DType::kF32);
  if (!IsFloating(type)) return InvalidError("eval_c14", call.op_name(), ": the result is ", Name(type));
  return AlongAxis(call, type, [](const auto* in, auto* out, int64_t n) {
    using T = std::decay_t<decltype(*out)>;
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < n; ++i) most = std::max(most, static_cast<double>(in[i]));
    if (kKind == SoftmaxKind::kSafe && std::isinf(most) && most < 0) {
      std::fill_n(out, n, T());
      return;
    }
    for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(in[i]) - most);
    for (int64_t i = 0; i < n; ++i) {
      const double shifted = static_cast<double>(in[i]) - most;
      out[i] = static_cast<T>(kKind == SoftmaxKind::kLog ? shifted - std::log(sum) : std::exp(shifted) / sum);
    }
  });
}

template <bool kProduct>
absl::StatusOr<Value> Cumulate(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  return AlongAxis(call, call.result_dtype().value_or(self.dtype()), [](const auto* in, auto* out, int64_t n) {
    using T = std::decay_t<decltype(*out)>;
    Sum<T> total = kProduct ? 1 : 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto v = static_cast<Sum<T>>(in[i]);
      total = kProduct ? total * v : total + v;
      out[i] = static_cast<T>(total);
    }
  });
}

constexpr KernelRow kRows[] = {
    {"aten._log_softmax.default", Softmax<SoftmaxKind::kLog>},
    {"aten._safe_softmax.default", Softmax<SoftmaxKind::kSafe>},
    {"aten._softmax.default", Softmax<SoftmaxKind::kPlain>},
    {"aten.all.default", Truth<true>},
    {"aten.all.dim", Truth<true>},
    {"aten.all.dims", Truth<true>},
    {"aten.amax.default", Extreme<true>},
    {"aten.amin.default", Extreme<false>},
    {"aten.any.default", Truth<false>},
    {"aten.any.dim", Truth<false>},
    {"aten.any.dims", Truth<false>},
    {"aten.argmax.default", ArgExtreme<true>},
    {"aten.argmin.default", ArgExtreme<false>},
    {"aten.cumprod.default", Cumulate<true>},
    {"aten.cumsum.default", Cumulate<false>},
    {"aten.linalg_vector_norm.default", VectorNorm},
    {"aten.log_softmax.int", Softmax<SoftmaxKind::kLog>},
    {"aten.logsumexp.default", LogSumExp},
    {"aten.max.default", Extreme<true>},
    {"aten.max.dim", ExtremeWithIndex<true>},
    {"aten.mean.default", Total<Kind::kMean>},
    {"aten.mean.dim", Total<Kind::kMean>},
    {"aten.min.default", Extreme<false>},
    {"aten.min.dim", ExtremeWithIndex<false>},
    {"aten.prod.default", Total<Kind::kProduct>},
    {"aten.prod.dim_int", Total<Kind::kProduct>},
    {"aten.softmax.int", Softmax<SoftmaxKind::kPlain>},
    {"aten.std.correction", Variance<true>},
    {"aten.std.dim", Variance<true>},
    {"aten.sum.default", Total<Kind::kSum>},
    {"aten.sum.dim_IntList", Total<Kind::kSum>},
    {"aten.var.correction", Variance<false>},
    {"aten.var.dim", Variance<false>},
    {"aten.var_mean.correction", VarianceAndMean},
};

}  // namespace

std::span<const KernelRow> AtenReduceKernels() { return kRows; }

}  // namespace tare
