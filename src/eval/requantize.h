// Fixed-point scaling of integers, bit for bit as TOSA's RESCALE and as CMSIS-NN do it.
//
// Everything here is exact integer arithmetic; the only floating point is the scale that is turned
// into a multiplier and a shift. Pure functions, a few nanoseconds each.
// Sources: TOSA 1.0 specification, RESCALE (apply_scale_32, apply_scale_16); CMSIS-NN, arm_nn_requantize;
// ExecuTorch 1.5.1, backends/arm/tosa/quant_utils.py and backends/cortex_m/quantizer, for scale to multiplier.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace tare {

// A scale as integers: multiplier * 2^-shift.
struct FixedScale {
  int32_t multiplier = 0;  // >= 0; below 2^31, for 16-bit scales below 2^15
  int32_t shift = 0;       // to the right, 2 … 62
  friend bool operator==(const FixedScale&, const FixedScale&) = default;
};
// Width of the multiplier: RESCALE's scale32 = true is k32. 48-bit inputs need k16.
enum class ScaleWidth : uint8_t { k32 = 32, k16 = 16 };
enum class ScaleRounding : uint8_t { kSingle, kDouble };  // kDouble: only k32, needs EXT-DOUBLEROUND

inline constexpr int kMinShift = 2, kMaxShift = 62;

// The multiplier of `width` nearest to `scale`, ties to even, as large as fits; a scale that needs a
// shift above 62 loses low bits of the multiplier instead, down to 0. Scale 0 gives {0, width - 1}.
// Errors: InvalidArgument [tosa_scale_c1] negative or not finite, [tosa_scale_c2] so large that the
// shift would be below 2: from 2^29 on for k32, from 2^13 on for k16.
absl::StatusOr<FixedScale> FixedScaleOf(double scale, ScaleWidth width);
// The same for each channel; names the channel in errors.
absl::StatusOr<std::vector<FixedScale>> FixedScalesOf(std::span<const double> scales, ScaleWidth width);
// The real number a fixed scale stands for, without loss. FixedScaleOf gives it back, in its largest form,
// which scales every value that RESCALE accepts to the same result under kSingle.
double RealScaleOf(FixedScale scale);

// (value * multiplier + rounding) >> shift; ties go up. kDouble rounds twice where shift > 31.
// Errors: InvalidArgument [rescale_c1] multiplier or shift out of range, [rescale_c2] value outside
// [-2^(shift - 1), 2^(shift - 1)) (k32) or outside 48 bits (k16), [rescale_c3] result outside int32.
absl::StatusOr<int32_t> ApplyScale32(int64_t value, FixedScale scale, ScaleRounding rounding);
absl::StatusOr<int32_t> ApplyScale16(int64_t value, FixedScale scale);

// What one RESCALE does to one element, apart from its scale.
struct RescaleElement {
  ScaleWidth width = ScaleWidth::k32;
  ScaleRounding rounding = ScaleRounding::kSingle;
  int32_t input_zp = 0, output_zp = 0;
  int32_t min = INT8_MIN, max = INT8_MAX;  // of the output type, unsigned ones too
};
// `value` as the input type holds it, zero-extended if unsigned; the result within [min, max].
// Errors: those of ApplyScale; [rescale_c4] adding the output's zero point leaves int32.
absl::StatusOr<int32_t> Rescale(int64_t value, FixedScale scale, const RescaleElement& element);

// Multiplier and shift of AVG_POOL2D's division by `count` >= 1 elements.
FixedScale ReciprocalScaleOf(int32_t count);

// CMSIS-NN's form: multiplier * 2^(shift - 31), shift to the LEFT, no limits on shift.
struct CmsisScale {
  int32_t multiplier = 0;
  int32_t shift = 0;
  friend bool operator==(const CmsisScale&, const CmsisScale&) = default;
};
// Errors: InvalidArgument [cmsis_scale_c1] negative or not finite.
absl::StatusOr<CmsisScale> CmsisScaleOf(double scale);
// arm_nn_requantize: value * 2^max(shift, 0), high half of the doubled product, rounded division by
// 2^max(-shift, 0); values wrap at 32 bits as they do there. `scale.shift` within -31 … 31.
int32_t CmsisRequantize(int32_t value, CmsisScale scale);

}  // namespace tare
