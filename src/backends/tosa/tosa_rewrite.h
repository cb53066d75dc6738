// What the passes to TOSA share: the ops they make or look for, looked up once, and what they declare.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "backends/tosa/affine.h"
#include "backends/tosa/tosa_ops.h"
#include "passes/pass.h"

namespace tare {

// A derived class whose table is larger than the op set adds to `targets_` the ops that exist.
class TosaRewrite : public RewritePass {
 public:
  TosaRewrite(std::string_view name, const Context& context, std::vector<Op> targets = {})
      : qdq_(context), ops_(context), targets_(std::move(targets)), name_(name) {}
  std::string_view name() const final { return name_; }
  // An op that never occurs when there is none: an empty list would mean every node.
  std::span<const Op> targets() const final { return targets_.empty() ? std::span<const Op>(kNever) : targets_; }

 protected:
  const QdqOps qdq_;
  const TosaOps ops_;
  std::vector<Op> targets_;

 private:
  static constexpr Op kNever[1] = {};
  const std::string_view name_;  // a literal
};

}  // namespace tare
