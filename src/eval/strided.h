// Walks several arrays in the order of one shape: the loops under broadcasting and data movement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eval/tensor.h"

namespace tare {

using Extents = std::vector<int64_t>;

// Elements from one index to the next, per axis.
Extents ContiguousStrides(std::span<const int64_t> shape);
// Strides of an operand of shape `from` walked in the order of `to`: 0 where it repeats. Axes align at the
// end; `from` must broadcast to `to`.
Extents BroadcastStrides(std::span<const int64_t> from, std::span<const int64_t> to);
// Errors: InvalidArgument [eval_c5] when extents differ and neither is 1.
absl::StatusOr<Extents> BroadcastShape(std::span<const int64_t> a, std::span<const int64_t> b);

// `count` elements: of array k from `at[k]` on, `step[k]` apart.
template <int N>
struct Run {
  int64_t count = 0;
  std::array<int64_t, N> at = {}, step = {};
};

// Calls visit(run) until all elements of `shape` are passed once, in row-major order. Neighbouring axes that
// every array walks evenly become one. Cost: one call per innermost row.
template <int N, typename Visit>
void ForEachRun(std::span<const int64_t> shape, const std::array<Extents, N>& strides,
                const std::array<int64_t, N>& start, Visit visit) {
  Extents extents;
  std::array<Extents, N> steps;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return;
    if (shape[axis] == 1) continue;
    bool joins = !extents.empty();
    for (int k = 0; k < N && joins; ++k) joins = steps[k].back() == strides[k][axis] * shape[axis];
    if (joins) {
      extents.back() *= shape[axis];
      for (int k = 0; k < N; ++k) steps[k].back() = strides[k][axis];
    } else {
      extents.push_back(shape[axis]);
      for (int k = 0; k < N; ++k) steps[k].push_back(strides[k][axis]);
    }
  }
  Run<N> run;
  run.at = start;
  run.count = extents.empty() ? 1 : extents.back();
  for (int k = 0; k < N; ++k) run.step[k] = extents.empty() ? 0 : steps[k].back();
  const size_t outer = extents.empty() ? 0 : extents.size() - 1;
  Extents index(outer, 0);
  for (;;) {
    visit(static_cast<const Run<N>&>(run));
    size_t axis = outer;
    while (axis-- > 0) {
      for (int k = 0; k < N; ++k) run.at[k] += steps[k][axis];
      if (++index[axis] < extents[axis]) break;
      for (int k = 0; k < N; ++k) run.at[k] -= steps[k][axis] * extents[axis];
      index[axis] = 0;
    }
    if (axis == SIZE_MAX) return;
  }
}

// Copies elements of `element_bytes`: to[index . to_strides] = from[start + index . from_strides] for every
// index of `shape`. The caller has checked that all of them exist.
void CopyStrided(std::span<const std::byte> from, int64_t from_start, const Extents& from_strides,
                 std::span<std::byte> to, int64_t to_start, const Extents& to_strides, std::span<const int64_t> shape,
                 int element_bytes);

}  // namespace tare
