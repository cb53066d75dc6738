#include <optional>

#include "backends/tosa/formulas/formula.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

// Writes functions of one plain tensor: SIGMOID, TANH and the like, and formulas of them.
//
//   silu(%x)  =>  MUL(%x, SIGMOID(%x))
class LowerFunction final : public TosaTableRewrite<FormulaRow> {
 public:
  explicit LowerFunction(const Context& context) : TosaTableRewrite("lower-function", context) {
    for (const FormulaRow& row : ActivationFormulas()) Add(context.ops.Find(row.aten), row);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node arguments[] = {node.arg("self")};
    if (!arguments[0].has_value() || !arguments[0].is_tensor() || !node.is_tensor()) return absl::OkStatus();
    if (arguments[0].tensor().dtype != node.tensor().dtype) return absl::OkStatus();
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || site->quantised) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    TensorMath math(emit);
    FormulaCall call{.emit = emit, .m = math, .node = node, .result = node, .first = arguments[0]};
    emit.Replace(node, RowOf(node).write(call));
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerFunction(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerFunction>(context, options);
}

}  // namespace tare
