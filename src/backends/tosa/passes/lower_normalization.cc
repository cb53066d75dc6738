#include "backends/tosa/formulas/formula.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

// Writes means and norms of plain tensors as reductions and arithmetic.
//
// Of an op with several results only the first may be used.
class LowerNormalization final : public TosaTableRewrite<FormulaRow> {
 public:
  explicit LowerNormalization(const Context& context) : TosaTableRewrite("lower-normalization", context) {
    for (const FormulaRow& row : NormFormulas()) Add(context.ops.Find(row.aten), row);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg(node.arg("input").has_value() ? "input" : "self");
    if (!x.has_value() || !x.is_tensor() || !IsFloating(x.tensor().dtype) || qdq_.IsDequantize(x.op()))
      return absl::OkStatus();
    const Node result = FirstResult(node);
    if (!result.has_value()) return absl::OkStatus();
    if (result.tensor().dtype != x.tensor().dtype) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    TensorMath math(emit);
    FormulaCall call{.emit = emit, .m = math, .node = node, .result = result, .first = x};
    emit.Replace(result, RowOf(node).write(call));
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerNormalization(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerNormalization>(context, options);
}

}  // namespace tare
