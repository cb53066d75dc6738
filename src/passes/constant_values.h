// Elements of constants as numbers, and back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ir/context.h"
#include "ir/program.h"

namespace tare {

// Row-major. Nothing when the bytes are missing, too few, or not f32 or f64 of static shape.
std::optional<std::vector<double>> ReadFloats(const Context& context, const Constant& constant);
// Rounded to `dtype`, f32 or f64.
std::vector<std::byte> FloatBytes(DType dtype, std::span<const double> values);

}  // namespace tare
