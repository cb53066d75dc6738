#include "eval/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "eval/elementwise.h"

namespace tare {
namespace {

template <typename From, typename To>
To ConvertElement(From v) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) return 0;
    // The bounds of To are powers of two, so exact here.
    if (v <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (v >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(v);
}

// 0 for wrapped numbers, 1 for tensors without axes, 2 for others: who decides first.
int Rank(const KernelCall& call, std::string_view name, const Tensor& x) {
  return call.is_number(name) ? 0 : x.rank() == 0 ? 1 : 2;
}

DType Wider(DType a, DType b) {
  if (CategoryOf(a) != CategoryOf(b)) return CategoryOf(a) > CategoryOf(b) ? a : b;
  // u8 and a signed type of the same width meet in the next wider one.
  if ((a == DType::kU8 && b == DType::kI8) || (a == DType::kI8 && b == DType::kU8)) return DType::kI16;
  return BitsOf(a) >= BitsOf(b) ? a : b;
}

}  // namespace

absl::StatusOr<Tensor> Converted(const KernelCall& call, const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return VisitElements(x.dtype(), call.op_name(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    return VisitElements(dtype, call.op_name(), [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      if (dtype == DType::kBool) return Map<From, To>(call, x, dtype, [](From v) { return static_cast<To>(v != 0); });
      return Map<From, To>(call, x, dtype, ConvertElement<From, To>);
    });
  });
}

DType CommonDType(const KernelCall& call, std::string_view a_name, const Tensor& a, std::string_view b_name,
                  const Tensor& b) {
  const int a_rank = Rank(call, a_name, a), b_rank = Rank(call, b_name, b);
  if (a_rank == b_rank) return Wider(a.dtype(), b.dtype());
  const DType strong = a_rank > b_rank ? a.dtype() : b.dtype(), weak = a_rank > b_rank ? b.dtype() : a.dtype();
  if (CategoryOf(strong) >= CategoryOf(weak)) return strong;
  // A number brings the default type of its category.
  const bool number = std::min(a_rank, b_rank) == 0;
  return number && IsFloating(weak) ? DType::kF32 : weak;
}

}  // namespace tare
