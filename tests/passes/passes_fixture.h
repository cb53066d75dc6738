// A context with the built-in ops, programs from text, passes by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "doctest/doctest.h"
#include "ir/program.h"
#include "ir/text.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "passes/function_pass.h"
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

// Runs one function as a pass over `text`; gives the program and the stats, or the error.
template <typename Function>
std::string RunOn(PassesFixture& fixture, std::string_view text, std::vector<Op> targets, Function function) {
  Program program = fixture.Parse(text);
  const auto inferrer = fixture.NewInferrer(program);
  const std::string before = fixture.Print(program);
  RunOptions options;
  options.verify = VerifyWhat::kAll;
  options.check_meta = true;
  const Pass pass = MakeFunctionPass(std::move(targets), function);
  const auto stats = RunPasses(program, *inferrer, {&pass, 1}, options);
  if (!stats.ok()) {
    CHECK_EQ(fixture.Print(program), before);  // a failed pass leaves the version before it
    return std::string(stats.status().message());
  }
  return absl::StrCat(fixture.Print(program), StatsLine(stats->front().counters), "\n");
}

}  // namespace tare
