// Fuses a multiplication by a number with the relu after it.
//
//   %m = aten.mul.Tensor(%x, 0.5);  %y = aten.relu.default(%m)   =>   %y = my.scaled_relu.default(%x, scale=0.5)
//
// %m is left to other users or erased with its last one. Shape and dtype of %y do not change.
#pragma once

#include "tare/api.h"

class FuseScaledRelu final : public tare::RewritePass {
 public:
  explicit FuseScaledRelu(const tare::Context& context) : fused_(context.ops.Find("my.scaled_relu.default")) {}
  std::string_view name() const override { return "fuse-scaled-relu"; }
  std::string_view doc() const override { return "Fuses mul by a number and relu into my.scaled_relu"; }
  std::span<const tare::Op> targets() const override { return kTargets; }
  absl::Status Rewrite(tare::Node relu, tare::Rewriter& rw) const override;

 private:
  static constexpr tare::Op kTargets[] = {tare::op::aten_relu_default};
  const tare::Op fused_;
};
