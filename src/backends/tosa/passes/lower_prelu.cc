#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kOps[] = {"aten._prelu_kernel.default", "aten.prelu.default"};

// Writes a leaky relu with slopes of its own, of quantised values, as the sum of both sides of 0.
//
//   prelu(%x, %w)  =>  rescale(ADD(rescale(CLAMP(%x, zero, max)), rescale(MUL(rescale(CLAMP(%x, min, zero)), %w))))
//
// The sum has a scale a power of two finer than that of the input. Plain tensors are left to a formula.
class LowerPrelu final : public TosaRewrite {
 public:
  explicit LowerPrelu(const Context& context) : TosaRewrite("lower-prelu", context, FindOps(context, kOps)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node arguments[] = {node.arg("self"), node.arg("weight")};
    if (!arguments[0].has_value() || !arguments[1].has_value()) return absl::OkStatus();
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments, SiteReach::kActivation);
    if (!site.has_value() || !site->quantised) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    const bool named = rw.context().ops.Name(node.op()) == "aten.prelu.default";
    Lower(emit, *site, named);
    return emit.Finish();
  }

 private:
  void Lower(Emitter& emit, const Site& site, bool along_channels) const {
    const SiteInput &x = site.inputs[0], &w = site.inputs[1];
    if (!ArePerTensor(emit, site)) return;
    const std::vector<int64_t> shape = emit.ShapeOf(x.value);
    std::vector<int64_t> slopes = emit.ShapeOf(w.value);
    if (!emit.ok()) return;
    if (along_channels) {
      const int64_t count = slopes.empty() ? 1 : slopes[0];
      slopes.assign(shape.size(), 1);
      if (count != 1 && shape.size() < 2) return emit.Refuse("tosa_lower_c3", "slopes without channels");
      if (count != 1) slopes[1] = count;
    }
    // No sum may leave 32 bits.
    const auto steps = [](const Affine& q) {
      const auto [low, high] = RangeOf(q.storage);
      return static_cast<double>(std::max(high - q.zero_point(), q.zero_point() - low));
    };
    const double shift = x.q->storage == DType::kI8 ? 65536.0 : 4096.0, limit = 2147483647.0;
    const double steepest = steps(*w.q) * w.q->scale();
    if (steps(*x.q) * steps(*w.q) > limit || steps(*x.q) * shift * std::max(1.0, steepest) > limit)
      return emit.Refuse("tosa_lower_c3", "slopes too steep for sums of 32 bits");

    const auto [low, high] = RangeOf(x.q->storage);
    const int64_t zero = x.q->zero_point();
    const double as_is[] = {1.0}, finer[] = {shift}, product[] = {w.q->scale() * shift};
    const Node above = emit.Rescale(emit.Clamp(x.value, zero, high), DType::kI32, finer, zero, 0);
    const Node below = emit.Rescale(emit.Clamp(x.value, low, zero), DType::kI32, as_is, zero, 0);
    const Node shaped = emit.ToRank(emit.Reshape(w.value, slopes), shape.size());
    const Node slope = emit.Rescale(shaped, DType::kI32, as_is, w.q->zero_point(), 0);
    const Node scaled = emit.Insert(ops_.mul, {{"input1", below}, {"input2", slope}});
    const Node leaked = emit.Rescale(scaled, DType::kI32, product, 0, 0);
    const Node sum = emit.Insert(ops_.add, {{"input1", above}, {"input2", leaked}});
    const double unit = x.q->scale() / shift;
    FinishRescaled(
        emit, site, sum, [&](const Affine& to) { return std::vector<double>{unit / to.scale()}; },
        [](Node value) { return value; });
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerPrelu(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerPrelu>(context, options);
}

}  // namespace tare
