// Pipelines: named lists of passes with their options, as data.
//
//   doc      = "Cleans up a program in training IR."
//   requires = ["functional"]
//   ensures  = ["without aten.dropout.default"]
//   steps    = [ "remove-noops",
//                { pass = "fuse-batch-norm", options = { … } },
//                { repeat = ["compose-permutes", "remove-noops"], at_most = 4 } ]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"

namespace tare {

struct PipelineStep {
  std::vector<Pass> passes;
  int at_most = 1;  // rounds; stops earlier after one that changes nothing
};

struct Pipeline {
  std::string name, doc;
  std::vector<std::string> requires_facts, ensures_facts;
  std::vector<PipelineStep> steps;
};

struct PipelineText {
  std::string_view name, text;
};
// The files of pipelines/, which the build puts into the library.
std::span<const PipelineText> BuiltinPipelines();

// Errors: InvalidArgument [pipeline_c1] TOML, with line; [pipeline_c2] an unknown field or fact;
// [pass_c1], [pass_c2] as MakePass.
absl::StatusOr<Pipeline> ParsePipeline(Context& context, std::span<const PassRow> rows, std::string_view name,
                                       std::string_view text);

// A fact about a program: `functional` (nothing mutates storage), `static-shapes` (no symbolic
// extents), `without OP`, `without TRAIT` (view, mutates, random, higher_order).
// Errors: FailedPrecondition [pipeline_c3] naming a node that breaks it.
absl::Status CheckFact(const Program& program, std::string_view fact);

// Checks what the pipeline requires before anything runs, and what it ensures at the end.
absl::StatusOr<std::vector<PassStats>> RunPipeline(Program& program, Inferrer& inferrer, const Pipeline& pipeline,
                                                   const RunOptions& options = {});

}  // namespace tare
