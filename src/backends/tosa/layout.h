// Orders of dims: channels first as in ATen, channels last as in TOSA.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tare {

// [N, C, D1, …] -> [N, D1, …, C] as perms of TRANSPOSE.
inline std::vector<int64_t> ToChannelsLast(size_t rank) {
  std::vector<int64_t> perms = {0};
  for (size_t i = 2; i < rank; ++i) perms.push_back(static_cast<int64_t>(i));
  perms.push_back(1);
  return perms;
}
inline std::vector<int64_t> ToChannelsFirst(size_t rank) {
  std::vector<int64_t> perms = {0, static_cast<int64_t>(rank) - 1};
  for (size_t i = 1; i + 1 < rank; ++i) perms.push_back(static_cast<int64_t>(i));
  return perms;
}
inline std::vector<int64_t> InversePerms(std::span<const int64_t> perms) {
  std::vector<int64_t> inverse(perms.size());
  for (size_t i = 0; i < perms.size(); ++i) inverse[perms[i]] = static_cast<int64_t>(i);
  return inverse;
}
// Result axis i is axis first[second[i]] of the input of `first`.
inline std::vector<int64_t> ComposePerms(std::span<const int64_t> first, std::span<const int64_t> second) {
  std::vector<int64_t> composed;
  for (const int64_t axis : second) composed.push_back(first[axis]);
  return composed;
}
// The other dims keep their order, so elements stay where they are.
inline bool MovesOnlyOnes(std::span<const int64_t> shape, std::span<const int64_t> perms) {
  int64_t last = -1;
  for (const int64_t axis : perms) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}
inline bool IsIdentity(std::span<const int64_t> perms) {
  for (size_t i = 0; i < perms.size(); ++i)
    if (perms[i] != static_cast<int64_t>(i)) return false;
  return true;
}

}  // namespace tare
