#include "fuse_scaled_relu.h"

absl::Status FuseScaledRelu::Rewrite(tare::Node relu, tare::Rewriter& rw) const {
  const tare::Node mul = relu.arg("self");
  if (mul.op() != mul_) return absl::OkStatus();
  const std::optional<double> scale = mul.number("other");
  if (!scale.has_value() || !tare::IsFloating(mul.arg("self").tensor().dtype)) return absl::OkStatus();
  return rw.Redefine(relu, scaled_relu_, {{"self", mul.arg("self")}, {"scale", *scale}});
}
