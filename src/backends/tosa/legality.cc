#include "backends/tosa/legality.h"

#include <optional>

#include "absl/container/flat_hash_set.h"
#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/pass_list.h"
#include "ir/context.h"
#include "ir/status.h"
#include "meta/tosa_spec.h"

namespace tare {
namespace {

enum Reason : size_t {
  kNoLowering,
  kDynamic,
  kMutates,
  kFloat,
  kWideInteger,
  kDtype,
  kRank,
  kEmpty,
  kQuantizeInside,
  kArguments,
};

constexpr LegalityRow kReasons[] = {
    {"tosa_legal_c1", "the op has no lowering to TOSA",
     "decompose it before, or leave it to another backend with --partial"},
    {"tosa_legal_c2", "an extent is not static", "export with static shapes, or fix the symbols"},
    {"tosa_legal_c3", "the op writes storage that something else sees",
     "make the program functional before: run_decompositions()"},
    {"tosa_legal_c4", "it computes in floating point, which the profile lacks",
     "quantise it, or lower for a target with +fp"},
    {"tosa_legal_c5", "it has 64-bit integers", "use int32: cast indices and constants that fit"},
    {"tosa_legal_c6", "the specification has no such dtype here", "cast, or lower for a target with the extension"},
    {"tosa_legal_c7", "the rank is above 6", "reshape to fewer dims"},
    {"tosa_legal_c8", "an extent is 0", "TOSA has no empty tensors: remove the op"},
    {"tosa_legal_c9", "it converts between floats and integers inside of the program",
     "quantise the ops around it too, so that it lies at the edge"},
    {"tosa_legal_c10", "its arguments have no lowering", "write it with other ops, or leave it outside with --partial"},
};

// Ops that some pass to TOSA looks for.
absl::flat_hash_set<Op> LoweredOps(Context& context) {
  absl::flat_hash_set<Op> ops;
  for (const PassRow& row : TosaPasses()) {
    if (row.name.substr(0, 6) != "lower-") continue;
    const absl::StatusOr<Pass> pass = row.make(context, {});
    if (pass.ok()) ops.insert(pass->targets().begin(), pass->targets().end());
  }
  return ops;
}

// The first tensor among operands and result for which `holds`.
template <typename Function>
bool AnyTensor(const Program& program, NodeId node, Function holds) {
  const Graph& graph = program.main();
  const auto check = [&](MetaId id) {
    if (!id.has_value()) return false;
    const Meta& meta = program.context->metas.Get(id);
    return meta.kind == MetaKind::kTensor && holds(meta.tensor);
  };
  for (const NodeId operand : graph.operands(node))
    if (check(graph.meta(operand))) return true;
  return check(graph.meta(node));
}

Reason ReasonOf(const Program& program, NodeId node, std::string_view spec, const QdqOps& qdq,
                const absl::flat_hash_set<Op>& lowered) {
  const Context& context = *program.context;
  const Op op = program.main().op(node);
  const bool floats = TosaSpecHas(spec, "FP"), integers = TosaSpecHas(spec, "INT");
  if (AnyTensor(program, node, [](const TensorMeta& t) { return !StaticShape(t).has_value(); })) return kDynamic;
  if (context.ops.Has(op, tare::kMutates)) return kMutates;
  if (qdq.IsQuantize(op) || qdq.IsDequantize(op)) return kQuantizeInside;
  if (!lowered.contains(op)) return kNoLowering;
  if (AnyTensor(program, node, [](const TensorMeta& t) { return t.dtype == DType::kI64; })) return kWideInteger;
  if (!floats && AnyTensor(program, node, [](const TensorMeta& t) { return IsFloating(t.dtype); })) return kFloat;
  if (AnyTensor(program, node, [&](const TensorMeta& t) {
        return t.dtype == DType::kF64 || IsComplex(t.dtype) ||
               (!integers && IsInteger(t.dtype) && t.dtype != DType::kI32);
      }))
    return kDtype;
  if (AnyTensor(program, node, [](const TensorMeta& t) { return t.shape.size() > 6; })) return kRank;
  if (AnyTensor(program, node, [](const TensorMeta& t) { return ElementCount(t) == int64_t{0}; })) return kEmpty;
  return kArguments;
}

}  // namespace

std::span<const LegalityRow> LegalityRows() { return kReasons; }

std::vector<Outside> FindOutside(const Program& program, std::string_view spec) {
  const Graph& graph = program.main();
  const OpTable& ops = program.context->ops;
  const QdqOps qdq(*program.context);
  std::vector<Outside> outside;
  std::optional<absl::flat_hash_set<Op>> lowered;  // when first needed
  for (const NodeId node : graph.nodes()) {
    const Op op = graph.op(node);
    if (op == op::placeholder || op == op::output || op == op::constant) continue;
    if (ops.Name(op).substr(0, 5) == "tosa.") continue;
    if (op == op::getitem && ops.Name(graph.op(graph.operands(node)[0])).substr(0, 5) == "tosa.") continue;
    if (!lowered.has_value()) lowered = LoweredOps(*program.context);
    const LegalityRow& row = kReasons[ReasonOf(program, node, spec, qdq, *lowered)];
    outside.push_back({node, std::string(row.check_id), std::string(row.why), std::string(row.remedy)});
  }
  return outside;
}

}  // namespace tare
