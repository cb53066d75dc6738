// Within which bounds integers lie that are known late, as far as the ops say that make them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/rewriter.h"

namespace tare {

struct IntegerRange {
  int64_t low = 0, high = 0;  // both may occur
  bool fits_i32() const { return low >= INT32_MIN && high <= INT32_MAX; }
};

// Of each node of the main graph, by index. Nothing for what is no tensor of integers or bools, and for 64-bit ones
// that an op makes of which this knows nothing. 64-bit inputs of the user are taken to fit in 32 bits, as
// MoveInputCasts makes sure. Cost: linear in nodes and in the elements of constants of 64-bit integers.
std::vector<std::optional<IntegerRange>> IntegerRanges(Rewriter& rw);

}  // namespace tare
