#include "eval/requantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/status.h"

namespace tare {
namespace {

struct Mantissa {
  int64_t multiplier = 0;  // 2^(bits - 1) <= multiplier < 2^bits, or 0
  int exponent = 0;        // scale = multiplier * 2^(exponent - bits)
};

// Ties to even, whatever the rounding mode of the thread; `x` below 2^62.
int64_t RoundToEven(double x) {
  const double floor = std::floor(x);
  const double rest = x - floor;
  const int64_t whole = static_cast<int64_t>(floor);
  return whole + (rest > 0.5 || (rest == 0.5 && whole % 2 != 0) ? 1 : 0);
}

Mantissa MantissaOf(double scale, int bits) {
  Mantissa m;
  m.multiplier = RoundToEven(std::ldexp(std::frexp(scale, &m.exponent), bits));
  if (m.multiplier == int64_t{1} << bits) {
    m.multiplier /= 2;
    ++m.exponent;
  }
  return m;
}

bool FitsInt32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

absl::Status CheckScale(FixedScale scale, int64_t max_multiplier) {
  if (scale.multiplier >= 0 && scale.multiplier <= max_multiplier && scale.shift >= kMinShift &&
      scale.shift <= kMaxShift) {
    return absl::OkStatus();
  }
  return InvalidError("rescale_c1", "multiplier ", scale.multiplier, " and shift ", scale.shift,
                      " are no scale: 0 ... ", max_multiplier, " and ", kMinShift, " ... ", kMaxShift, " are needed");
}

absl::StatusOr<int32_t> Narrow(int64_t value) {
  if (!FitsInt32(value)) return InvalidError("rescale_c3", "the scaled value ", value, " needs more than 32 bits");
  return static_cast<int32_t>(value);
}

}  // namespace

absl::StatusOr<FixedScale> FixedScaleOf(double scale, ScaleWidth width) {
  if (!(scale >= 0) || std::isinf(scale)) {
    return InvalidError("tosa_scale_c1", "scale ", scale, " is not a finite number >= 0");
  }
  const int bits = static_cast<int>(width) - 1;
  const Mantissa m = MantissaOf(scale, bits);
  FixedScale fixed{static_cast<int32_t>(m.multiplier), bits - m.exponent};
  if (fixed.shift > kMaxShift) {
    fixed.multiplier >>= std::min(31, fixed.shift - kMaxShift);
    fixed.shift = kMaxShift;
  }
  if (fixed.shift < kMinShift) {
    return InvalidError("tosa_scale_c2", "scale ", scale, " is too large for a multiplier of ", static_cast<int>(width),
                        " bits: it must be below 2^", bits - kMinShift);
  }
  return fixed;
}

absl::StatusOr<std::vector<FixedScale>> FixedScalesOf(std::span<const double> scales, ScaleWidth width) {
  std::vector<FixedScale> fixed;
  fixed.reserve(scales.size());
  for (const double scale : scales) {
    absl::StatusOr<FixedScale> one = FixedScaleOf(scale, width);
    if (!one.ok()) {
      if (scales.size() == 1) return one.status();
      absl::Status named(one.status().code(), absl::StrCat("channel ", fixed.size(), ": ", one.status().message()));
      one.status().ForEachPayload(
          [&](absl::string_view key, const absl::Cord& value) { named.SetPayload(key, value); });
      return named;
    }
    fixed.push_back(*one);
  }
  return fixed;
}

double RealScaleOf(FixedScale scale) { return std::ldexp(static_cast<double>(scale.multiplier), -scale.shift); }

absl::StatusOr<int32_t> ApplyScale32(int64_t value, FixedScale scale, ScaleRounding rounding) {
  TARE_RETURN_IF_ERROR(CheckScale(scale, INT32_MAX));
  const int64_t limit = int64_t{1} << (scale.shift - 1);
  if (value < -limit || value >= limit || !FitsInt32(value)) {
    return InvalidError("rescale_c2", "value ", value, " is too large for shift ", scale.shift);
  }
  int64_t round = limit;
  if (rounding == ScaleRounding::kDouble && scale.shift > 31) round += value >= 0 ? 1 << 30 : -(1 << 30);
  return Narrow((value * scale.multiplier + round) >> scale.shift);
}

absl::StatusOr<int32_t> ApplyScale16(int64_t value, FixedScale scale) {
  TARE_RETURN_IF_ERROR(CheckScale(scale, INT16_MAX));
  constexpr int64_t kLimit = int64_t{1} << 47;
  if (value < -kLimit || value >= kLimit) {
    return InvalidError("rescale_c2", "value ", value, " has more than 48 bits");
  }
  return Narrow((value * scale.multiplier + (int64_t{1} << (scale.shift - 1))) >> scale.shift);
}

absl::StatusOr<int32_t> Rescale(int64_t value, FixedScale scale, const RescaleElement& element) {
  value -= element.input_zp;
  TARE_ASSIGN_OR_RETURN(const int32_t scaled, element.width == ScaleWidth::k32
                                                  ? ApplyScale32(value, scale, element.rounding)
                                                  : ApplyScale16(value, scale));
  const int64_t moved = int64_t{scaled} + element.output_zp;
  if (!FitsInt32(moved)) return InvalidError("rescale_c4", "the scaled value ", moved, " needs more than 32 bits");
  return static_cast<int32_t>(std::clamp<int64_t>(moved, element.min, element.max));
}

FixedScale ReciprocalScaleOf(int32_t count) {
  TARE_CHECK(count >= 1);
  const int k = std::bit_width(static_cast<uint32_t>(count - 1));
  const int64_t numerator = ((int64_t{1} << 30) + 1) << k;
  return {static_cast<int32_t>(numerator / count), 30 + k};
}

absl::StatusOr<CmsisScale> CmsisScaleOf(double scale) {
  if (!(scale >= 0) || std::isinf(scale)) {
    return InvalidError("cmsis_scale_c1", "scale ", scale, " is not a finite number >= 0");
  }
  if (scale == 0) return CmsisScale{};
  const Mantissa m = MantissaOf(scale, 31);
  return CmsisScale{static_cast<int32_t>(m.multiplier), m.exponent};
}

int32_t CmsisRequantize(int32_t value, CmsisScale scale) {
  const int left = std::clamp(scale.shift, 0, 31), right = std::clamp(-scale.shift, 0, 31);
  const int64_t raised = static_cast<int32_t>(static_cast<uint32_t>(value) << left);
  const int64_t high = (raised * scale.multiplier + (int64_t{1} << 30)) >> 31;
  const int64_t mask = (int64_t{1} << right) - 1;
  const int64_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return static_cast<int32_t>((high >> right) + ((high & mask) > threshold ? 1 : 0));
}

}  // namespace tare
