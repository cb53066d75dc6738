// Elements of constants as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/context.h"
#include "ir/program.h"

namespace tare {

// Row-major; one of both lists is used. Bools are 0 and 1.
struct Elements {
  bool is_real = false;
  std::vector<int64_t> integers;
  std::vector<double> reals;
};

// The elements of the view that the constant's metadata describes. Nothing when there are more than `limit`, when bytes
// are missing, when extents are symbolic or the dtype is not bool, an integer of 8 to 64 bits, f32 or f64. Linear in
// the elements.
std::optional<Elements> ReadElements(const Context& context, const Constant& constant, int64_t limit);

}  // namespace tare
