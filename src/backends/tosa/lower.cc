#include "backends/tosa/lower.h"

#include <algorithm>
#include <map>

#include "backends/tosa/affine.h"
#include "backends/tosa/boundary.h"
#include "backends/tosa/input_writes.h"
#include "backends/tosa/integer_edge.h"
#include "backends/tosa/memory_order.h"
#include "backends/tosa/origins.h"
#include "backends/tosa/pass_list.h"
#include "backends/tosa/tosa_ops.h"
#include "ir/context.h"
#include "ir/status.h"
#include "meta/check.h"
#include "meta/infer.h"
#include "passes/pipeline.h"

namespace tare {

namespace {

constexpr char kBelieve[] = "export the program again; tare check says what is stated and what rules give";
constexpr int kMaxRounds = 4;  // of looking for nodes that have to stay

absl::StatusOr<LowerResult> LowerOnce(Program& program, const TosaTarget& target, const Pipeline& pipeline,
                                      const RunOptions& options) {
  InferrerOptions infer;
  infer.facts = program.facts;
  infer.spec = target.spec;
  const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*program.context, infer);
  LowerResult result;
  TARE_ASSIGN_OR_RETURN(result.passes, RunPipeline(program, *inferrer, pipeline, options));
  MoveInputCasts(program);
  MoveOutputCasts(program);
  DropUnusedInputs(program);
  const auto is_spec = [](const std::string& verifier) { return verifier.rfind("TOSA-", 0) == 0; };
  program.verifiers.erase(std::remove_if(program.verifiers.begin(), program.verifiers.end(), is_spec),
                          program.verifiers.end());
  program.verifiers.push_back(target.spec);
  result.outside = FindOutside(program, target.spec, *inferrer, result.passes);
  TARE_RETURN_IF_ERROR(SettleMemoryOrder(program, *inferrer, result.outside));
  return result;
}

StatedEdge EdgeOf(const Program& program) {
  const Graph& graph = program.main();
  StatedEdge edge;
  for (const NodeId input : graph.inputs()) edge.inputs[input.index] = graph.meta(input);
  for (const NodeId value : graph.operands(graph.last())) edge.outputs.push_back(graph.meta(value));
  return edge;
}

// Nodes whose lowering the target does not run, with its reason; to be left as they are.
using Stays = std::map<uint32_t, Outside>;  // by node index

std::vector<NodeId> NodesOf(const Stays& stays) {
  std::vector<NodeId> nodes;
  for (const auto& [index, row] : stays) nodes.push_back(row.node);
  return nodes;
}

// Nodes of which the file states another shape or dtype than their rules give, or which their rules refuse: passes
// believe what is stated, so these are left.
Stays Unbelievable(const Program& program, const TosaTarget& target) {
  InferrerOptions options;
  options.facts = program.facts;
  options.spec = target.spec;
  const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*program.context, options);
  const Context& context = *program.context;
  const auto static_tensor = [&](MetaId id) -> const TensorMeta* {
    if (!id.has_value() || context.metas.Get(id).kind != MetaKind::kTensor) return nullptr;
    const TensorMeta& tensor = context.metas.Get(id).tensor;
    const bool is_static =
        std::all_of(tensor.shape.begin(), tensor.shape.end(), [](Dim dim) { return dim.is_static(); });
    return is_static ? &tensor : nullptr;
  };
  Stays stays;
  for (const ValueDifference& difference : CheckProgram(program, *inferrer).differences) {
    const Op op = program.main().op(difference.node);
    if (difference.graph != GraphId{0} || op == op::placeholder || op == op::output || op == op::constant) continue;
    if (IsTosa(context, op)) continue;  // whose constraints are asked below
    std::string id = "tosa_lower_c17", why = "what is stated of it is not what its arguments give";
    if (!difference.refusal.ok()) {
      id = CheckIdOf(difference.refusal);
      why = std::string(WithoutId(difference.refusal));
    } else {
      const TensorMeta *stated = static_tensor(difference.stated), *derived = static_tensor(difference.derived);
      if (stated == nullptr || derived == nullptr) continue;
      if (stated->dtype == derived->dtype &&
          std::equal(stated->shape.begin(), stated->shape.end(), derived->shape.begin(), derived->shape.end()))
        continue;
    }
    stays.try_emplace(difference.node.index, Outside{difference.node, std::move(id), std::move(why), kBelieve});
  }
  return stays;
}

// What the TOSA left outside comes from. True when there is some that was not known.
absl::StatusOr<bool> FindStays(Program start, const TosaTarget& target, const Pipeline& pipeline,
                               const RunOptions& options, Stays& stays) {
  const QdqOps qdq(*start.context);
  const Graph before = start.main();
  const Origins origins(start);
  TARE_ASSIGN_OR_RETURN(const LowerResult result, LowerOnce(start, target, pipeline, options));
  bool found = false;
  for (const Outside& row : result.outside) {
    if (!IsTosa(*start.context, start.main().op(row.node))) continue;
    const NodeId origin = origins.Of(start, row.node);
    if (!origin.has_value() || !before.Contains(origin) || before.op(origin) == op::placeholder) continue;
    const Op op = before.op(origin);
    if (IsTosa(*start.context, op) || qdq.IsQuantize(op) || qdq.IsDequantize(op)) continue;
    found |= stays.try_emplace(origin.index, Outside{origin, row.check_id, row.why, row.remedy}).second;
  }
  return found;
}

}  // namespace

absl::StatusOr<LowerResult> LowerToTosa(Program& program, const TosaTarget& target, const RunOptions& options) {
  const PipelineText* text = nullptr;
  for (const PipelineText& row : BuiltinPipelines())
    if (row.name == target.pipeline) text = &row;
  if (text == nullptr)
    return UnimplementedError("target_c2", "target ", target.name, " needs the pipeline ", target.pipeline,
                              ", which does not exist yet");
  TARE_ASSIGN_OR_RETURN(const Pipeline pipeline, ParsePipeline(*program.context, AllPasses(), text->name, text->text));
  DropAsserts(program);
  ReturnInputWrites(program);
  const StatedEdge stated = EdgeOf(program);
  CastReturned(program);
  Stays stays = Unbelievable(program, target);
  TARE_RETURN_IF_ERROR(MoveBoundary(program));
  const Program start = program;
  // Whoever looks on sees the last lowering only.
  RunOptions unseen = options;
  unseen.after_pass = nullptr;
  std::vector<NodeId> leave = NodesOf(stays);
  unseen.leave = leave;
  absl::StatusOr<LowerResult> result = LowerOnce(program, target, pipeline, unseen);
  for (int round = 0; round < kMaxRounds && result.ok(); ++round) {
    const auto is_tosa = [&](const Outside& row) { return IsTosa(*program.context, program.main().op(row.node)); };
    if (std::none_of(result->outside.begin(), result->outside.end(), is_tosa)) break;
    RunOptions probing;
    probing.leave = leave;
    TARE_ASSIGN_OR_RETURN(const bool found, FindStays(start, target, pipeline, probing, stays));
    if (!found) break;
    leave = NodesOf(stays);
    unseen.leave = leave;
    program = start;
    result = LowerOnce(program, target, pipeline, unseen);
  }
  if (options.after_pass != nullptr) {
    RunOptions seen = options;
    seen.leave = leave;
    program = start;
    result = LowerOnce(program, target, pipeline, seen);
  }
  for (const Payload& file : MappedSpans(start.constants)) ForgetPages(file);
  if (!result.ok()) return result;
  result->stated = stated;
  for (Outside& row : result->outside) {
    const auto stay = stays.find(row.node.index);
    if (stay != stays.end()) row = stay->second;
  }
  return result;
}

}  // namespace tare
