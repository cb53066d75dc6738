#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/formula.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

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
  explicit LowerComposite(const Context& context) : TosaTableRewrite("lower-composite", context) {
    for (const std::span<const FormulaRow> rows :
         {BinaryFormulas(), FunctionFormulas(), IndexFormulas(), MovementFormulas(), PoolFormulas(), ProductFormulas(),
          ReductionFormulas()})
      for (const FormulaRow& row : rows) Add(context.ops.Find(row.aten), &row);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    for (int i = 0; i < node.num_operands(); ++i) {
      const Node operand = node.operand(i);
      if (!operand.is_tensor() || qdq_.IsDequantize(operand.op()) || !StaticShape(operand.tensor()).has_value())
        return absl::OkStatus();
    }
    const FormulaRow& row = *RowOf(node);
    if (node.is_tensor()) return Write(row, node, node, 0, rw);
    for (const Node user : node.users()) {
      const std::optional<int64_t> index = user.integer("index");
      if (user.op() != op::getitem || !index.has_value() || !user.is_tensor()) continue;
      if (const absl::Status status = Write(row, node, user, *index, rw); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Write(const FormulaRow& row, Node node, Node result, int64_t index, Rewriter& rw) const {
    if (!StaticShape(result.tensor()).has_value() || rw.StorageOf(result).mutated) return absl::OkStatus();
    if (result.tensor().dtype == DType::kI64 || IsComplex(result.tensor().dtype)) return absl::OkStatus();
    Emitter emit(rw, ops_, result);
    TensorMath math(emit);
    FormulaCall call{emit, math, node, result, index};
    const Node value = row.write(call);
    if (emit.ok() && value.has_value()) {
      const Node done = call.Done(value);
      if (emit.ok()) emit.Replace(result, done);
    }
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerComposite(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerComposite>(context, options);
}

}  // namespace tare
