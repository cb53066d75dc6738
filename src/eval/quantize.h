// Affine quantisation as quantized_decomposed does it: in f32, ties to even.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tare {

// round(x * (1 / scale)) + zero point, within [min, max]; NaN gives 0, whatever the zero point, as torch's cast does.
inline int64_t QuantizeElement(float x, double scale, int64_t zero_point, int64_t min, int64_t max) {
  const float steps = std::nearbyintf(x * static_cast<float>(1.0 / scale)) + static_cast<float>(zero_point);
  if (std::isnan(steps)) return std::clamp<int64_t>(0, min, max);
  if (steps <= static_cast<float>(min)) return min;
  if (steps >= static_cast<float>(max)) return max;
  return static_cast<int64_t>(steps);
}

inline float DequantizeElement(int64_t q, double scale, int64_t zero_point) {
  return static_cast<float>(q - zero_point) * static_cast<float>(scale);
}

}  // namespace tare
