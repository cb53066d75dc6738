#include "eval/strided.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_join.h"
#include "ir/status.h"

namespace tare {
namespace {

template <size_t kBytes>
struct Element {
  std::byte bytes[kBytes];
};

template <size_t kBytes>
void CopyAs(const std::byte* from, std::byte* to, std::span<const int64_t> shape, const std::array<Extents, 2>& strides,
            const std::array<int64_t, 2>& start) {
  using E = Element<kBytes>;
  const E* source = reinterpret_cast<const E*>(from);
  E* target = reinterpret_cast<E*>(to);
  ForEachRun<2>(shape, strides, start, [&](const Run<2>& run) {
    const E* a = source + run.at[0];
    E* b = target + run.at[1];
    if (run.step[0] == 1 && run.step[1] == 1) {
      std::memcpy(b, a, run.count * kBytes);
      return;
    }
    for (int64_t i = 0; i < run.count; ++i) b[i * run.step[1]] = a[i * run.step[0]];
  });
}

}  // namespace

Extents ContiguousStrides(std::span<const int64_t> shape) {
  Extents strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * std::max<int64_t>(shape[axis], 1);
  return strides;
}

Extents BroadcastStrides(std::span<const int64_t> from, std::span<const int64_t> to) {
  const Extents own = ContiguousStrides(from);
  Extents strides(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) strides[to.size() - from.size() + i] = own[i];
  }
  return strides;
}

absl::StatusOr<Extents> BroadcastShape(std::span<const int64_t> a, std::span<const int64_t> b) {
  Extents shape(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return InvalidError("eval_c5", "shapes [", absl::StrJoin(a, ","), "] and [", absl::StrJoin(b, ","),
                          "] do not go together");
    }
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

void CopyStrided(std::span<const std::byte> from, int64_t from_start, const Extents& from_strides,
                 std::span<std::byte> to, int64_t to_start, const Extents& to_strides, std::span<const int64_t> shape,
                 int element_bytes) {
  const std::array<Extents, 2> strides = {from_strides, to_strides};
  const std::array<int64_t, 2> start = {from_start, to_start};
  switch (element_bytes) {
    case 1:
      return CopyAs<1>(from.data(), to.data(), shape, strides, start);
    case 2:
      return CopyAs<2>(from.data(), to.data(), shape, strides, start);
    case 4:
      return CopyAs<4>(from.data(), to.data(), shape, strides, start);
    case 8:
      return CopyAs<8>(from.data(), to.data(), shape, strides, start);
    case 16:
      return CopyAs<16>(from.data(), to.data(), shape, strides, start);
    default:
      TARE_CHECK(false);
  }
}

}  // namespace tare
