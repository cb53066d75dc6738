// ATen's pools of three spatial axes, and adaptive maxima of one to three. Source: aten/src/ATen/native/Pool.h,
// AdaptiveMaxPooling.
#include <algorithm>
#include <array>
#include <cmath>

#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/pool_window.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr int kAxes = 3;
constexpr int64_t kMaxWindows = int64_t{1} << 20;  // of one axis

// Elements first, first + step, … below last; `last` may lie beyond the input.
struct Window {
  int64_t first = 0, last = 0, step = 1;
};
struct Plan {
  std::array<int64_t, kAxes> in = {1, 1, 1};
  std::array<std::vector<Window>, kAxes> windows;
  int64_t planes = 1;
  Extents shape;  // of the result
};

// The last `spatial` axes of x; those missing in front have one window of one element.
Plan PlanOf(const Tensor& x, int spatial) {
  Plan plan;
  plan.shape.assign(x.shape().begin(), x.shape().end());
  for (int i = 0; i < x.rank() - spatial; ++i) plan.planes *= x.extent(i);
  for (int i = 0; i < kAxes; ++i) {
    if (i < kAxes - spatial) {
      plan.windows[i] = {{0, 1, 1}};
    } else {
      plan.in[i] = x.extent(x.rank() - kAxes + i);
    }
  }
  return plan;
}

// Calls visit(place) for each element that three windows share.
template <typename Visit>
void ForEachIn(const Plan& plan, const std::array<const Window*, kAxes>& w, Visit visit) {
  const auto from = [](const Window& one) {
    return one.first >= 0 ? one.first : one.first + (one.step - 1 - one.first) / one.step * one.step;
  };
  for (int64_t z = from(*w[0]); z < std::min(w[0]->last, plan.in[0]); z += w[0]->step)
    for (int64_t y = from(*w[1]); y < std::min(w[1]->last, plan.in[1]); y += w[1]->step)
      for (int64_t x = from(*w[2]); x < std::min(w[2]->last, plan.in[2]); x += w[2]->step)
        visit((z * plan.in[1] + y) * plan.in[2] + x);
}

// Calls visit(plane, result place, windows) in row-major order of the result.
template <typename Visit>
void ForEachWindow(const Plan& plan, Visit visit) {
  int64_t to = 0;
  for (int64_t plane = 0; plane < plan.planes; ++plane)
    for (const Window& z : plan.windows[0])
      for (const Window& y : plan.windows[1])
        for (const Window& x : plan.windows[2]) visit(plane, to++, std::array<const Window*, kAxes>{&z, &y, &x});
}

absl::StatusOr<Value> Largest(KernelCall& call, const Tensor& x, const Plan& plan, bool places) {
  TARE_ASSIGN_OR_RETURN(Tensor indices, call.Make(DType::kI64, plan.shape));
  const int64_t plane_size = plan.in[0] * plan.in[1] * plan.in[2];
  bool empty = false;
  TARE_ASSIGN_OR_RETURN(
      Tensor values, VisitElements(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
        using T = typename decltype(tag)::type;
        TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), plan.shape));
        ForEachWindow(plan, [&](int64_t plane, int64_t to, const std::array<const Window*, kAxes>& windows) {
          const T* in = x.data<T>().data() + plane * plane_size;
          int64_t best = -1;
          ForEachIn(plan, windows, [&](int64_t at) {
            bool better = best < 0 || in[at] > in[best];
            if constexpr (std::is_floating_point_v<T>) better |= std::isnan(in[at]);
            if (better) best = at;
          });
          empty |= best < 0;
          if (best < 0) return;
          result.mutable_data<T>()[to] = in[best];
          indices.mutable_data<int64_t>()[to] = best;
        });
        return result;
      }));
  if (empty) return WrongPool(call, x);
  if (!places) return Value(std::move(values));
  return Value::List({Value(std::move(values)), Value(std::move(indices))});
}

absl::StatusOr<std::array<int64_t, kAxes>> Triple(KernelCall& call, const Tensor& x, std::string_view name,
                                                  const std::array<int64_t, kAxes>& when_empty) {
  const std::vector<int64_t> values = call.given(name) ? call.ints(name) : std::vector<int64_t>();
  TARE_RETURN_IF_ERROR(call.status());
  if (values.empty()) return when_empty;
  if (values.size() == 1) return std::array<int64_t, kAxes>{values[0], values[0], values[0]};
  if (values.size() != kAxes) return WrongPool(call, x);
  return std::array<int64_t, kAxes>{values[0], values[1], values[2]};
}

struct Fixed {
  Plan plan;
  std::array<int64_t, kAxes> padding;
};
absl::StatusOr<Fixed> FixedOf(KernelCall& call, const Tensor& x) {
  if (x.rank() < kAxes + 1) return WrongPool(call, x);
  TARE_ASSIGN_OR_RETURN(const auto kernel, Triple(call, x, "kernel_size", {1, 1, 1}));
  TARE_ASSIGN_OR_RETURN(const auto stride, Triple(call, x, "stride", kernel));
  TARE_ASSIGN_OR_RETURN(const auto padding, Triple(call, x, "padding", {0, 0, 0}));
  std::array<int64_t, kAxes> dilation = {1, 1, 1};
  if (call.op_name().find("max") != std::string_view::npos) {
    TARE_ASSIGN_OR_RETURN(dilation, Triple(call, x, "dilation", {1, 1, 1}));
  }
  const bool ceil = call.flag("ceil_mode");
  TARE_RETURN_IF_ERROR(call.status());
  Fixed fixed{PlanOf(x, kAxes), padding};
  for (int i = 0; i < kAxes; ++i) {
    const int64_t k = kernel[i], s = stride[i], p = padding[i], d = dilation[i];
    const std::optional<int64_t> extent = PoolExtent({fixed.plan.in[i], k, s, p, d}, ceil);
    if (!extent.has_value()) return WrongPool(call, x);
    const int64_t out = *extent;
    if (out > kMaxWindows) return WrongPool(call, x);
    for (int64_t o = 0; o < out; ++o) fixed.plan.windows[i].push_back({o * s - p, o * s - p + d * (k - 1) + 1, d});
    fixed.plan.shape[x.rank() - kAxes + i] = out;
  }
  return fixed;
}

template <bool kPlaces>
absl::StatusOr<Value> MaxPool(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Fixed fixed, FixedOf(call, x));
  return Largest(call, x, fixed.plan, kPlaces);
}

// Sums over divisor(windows, elements there are).
template <typename Divisor>
absl::StatusOr<Value> Average(KernelCall& call, const Tensor& x, const Plan& plan, Divisor divisor) {
  const int64_t plane_size = plan.in[0] * plan.in[1] * plan.in[2];
  return AsValue(VisitFloats(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), plan.shape));
    ForEachWindow(plan, [&](int64_t plane, int64_t to, const std::array<const Window*, kAxes>& windows) {
      const T* in = x.data<T>().data() + plane * plane_size;
      double sum = 0;
      int64_t count = 0;
      ForEachIn(plan, windows, [&](int64_t at) {
        sum += static_cast<double>(in[at]);
        ++count;
      });
      result.mutable_data<T>()[to] = static_cast<T>(sum / static_cast<double>(divisor(windows, count)));
    });
    return result;
  }));
}

// With padding that counts, up to its end; else the elements there are; else the divisor given.
absl::StatusOr<Value> AvgPool(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Fixed fixed, FixedOf(call, x));
  const bool with_padding = call.flag("count_include_pad");
  const int64_t divisor = call.given("divisor_override") ? call.integer("divisor_override") : 0;
  TARE_RETURN_IF_ERROR(call.status());
  return Average(call, x, fixed.plan, [&](const std::array<const Window*, kAxes>& windows, int64_t count) {
    if (divisor != 0) return divisor;
    if (!with_padding) return count;
    int64_t padded = 1;
    for (int i = 0; i < kAxes; ++i)
      padded *= std::min(windows[i]->last, fixed.plan.in[i] + fixed.padding[i]) - windows[i]->first;
    return padded;
  });
}

// Window o of `out` over `in`: [floor(o in / out), ceil((o + 1) in / out)).
absl::StatusOr<Plan> AdaptiveOf(KernelCall& call, const Tensor& x, int spatial) {
  std::vector<int64_t> size = call.ints("output_size");
  TARE_RETURN_IF_ERROR(call.status());
  if (size.size() == 1) size.resize(static_cast<size_t>(spatial), size[0]);
  if (static_cast<int>(size.size()) != spatial || x.rank() < spatial + 1) return WrongPool(call, x);
  Plan plan = PlanOf(x, spatial);
  for (int i = 0; i < spatial; ++i) {
    const int axis = kAxes - spatial + i;
    const int64_t in = plan.in[axis], out = size[static_cast<size_t>(i)];
    if (out < 0 || out > kMaxWindows || in < 1 || in > INT32_MAX) return WrongPool(call, x);
    for (int64_t o = 0; o < out; ++o) plan.windows[axis].push_back({o * in / out, ((o + 1) * in + out - 1) / out, 1});
    plan.shape[x.rank() - spatial + i] = out;
  }
  return plan;
}
template <int kSpatial>
absl::StatusOr<Value> AdaptiveMaxPool(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Plan plan, AdaptiveOf(call, x, kSpatial));
  return Largest(call, x, plan, true);
}
absl::StatusOr<Value> AdaptiveAvgPool(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Plan plan, AdaptiveOf(call, x, kAxes));
  return Average(call, x, plan, [](const std::array<const Window*, kAxes>&, int64_t count) { return count; });
}

constexpr KernelRow kRows[] = {
    {"aten._adaptive_avg_pool3d.default", AdaptiveAvgPool},
    {"aten.adaptive_avg_pool3d.default", AdaptiveAvgPool},
    {"aten.adaptive_max_pool1d.default", AdaptiveMaxPool<1>},
    {"aten.adaptive_max_pool2d.default", AdaptiveMaxPool<2>},
    {"aten.adaptive_max_pool3d.default", AdaptiveMaxPool<3>},
    {"aten.avg_pool3d.default", AvgPool},
    {"aten.max_pool3d.default", MaxPool<false>},
    {"aten.max_pool3d_with_indices.default", MaxPool<true>},
};

}  // namespace

std::span<const KernelRow> AtenPool3dKernels() { return kRows; }

}  // namespace tare
