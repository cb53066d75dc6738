#include <algorithm>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/formulas/formula.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"
#include "ir/status.h"

namespace tare {
namespace {

// Writes ops that TOSA has not, between plain tensors, as formulas of those it has; and those it has where operands
// are of several dtypes, by casts first.
//
//   sign(%x)  =>  SELECT(GREATER(%x, 0), 1, SELECT(GREATER(0, %x), -1, 0))
//
// An op with several results is written once per result that is used.
class LowerComposite final : public TosaTableRewrite<const FormulaRow*> {
 public:
  explicit LowerComposite(const Context& context)
      : TosaTableRewrite("lower-composite", context), casts_(FindOps(context, kCastOps)) {
    for (const std::span<const FormulaRow> rows :
         {BinaryFormulas(), FunctionFormulas(), IndexFormulas(), MovementFormulas(), PoolFormulas(), ProductFormulas(),
          ReductionFormulas()})
      for (const FormulaRow& row : rows) Add(context.ops.Find(row.aten), &row);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const FormulaRow& row = *RowOf(node);
    for (int i = 0; i < node.num_operands(); ++i) {
      const Node operand = node.operand(i);
      if (!operand.is_tensor() || !StaticShape(operand.tensor()).has_value()) return absl::OkStatus();
      const bool codes = row.input == kReplaces || ((row.input == kMoves || row.input == kSums) && i == 0);
      if (qdq_.IsDequantize(operand.op()) && !codes) return absl::OkStatus();
    }
    if (node.num_operands() == 0) return absl::OkStatus();
    if (node.is_tensor()) return WriteUsed(row, node, node, 0, rw);
    for (const Node user : node.users()) {
      const std::optional<int64_t> index = user.integer("index");
      if (user.op() != op::getitem || !index.has_value() || !user.is_tensor()) continue;
      TARE_RETURN_IF_ERROR(WriteUsed(row, node, user, *index, rw));
    }
    return absl::OkStatus();
  }

 private:
  // A result of 64-bit integers that are cast to 32 bits is written as what they are cast to.
  absl::Status WriteUsed(const FormulaRow& row, Node node, Node result, int64_t index, Rewriter& rw) const {
    if (result.tensor().dtype != DType::kI64) return Write(row, node, result, index, rw);
    for (const Node user : result.users()) {
      const bool casts = std::find(casts_.begin(), casts_.end(), user.op()) != casts_.end();
      if (!casts || user.tensor().dtype != DType::kI32) continue;
      TARE_RETURN_IF_ERROR(Write(row, node, user, index, rw));
    }
    return absl::OkStatus();
  }

  absl::Status Write(const FormulaRow& row, Node node, Node result, int64_t index, Rewriter& rw) const {
    if (!StaticShape(result.tensor()).has_value() || rw.StorageOf(result).mutated) return absl::OkStatus();
    if (result.tensor().dtype == DType::kI64 || IsComplex(result.tensor().dtype)) return absl::OkStatus();
    Emitter emit(rw, ops_, result);
    TensorMath math(emit);
    FormulaCall call{emit, math, node, result, index, node.operand(0)};
    if (row.input != kPlain) {
      std::vector<Node> arguments = {node.operand(0)};
      if (row.input == kReplaces) arguments.push_back(ReplacingOf(node));
      std::optional<Site> site = SiteOf(qdq_, rw, result, arguments);
      if (!site.has_value()) return absl::OkStatus();
      if (!site->quantised && HasCodes(node)) return absl::OkStatus();
      if (site->quantised) {
        for (const SiteInput& input : site->inputs)
          if (input.value.has_value() && (!input.q.has_value() || !input.q->per_tensor())) return absl::OkStatus();
        // What is replaced and what replaces it in the scale of the result: no other holds both.
        const std::optional<Affine> to = site->outputs[0].q;
        if (row.input == kReplaces && site->outputs.size() == 1 && to.has_value()) {
          for (SiteInput& input : site->inputs)
            if (input.value.has_value()) input = {InScaleOf(emit, input, *to), to};
        } else if (row.input == kReplaces) {
          return absl::OkStatus();
        }
        call.first = site->inputs[0].value;
        call.q = &*site->inputs[0].q;
        if (row.input == kSums) return WriteSums(row, call, *site);
        if (arguments.size() > 1) call.second = site->inputs[1].value;
        const Node moved = row.write(call);
        if (!emit.ok() || !moved.has_value()) return emit.Finish();
        const Node shaped = emit.Reshape(moved, emit.ShapeOf(result));
        if (emit.ok()) FinishMoved(emit, *site, shaped);
        return emit.Finish();
      }
    }
    const Node value = row.write(call);
    if (emit.ok() && value.has_value()) {
      const Node done = call.Done(value);
      if (emit.ok()) emit.Replace(result, done);
    }
    return emit.Finish();
  }

  static absl::Status WriteSums(const FormulaRow& row, FormulaCall& call, const Site& site) {
    if (!site.outputs[0].q.has_value() || BitsOf(call.q->storage) > 16) return absl::OkStatus();
    Emitter& emit = call.emit;
    const Node sums = row.write(call);
    const std::vector<int64_t> shape = emit.ShapeOf(call.result);
    if (!emit.ok() || !sums.has_value()) return emit.Finish();
    FinishRescaled(
        emit, site, sums,
        [&](const Affine& to) { return std::vector<double>{call.factor * call.q->scale() / to.scale()}; },
        [&](Node value) { return emit.Reshape(value, shape); });
    return emit.Finish();
  }

  // The tensor that replaces elements; no value for a number.
  static Node ReplacingOf(Node node) {
    for (const std::string_view name : {"values", "source", "src"})
      if (const Node given = node.arg(name); given.has_value()) return given;
    return Node();
  }
  bool HasCodes(Node node) const {
    for (int i = 1; i < node.num_operands(); ++i)
      if (qdq_.IsDequantize(node.operand(i).op())) return true;
    return false;
  }
  static Node InScaleOf(Emitter& emit, const SiteInput& input, const Affine& to) {
    if (input.q->SameScale(to)) return input.value;
    const double factor[] = {input.q->scale() / to.scale()};
    return emit.RescaleTo(input.value, factor, input.q->zero_point(), to);
  }

  std::vector<Op> casts_;
};

}  // namespace

absl::StatusOr<Pass> MakeLowerComposite(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerComposite>(context, options);
}

}  // namespace tare
