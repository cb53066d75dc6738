// A context with the built-in ops, programs from text, passes by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "doctest/doctest.h"
#include "ir/program.h"
#include "ir/text.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"

namespace tare {

struct PassesFixture {
  std::unique_ptr<Context> context = MakeContext();

  std::unique_ptr<Inferrer> NewInferrer(const Program& program) const {
    InferrerOptions options;
    options.facts = program.facts;
    return MakeInferrer(*context, options);
  }
  Program Parse(std::string_view text) {
    absl::StatusOr<Program> program = ParseProgram(*context, text);
    REQUIRE_MESSAGE(program.ok(), program.status().ToString());
    return *std::move(program);
  }
  Pass Make(std::string_view name) {
    absl::StatusOr<Pass> pass = MakePass(*context, BuiltinPasses(), name);
    REQUIRE_MESSAGE(pass.ok(), pass.status().ToString());
    return *pass;
  }
  std::string Print(const Program& program) { return PrintProgram(*context, program); }
};

// A pass made of a function, for tests.
template <typename Function>
class FunctionPass final : public RewritePass {
 public:
  FunctionPass(std::vector<Op> targets, Function function) : targets_(std::move(targets)), function_(function) {}
  std::string_view name() const override { return "test-pass"; }
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

}  // namespace tare
