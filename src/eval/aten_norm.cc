// ATen's normalisations. Source: torch/_decomp/decompositions.py.
#include <algorithm>
#include <cmath>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

absl::Status Wrong(const KernelCall& call, const Tensor& x) {
  return InvalidError("eval_c16", call.op_name(), " of ", Describe(x), ": operands do not go together");
}

// Null, or elements of `count` numbers in the type of x.
template <typename T>
absl::StatusOr<const T*> Numbers(const KernelCall& call, const Tensor* numbers, const Tensor& x, int64_t count) {
  if (numbers == nullptr) return static_cast<const T*>(nullptr);
  if (numbers->dtype() != x.dtype() || numbers->size() != count) return Wrong(call, x);
  return numbers->data<T>().data();
}

// What a batch norm gives: y, and of the batch, when its statistics are used, per channel.
struct Normal {
  Tensor result, mean, reciprocal, variance;  // the last without bias; empty when running statistics are used
  bool batch = false;
};

// Channels are axis 1. y = x * s + t with s = weight / sqrt(var + eps), t = bias - mean * s.
absl::StatusOr<Normal> Normalised(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const Tensor* weight = call.optional_tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  const bool has_running = !call.op_name().ends_with(".no_stats");
  const Tensor* mean = has_running ? call.optional_tensor("running_mean") : nullptr;
  const Tensor* variance = has_running ? call.optional_tensor("running_var") : nullptr;
  const double eps = call.real("eps");
  const bool training = call.given("training") && call.flag("training");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < 2) return Wrong(call, x);
  const int64_t channels = x.extent(1), batch = x.extent(0);
  const int64_t inner = channels == 0 || batch == 0 ? 0 : x.size() / (channels * batch);
  Normal normal;
  normal.batch = training || mean == nullptr || variance == nullptr;
  const Extents stats = {normal.batch ? channels : 0};
  for (Tensor* numbers : {&normal.mean, &normal.reciprocal, &normal.variance}) {
    TARE_ASSIGN_OR_RETURN(*numbers, call.Make(x.dtype(), stats));
  }
  TARE_ASSIGN_OR_RETURN(normal.result, VisitFloats(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
                          using T = typename decltype(tag)::type;
                          TARE_ASSIGN_OR_RETURN(const T* w, Numbers<T>(call, weight, x, channels));
                          TARE_ASSIGN_OR_RETURN(const T* b, Numbers<T>(call, bias, x, channels));
                          TARE_ASSIGN_OR_RETURN(const T* m, Numbers<T>(call, mean, x, channels));
                          TARE_ASSIGN_OR_RETURN(const T* v, Numbers<T>(call, variance, x, channels));
                          TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), x.shape()));
                          const T* elements = x.data<T>().data();
                          for (int64_t c = 0; c < channels; ++c) {
                            T channel_mean = normal.batch ? T{0} : m[c], reciprocal = T{1};
                            if (normal.batch) {
                              double sum = 0, squares = 0;
                              const auto visit = [&](auto each) {
                                for (int64_t n = 0; n < batch; ++n)
                                  for (int64_t k = 0; k < inner; ++k)
                                    each(static_cast<double>(elements[(n * channels + c) * inner + k]));
                              };
                              visit([&](double e) { sum += e; });
                              const double count = static_cast<double>(batch * inner), average = sum / count;
                              visit([&](double e) { squares += (e - average) * (e - average); });
                              channel_mean = static_cast<T>(average);
                              reciprocal = static_cast<T>(1 / std::sqrt(squares / count + eps));
                              normal.mean.mutable_data<T>()[c] = channel_mean;
                              normal.reciprocal.mutable_data<T>()[c] = reciprocal;
                              normal.variance.mutable_data<T>()[c] = static_cast<T>(squares / (count - 1));
                            } else {
                              reciprocal = T{1} / std::sqrt(v[c] + static_cast<T>(eps));
                            }
                            const T scale = (w == nullptr ? T{1} : w[c]) * reciprocal;
                            const T shift = (b == nullptr ? T{0} : b[c]) - channel_mean * scale;
                            for (int64_t n = 0; n < batch; ++n) {
                              const T* in = elements + (n * channels + c) * inner;
                              T* out = result.mutable_data<T>().data() + (n * channels + c) * inner;
                              for (int64_t k = 0; k < inner; ++k) out[k] = in[k] * scale + shift;
                            }
                          }
                          return result;
                        }));
  return normal;
}

absl::StatusOr<Value> BatchNorm(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(Normal normal, Normalised(call));
  return Value(std::move(normal.result));
}

// The statistics that are saved for training are empty otherwise.
absl::StatusOr<Value> NativeBatchNorm(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const Normal normal, Normalised(call));
  return Value::List({Value(normal.result), Value(normal.mean), Value(normal.reciprocal)});
}

// Also the running statistics, moved by `momentum` towards those of the batch.
absl::StatusOr<Value> FunctionalBatchNorm(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const Normal normal, Normalised(call));
  const double momentum = call.real("momentum");
  std::vector<Value> results = {Value(normal.result), Value(normal.mean), Value(normal.reciprocal)};
  for (const bool is_mean : {true, false}) {
    const Tensor& old = call.tensor(is_mean ? "running_mean" : "running_var");
    TARE_RETURN_IF_ERROR(call.status());
    if (!normal.batch) {
      results.emplace_back(old);
      continue;
    }
    const Tensor& found = is_mean ? normal.mean : normal.variance;
    if (old.dtype() != found.dtype() || old.size() != found.size()) return Wrong(call, old);
    TARE_ASSIGN_OR_RETURN(
        Tensor moved, VisitFloats(old.dtype(), call.op_name(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          return Map2<T, T>(call, old, found, old.dtype(), [momentum](T was, T is) {
            return static_cast<T>((1 - momentum) * static_cast<double>(was) + momentum * static_cast<double>(is));
          });
        }));
    results.emplace_back(std::move(moved));
  }
  return Value::List(std::move(results));
}

struct GroupStatistics {
  Tensor result, mean, reciprocal;  // of x's shape, and one number per group
};

// Rows of `length` elements normalised by themselves; element k of row r takes weight and bias at
// index(r, k). In double, rounded once.
template <typename T, typename Index>
absl::StatusOr<GroupStatistics> NormaliseRows(const KernelCall& call, const Tensor& x, int64_t length, double eps,
                                              bool centre, const T* weight, const T* bias, Index index) {
  const int64_t rows = length == 0 ? 0 : x.size() / length;
  GroupStatistics s;
  TARE_ASSIGN_OR_RETURN(s.result, call.Make(x.dtype(), x.shape()));
  TARE_ASSIGN_OR_RETURN(s.mean, call.Make(x.dtype(), Extents{rows}));
  TARE_ASSIGN_OR_RETURN(s.reciprocal, call.Make(x.dtype(), Extents{rows}));
  for (int64_t r = 0; r < rows; ++r) {
    const T* in = x.data<T>().data() + r * length;
    T* out = s.result.template mutable_data<T>().data() + r * length;
    double mean = 0, squares = 0;
    for (int64_t k = 0; k < length && centre; ++k) mean += static_cast<double>(in[k]);
    mean /= static_cast<double>(length);
    for (int64_t k = 0; k < length; ++k) {
      const double d = static_cast<double>(in[k]) - mean;
      squares += d * d;
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(length) + eps);
    for (int64_t k = 0; k < length; ++k) {
      double y = (static_cast<double>(in[k]) - mean) * scale;
      if (weight != nullptr) y *= static_cast<double>(weight[index(r, k)]);
      if (bias != nullptr) y += static_cast<double>(bias[index(r, k)]);
      out[k] = static_cast<T>(y);
    }
    s.mean.template mutable_data<T>()[r] = static_cast<T>(mean);
    s.reciprocal.template mutable_data<T>()[r] = static_cast<T>(scale);
  }
  return s;
}

template <typename F>
absl::StatusOr<Value> ForFloats(const KernelCall& call, const Tensor& x, F f) {
  if (x.dtype() == DType::kF32) return f(TypeTag<float>{});
  if (x.dtype() == DType::kF64) return f(TypeTag<double>{});
  return UnimplementedError("eval_c13", call.op_name(), " on ", Name(x.dtype()), " cannot be evaluated");
}

// Over the last axes; kWithStatistics: mean and reciprocal deviation as well.
template <bool kWithStatistics, bool kCentre>
absl::StatusOr<Value> LayerNorm(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const std::vector<int64_t> over = call.ints("normalized_shape");
  const Tensor* weight = call.optional_tensor("weight");
  const Tensor* bias = kCentre ? call.optional_tensor("bias") : nullptr;
  double eps = 0;
  if (call.given("eps")) {
    eps = call.real("eps");
  } else {
    eps = x.dtype() == DType::kF64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
  }
  TARE_RETURN_IF_ERROR(call.status());
  if (over.size() > x.shape().size() || !std::equal(over.begin(), over.end(), x.shape().end() - over.size()))
    return Wrong(call, x);
  int64_t length = 1;
  for (const int64_t extent : over) length *= extent;
  return ForFloats(call, x, [&](auto tag) -> absl::StatusOr<Value> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(const T* w, Numbers<T>(call, weight, x, length));
    TARE_ASSIGN_OR_RETURN(const T* b, Numbers<T>(call, bias, x, length));
    TARE_ASSIGN_OR_RETURN(const GroupStatistics s,
                          NormaliseRows<T>(call, x, length, eps, kCentre, w, b, [](int64_t, int64_t k) { return k; }));
    if constexpr (!kWithStatistics) return Value(s.result);
    Extents shape(x.shape().begin(), x.shape().end());
    std::fill(shape.end() - over.size(), shape.end(), 1);
    return Value::List({Value(s.result), Value(s.mean.Reshaped(shape)), Value(s.reciprocal.Reshaped(shape))});
  });
}

// [N, C, …] in groups of channels.
absl::StatusOr<Value> Grouped(KernelCall& call, const Tensor& x, int64_t groups, bool with_statistics) {
  const Tensor* weight = call.optional_tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  const double eps = call.real("eps");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < 2 || groups < 1 || x.extent(1) % groups != 0 || x.size() == 0) return Wrong(call, x);
  const int64_t channels = x.extent(1), length = x.size() / x.extent(0) / groups;
  const int64_t inner = length / (channels / groups);
  return ForFloats(call, x, [&](auto tag) -> absl::StatusOr<Value> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(const T* w, Numbers<T>(call, weight, x, channels));
    TARE_ASSIGN_OR_RETURN(const T* b, Numbers<T>(call, bias, x, channels));
    TARE_ASSIGN_OR_RETURN(const GroupStatistics s,
                          NormaliseRows<T>(call, x, length, eps, true, w, b, [&](int64_t r, int64_t k) {
                            return r % groups * (channels / groups) + k / inner;
                          }));
    if (!with_statistics) return Value(s.result);
    const Extents shape = {x.extent(0), groups};
    return Value::List({Value(s.result), Value(s.mean.Reshaped(shape)), Value(s.reciprocal.Reshaped(shape))});
  });
}

absl::StatusOr<Value> GroupNorm(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const int64_t groups = call.integer("num_groups");
  return Grouped(call, x, groups, false);
}

absl::StatusOr<Value> NativeGroupNorm(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const int64_t groups = call.integer("group");
  return Grouped(call, x, groups, true);
}

absl::StatusOr<Value> InstanceNorm(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const bool own = call.flag("use_input_stats");
  TARE_RETURN_IF_ERROR(call.status());
  if (!own) return BatchNorm(call);
  return Grouped(call, x, x.rank() > 1 ? x.extent(1) : 0, false);
}

constexpr KernelRow kRows[] = {
    {"aten._native_batch_norm_legit.no_stats", NativeBatchNorm},
    {"aten._native_batch_norm_legit_functional.default", FunctionalBatchNorm},
    {"aten._native_batch_norm_legit_no_training.default", NativeBatchNorm},
    {"aten.batch_norm.default", BatchNorm},
    {"aten.group_norm.default", GroupNorm},
    {"aten.instance_norm.default", InstanceNorm},
    {"aten.layer_norm.default", LayerNorm<false, true>},
    {"aten.native_batch_norm.default", NativeBatchNorm},
    {"aten.native_group_norm.default", NativeGroupNorm},
    {"aten.native_layer_norm.default", LayerNorm<true, true>},
    {"aten.rms_norm.default", LayerNorm<false, false>},
};

}  // namespace

std::span<const KernelRow> AtenNormKernels() { return kRows; }

}  // namespace tare
