// A pass made of a function: for tests, benchmarks and passes of one line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/pass.h"

namespace tare {

// `function` is called as absl::Status(Node, Rewriter&), from several threads where the pass is shared.
template <typename Function>
class FunctionPass final : public RewritePass {
 public:
  FunctionPass(std::string_view name, std::vector<Op> targets, Function function)
      : name_(name), targets_(std::move(targets)), function_(std::move(function)) {}
  std::string_view name() const override { return name_; }
  std::span<const Op> targets() const override { return targets_; }
  absl::Status Rewrite(Node node, Rewriter& rw) const override { return function_(node, rw); }

 private:
  std::string name_;
  std::vector<Op> targets_;
  Function function_;
};

template <typename Function>
Pass MakeFunctionPass(std::vector<Op> targets, Function function, std::string_view name = "function-pass") {
  return Pass(std::shared_ptr<const RewritePass>(
      std::make_shared<const FunctionPass<Function>>(name, std::move(targets), std::move(function))));
}

}  // namespace tare
