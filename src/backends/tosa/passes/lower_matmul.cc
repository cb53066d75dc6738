#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"

namespace tare {
namespace {

constexpr std::string_view kProducts[] = {"aten.bmm.default", "aten.mm.default"};

// Writes a product of two activations as MATMUL; that of two matrices is a batch of one.
//
//   %q = quantize(bmm(dequantize(%a), dequantize(%b)))  =>  rescale(MATMUL(%a, %b), a * b / q)
class LowerMatmul final : public RewritePass {
 public:
  explicit LowerMatmul(const Context& context) : qdq_(context), ops_(context), targets_(FindOps(context, kProducts)) {}
  std::string_view name() const override { return "lower-matmul"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node arguments[] = {node.arg("self"), node.arg("mat2")};
    if (!arguments[0].has_value() || !arguments[1].has_value()) return absl::OkStatus();
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments, SiteReach::kActivation);
    if (!site.has_value()) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    const std::vector<int64_t> shape = emit.ShapeOf(node);
    const bool wide = site->inputs[0].value.tensor().dtype == DType::kI16;  // sums of 48 bits
    const Node product =
        emit.Insert(ops_.matmul, {{"input1", emit.ToRank(site->inputs[0].value, 3)},
                                  {"input2", emit.ToRank(site->inputs[1].value, 3)},
                                  {"out_dtype", wide ? AttrValue::OfDType(DType::kI48) : AttrValue::None()}});
    if (!site->quantised) {
      emit.Replace(node, emit.Reshape(product, shape));
      return emit.Finish();
    }
    const Affine &a = *site->inputs[0].q, &b = *site->inputs[1].q;
    if (!a.per_tensor() || !b.per_tensor() || !site->outputs[0].q.has_value()) return absl::OkStatus();
    const Affine* const quants[] = {&a, &b};
    emit.Quantify(product, quants, nullptr);
    FinishRescaled(
        emit, *site, product, [&](const Affine& to) { return std::vector<double>{a.scale() * b.scale() / to.scale()}; },
        [&](Node value) { return emit.Reshape(value, shape); });
    return emit.Finish();
  }

 private:
  QdqOps qdq_;
  TosaOps ops_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeLowerMatmul(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerMatmul>(context, options);
}

}  // namespace tare
