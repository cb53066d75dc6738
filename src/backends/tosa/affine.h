// Affine quantisation as quantize and dequantize nodes state it: real = scale * (q - zero_point).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/context.h"
#include "ir/stores.h"
#include "passes/node.h"

namespace tare {

struct Affine {
  DType storage = DType::kI8;
  int axis = -1;                     // -1 = per tensor
  std::vector<double> scales;        // one, or one per channel
  std::vector<int64_t> zero_points;  // as many
  int64_t qmin = 0, qmax = 0;

  bool per_tensor() const { return axis < 0; }
  double scale() const { return scales[0]; }
  int64_t zero_point() const { return zero_points[0]; }
  friend bool operator==(const Affine&, const Affine&) = default;
  // Same meaning of the same integer; the range may differ.
  bool SameScale(const Affine& other) const {
    return storage == other.storage && axis == other.axis && scales == other.scales && zero_points == other.zero_points;
  }
  QuantParams Params() const { return {storage, axis, scales, zero_points, qmin, qmax}; }
};
Affine AffineOf(const QuantParams& params);

// The integer that stands for `real`: rounded half to even in f32 as the quantize ops do, within [qmin, qmax].
int64_t QuantizeOne(const Affine& affine, double real);
double DequantizeOne(const Affine& affine, int64_t code);  // in f32
std::vector<int64_t> QuantizeAll(const Affine& affine, std::span<const float> reals);

// The quantize and dequantize ops of quantized_decomposed.
struct QdqOps {
  explicit QdqOps(const Context& context);
  std::vector<Op> quantize, dequantize;  // per tensor, per tensor with tensor arguments, per channel
  bool IsQuantize(Op op) const;
  bool IsDequantize(Op op) const;
  // Parameters of a quantize or dequantize; nothing when they are not constant, not positive and finite, or do not
  // fit together.
  std::optional<Affine> Read(const Context& context, Node node) const;
};

}  // namespace tare
