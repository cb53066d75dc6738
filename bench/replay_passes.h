// Passes with a known cost, for benchmarks.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "passes/pass_manager.h"

namespace tare::bench {

template <typename Function>
class FunctionPass final : public RewritePass {
 public:
  FunctionPass(std::vector<Op> targets, Function function) : targets_(std::move(targets)), function_(function) {}
  std::string_view name() const override { return "bench"; }
  std::span<const Op> targets() const override { return targets_; }
  absl::Status Rewrite(Node node, Rewriter& rw) const override { return function_(node, rw); }

 private:
  std::vector<Op> targets_;
  Function function_;
};
template <typename Function>
Pass MakeFunctionPass(std::vector<Op> targets, Function function) {
  return Pass(
      std::shared_ptr<const RewritePass>(std::make_shared<const FunctionPass<Function>>(std::move(targets), function)));
}

// Looks at nodes with `targets` (all when empty) and changes nothing.
inline Pass LookPass(std::vector<Op> targets) {
  return MakeFunctionPass(std::move(targets), [](Node node, Rewriter&) {
    return node.num_operands() < 0 ? absl::InternalError("") : absl::OkStatus();
  });
}

// Of every aten.add.Tensor: alpha 1 becomes 2 and the other way round. Metadata stays equal.
inline Pass TogglePass(Op add) {
  return MakeFunctionPass({add}, [](Node node, Rewriter& rw) {
    return rw.Amend(node, {{"alpha", int64_t{node.integer("alpha") == 1 ? 2 : 1}}});
  });
}

inline RunOptions Unverified() {
  RunOptions options;
  options.verify = VerifyWhat::kNothing;
  return options;
}

}  // namespace tare::bench
