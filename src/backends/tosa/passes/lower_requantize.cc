#include <optional>

#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

// Writes a quantize of a dequantize as RESCALE.
//
//   quantize(dequantize(%x, s, z), t, w)  =>  RESCALE(%x, s / t, z, w)
class LowerRequantize final : public TosaRewrite {
 public:
  explicit LowerRequantize(const Context& context) : TosaRewrite("lower-requantize", context) {
    targets_ = qdq_.quantize;
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node inner = node.arg("input");
    if (!inner.has_value() || !qdq_.IsDequantize(inner.op())) return absl::OkStatus();
    const std::optional<Affine> from = qdq_.Read(rw.context(), inner), to = qdq_.Read(rw.context(), node);
    if (!from.has_value() || !to.has_value() || !from->per_tensor() || !to->per_tensor()) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    const double factor[] = {from->scale() / to->scale()};
    emit.Replace(node, emit.RescaleTo(inner.arg("input"), factor, from->zero_point(), *to));
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerRequantize(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerRequantize>(context, options);
}

}  // namespace tare
