// Fuses a multiplication by a number with the relu after it.
//
//   %m = aten.mul.Tensor(%x, 0.5);  %y = aten.relu.default(%m)   =>   %y = my.scaled_relu.default(%x, scale=0.5)
//
// %m is left to other users or erased with its last one. Shape and dtype of %y do not change.
#pragma once

#include <span>
#include <string_view>

#include "tare/api.h"

class FuseScaledRelu final : public tare::RewritePass {
 public:
  explicit FuseScaledRelu(const tare::Context& context)
      : targets_{context.ops.Find("aten.relu.default")},
        mul_(context.ops.Find("aten.mul.Tensor")),
        scaled_relu_(context.ops.Find("my.scaled_relu.default")) {}
  std::string_view name() const override { return "fuse-scaled-relu"; }
  std::span<const tare::Op> targets() const override { return targets_; }
  absl::Status Rewrite(tare::Node relu, tare::Rewriter& rw) const override;

 private:
  const tare::Op targets_[1];
  const tare::Op mul_, scaled_relu_;
};
