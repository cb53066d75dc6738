#include "eval/movement.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_join.h"
#include "eval/elementwise.h"
#include "ir/status.h"

namespace tare {
namespace {

template <typename... Parts>
absl::Status Wrong(const KernelCall& call, const Tensor& x, const Parts&... parts) {
  return InvalidError("eval_c18", call.op_name(), " of ", Describe(x), ": ", parts...);
}

absl::StatusOr<Tensor> Copied(const KernelCall& call, const Tensor& x, std::span<const int64_t> shape, int64_t start,
                              const Extents& strides) {
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  CopyStrided(x.bytes(), start, strides, result.mutable_bytes(), 0, ContiguousStrides(shape), shape,
              ElementBytes(x.dtype()));
  return result;
}

}  // namespace

absl::StatusOr<Tensor> Permuted(const KernelCall& call, const Tensor& x, std::span<const int64_t> perms) {
  const size_t rank = x.shape().size();
  std::vector<bool> seen(rank, false);
  const Extents own = ContiguousStrides(x.shape());
  Extents shape, strides;
  for (const int64_t p : perms) {
    const int64_t axis = p < 0 ? p + static_cast<int64_t>(rank) : p;
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || seen[axis])
      return Wrong(call, x, "[", absl::StrJoin(perms, ","), "] is no permutation");
    seen[axis] = true;
    shape.push_back(x.extent(static_cast<int>(axis)));
    strides.push_back(own[axis]);
  }
  if (shape.size() != rank) return Wrong(call, x, "[", absl::StrJoin(perms, ","), "] is no permutation");
  return Copied(call, x, shape, 0, strides);
}

absl::StatusOr<Tensor> Sliced(const KernelCall& call, const Tensor& x, std::span<const int64_t> start,
                              std::span<const int64_t> size, std::span<const int64_t> step) {
  const size_t rank = x.shape().size();
  if (start.size() != rank || size.size() != rank || step.size() != rank) return Wrong(call, x, "ranks differ");
  const Extents own = ContiguousStrides(x.shape());
  Extents strides;
  int64_t first = 0;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = x.extent(static_cast<int>(i));
    int64_t last;
    const bool overflows = __builtin_mul_overflow(std::max<int64_t>(size[i] - 1, 0), step[i], &last) ||
                           __builtin_add_overflow(last, start[i], &last);
    if (overflows || size[i] < 0 || (size[i] > 0 && (start[i] < 0 || start[i] >= extent || last < 0 || last >= extent)))
      return Wrong(call, x, size[i], " elements from ", start[i], " on do not lie within axis ", i);
    strides.push_back(size[i] > 1 ? own[i] * step[i] : 0);  // a step that is not taken may be any number
    if (size[i] > 0) first += own[i] * start[i];
  }
  return Copied(call, x, size, first, strides);
}

absl::StatusOr<Tensor> Expanded(const KernelCall& call, const Tensor& x, std::span<const int64_t> shape) {
  TARE_ASSIGN_OR_RETURN(const Extents both, BroadcastShape(x.shape(), shape));
  if (!std::equal(both.begin(), both.end(), shape.begin(), shape.end()))
    return Wrong(call, x, "it does not repeat to [", absl::StrJoin(shape, ","), "]");
  return Copied(call, x, shape, 0, BroadcastStrides(x.shape(), shape));
}

absl::StatusOr<Tensor> Tiled(const KernelCall& call, const Tensor& x, std::span<const int64_t> multiples) {
  const size_t rank = x.shape().size(), extra = multiples.size() - std::min(rank, multiples.size());
  if (multiples.size() < rank) return Wrong(call, x, multiples.size(), " multiples for rank ", rank);
  // Axes (m0, e0, m1, e1, …): the multiples walk nothing.
  const Extents own = ContiguousStrides(x.shape());
  Extents walked, strides, shape;
  for (size_t i = 0; i < multiples.size(); ++i) {
    const int64_t extent = i < extra ? 1 : x.extent(static_cast<int>(i - extra));
    int64_t product;
    if (multiples[i] < 0 || __builtin_mul_overflow(multiples[i], extent, &product))
      return Wrong(call, x, "multiple ", multiples[i], " is out of range");
    walked.insert(walked.end(), {multiples[i], extent});
    strides.insert(strides.end(), {0, i < extra ? 0 : own[i - extra]});
    shape.push_back(product);
  }
  TARE_ASSIGN_OR_RETURN(const Tensor result, Copied(call, x, walked, 0, strides));
  return result.Reshaped(shape);
}

absl::StatusOr<Tensor> Concatenated(const KernelCall& call, std::span<const Tensor* const> parts, int axis) {
  Extents shape(parts[0]->shape().begin(), parts[0]->shape().end());
  shape[axis] = 0;
  for (const Tensor* part : parts) {
    if (part->dtype() != parts[0]->dtype() || part->rank() != parts[0]->rank())
      return Wrong(call, *parts[0], Describe(*part), " cannot be joined to it");
    for (int i = 0; i < part->rank(); ++i) {
      if (i != axis && part->extent(i) != shape[i])
        return Wrong(call, *parts[0], Describe(*part), " cannot be joined to it");
    }
    if (__builtin_add_overflow(shape[axis], part->extent(axis), &shape[axis]))
      return Wrong(call, *parts[0], "too many elements");
  }
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(parts[0]->dtype(), shape));
  const Extents strides = ContiguousStrides(shape);
  int64_t at = 0;
  for (const Tensor* part : parts) {
    CopyStrided(part->bytes(), 0, ContiguousStrides(part->shape()), result.mutable_bytes(), at * strides[axis], strides,
                part->shape(), ElementBytes(part->dtype()));
    at += part->extent(axis);
  }
  return result;
}

absl::StatusOr<Tensor> Padded(const KernelCall& call, const Tensor& x, std::span<const int64_t> before,
                              std::span<const int64_t> shape, std::span<const std::byte> fill) {
  TARE_CHECK(static_cast<int>(fill.size()) == ElementBytes(x.dtype()));
  if (before.size() != x.shape().size() || shape.size() != x.shape().size()) return Wrong(call, x, "ranks differ");
  const Extents strides = ContiguousStrides(shape);
  int64_t start = 0;
  for (int i = 0; i < x.rank(); ++i) {
    if (before[i] < 0 || before[i] > shape[i] - x.extent(i)) return Wrong(call, x, "padding does not fit");
  }
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  for (int i = 0; i < x.rank(); ++i) start += before[i] * strides[i];
  const std::span<std::byte> out = result.mutable_bytes();
  if (std::any_of(fill.begin(), fill.end(), [](std::byte b) { return b != std::byte{0}; })) {
    for (size_t at = 0; at < out.size(); at += fill.size()) std::memcpy(out.data() + at, fill.data(), fill.size());
  }
  CopyStrided(x.bytes(), 0, ContiguousStrides(x.shape()), out, start, strides, x.shape(), ElementBytes(x.dtype()));
  return result;
}

absl::StatusOr<Tensor> ReshapedTo(const KernelCall& call, const Tensor& x, std::vector<int64_t> shape) {
  const auto wrong = [&] { return Wrong(call, x, "it has not the elements of [", absl::StrJoin(shape, ","), "]"); };
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    *open = 1;
    TARE_ASSIGN_OR_RETURN(const int64_t rest, CountElements(shape));
    if (rest == 0 || x.size() % rest != 0) return wrong();
    *open = x.size() / rest;
  }
  TARE_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  if (count != x.size()) return wrong();
  return x.Reshaped(shape);
}

std::vector<std::byte> ElementOf(DType dtype, const Number& number) {
  std::vector<std::byte> bytes(ElementBytes(dtype));
  const auto store = [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    T value;
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(number.as_real());
    } else if (dtype == DType::kBool) {
      value = number.as_real() != 0;
    } else if (number.kind == ValueKind::kFloat) {
      const double low = static_cast<double>(std::numeric_limits<T>::min());
      const double high = static_cast<double>(std::numeric_limits<T>::max());
      value = number.real <= low           ? std::numeric_limits<T>::min()
              : number.real >= high        ? std::numeric_limits<T>::max()
              : number.real == number.real ? static_cast<T>(number.real)
                                           : T{0};
    } else if constexpr (sizeof(T) < 8) {
      value = static_cast<T>(
          std::clamp<int64_t>(number.integer, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    } else {
      value = static_cast<T>(number.integer);
    }
    std::memcpy(bytes.data(), &value, sizeof(T));
    return Tensor();
  };
  (void)VisitElements(dtype, "fill", store);
  return bytes;
}

}  // namespace tare
