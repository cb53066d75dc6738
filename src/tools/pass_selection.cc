#include "tools/pass_selection.h"

#include "backends/tosa/pass_list.h"
#include "formats/program_file.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr size_t kMaxPipelineFile = size_t{1} << 20;

}  // namespace

absl::StatusOr<std::vector<Pass>> SelectPasses(Context& context, const std::vector<std::string>& names) {
  std::vector<Pass> passes;
  for (const std::string& name : names) {
    TARE_ASSIGN_OR_RETURN(Pass pass, MakePass(context, AllPasses(), name));
    passes.push_back(std::move(pass));
  }
  return passes;
}

absl::StatusOr<Pipeline> SelectPipeline(Context& context, const std::vector<std::string>& names,
                                        const std::string& pipeline) {
  if (pipeline.empty()) {
    Pipeline one_step;
    one_step.name = "--passes";
    TARE_ASSIGN_OR_RETURN(std::vector<Pass> passes, SelectPasses(context, names));
    if (!passes.empty()) one_step.steps.push_back({std::move(passes)});
    return one_step;
  }
  for (const PipelineText& builtin : BuiltinPipelines()) {
    if (builtin.name == pipeline) return ParsePipeline(context, AllPasses(), builtin.name, builtin.text);
  }
  TARE_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(pipeline, kMaxPipelineFile));
  return ParsePipeline(context, AllPasses(), pipeline, text);
}

}  // namespace tare
