#include "backends/tosa/lower.h"

#include <algorithm>

#include "backends/tosa/boundary.h"
#include "backends/tosa/constraints.h"
#include "backends/tosa/integer_edge.h"
#include "backends/tosa/pass_list.h"
#include "ir/status.h"
#include "meta/infer.h"
#include "passes/pipeline.h"

namespace tare {

absl::StatusOr<LowerResult> LowerToTosa(Program& program, const TosaTarget& target, const RunOptions& options) {
  const PipelineText* text = nullptr;
  for (const PipelineText& row : BuiltinPipelines())
    if (row.name == target.pipeline) text = &row;
  if (text == nullptr)
    return UnimplementedError("target_c2", "target ", target.name, " needs the pipeline ", target.pipeline,
                              ", which does not exist yet");
  TARE_ASSIGN_OR_RETURN(const Pipeline pipeline, ParsePipeline(*program.context, AllPasses(), text->name, text->text));
  DropAsserts(program);
  TARE_RETURN_IF_ERROR(MoveBoundary(program));
  InferrerOptions infer;
  infer.facts = program.facts;
  infer.spec = target.spec;
  const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*program.context, infer);
  LowerResult result;
  TARE_ASSIGN_OR_RETURN(result.passes, RunPipeline(program, *inferrer, pipeline, options));
  MoveInputCasts(program);
  DropUnusedConstants(program);
  const auto is_spec = [](const std::string& verifier) { return verifier.rfind("TOSA-", 0) == 0; };
  program.verifiers.erase(std::remove_if(program.verifiers.begin(), program.verifiers.end(), is_spec),
                          program.verifiers.end());
  program.verifiers.push_back(target.spec);
  result.outside = FindOutside(program, target.spec);
  const std::vector<Outside> unsupported = FindUnsupported(program, target.spec);
  result.outside.insert(result.outside.end(), unsupported.begin(), unsupported.end());
  const Graph& graph = program.main();
  std::stable_sort(result.outside.begin(), result.outside.end(),
                   [&](const Outside& a, const Outside& b) { return graph.Before(a.node, b.node); });
  return result;
}

}  // namespace tare
