#include <cmath>
#include <optional>

#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kClamp[] = {"aten.clamp.default"};

// Writes a clamp as CLAMP; that of integers has its bounds quantised.
class LowerClamp final : public TosaRewrite {
 public:
  explicit LowerClamp(const Context& context) : TosaRewrite("lower-clamp", context, FindOps(context, kClamp)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node arguments[] = {node.arg("self")};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || !node.is_tensor()) return absl::OkStatus();
    const double low = node.number("min").value_or(-INFINITY), high = node.number("max").value_or(INFINITY);
    Emitter emit(rw, ops_, node);
    if (!site->quantised) {
      const DType dtype = node.tensor().dtype;
      if (arguments[0].tensor().dtype != dtype) return absl::OkStatus();
      if (!IsFloating(dtype)) {
        // CLAMP has 8 and 16 bits; others are a maximum and a minimum.
        if (dtype != DType::kI8 && dtype != DType::kI16) return absl::OkStatus();
        const auto bound = [&](double v, double otherwise) { return std::isfinite(v) ? v : otherwise; };
        const auto [min, max] = RangeOf(dtype);
        emit.Replace(node, emit.Clamp(arguments[0], static_cast<int64_t>(bound(low, static_cast<double>(min))),
                                      static_cast<int64_t>(bound(high, static_cast<double>(max)))));
        return emit.Finish();
      }
      emit.Replace(node, emit.Insert(ops_.clamp, {{"input", arguments[0]}, {"min_val", low}, {"max_val", high}}));
      return emit.Finish();
    }
    const Affine& from = *site->inputs[0].q;
    if (!from.per_tensor()) return absl::OkStatus();
    for (const SiteOutput& output : site->outputs) {
      Affine bounds = *output.q;
      Node value = site->inputs[0].value;
      if (!from.SameScale(bounds)) {
        const double factor[] = {from.scale() / bounds.scale()};
        value = emit.RescaleTo(value, factor, from.zero_point(), bounds);
      }
      const int64_t first = QuantizeOne(bounds, low), last = QuantizeOne(bounds, high);
      const Node clamped =
          emit.Clamp(value, first > bounds.qmin ? first : INT64_MIN, last < bounds.qmax ? last : INT64_MAX);
      if (!emit.ok()) break;
      if (!(clamped == site->inputs[0].value)) emit.Quantify(clamped, {}, &bounds);
      emit.Replace(output.node, clamped);
    }
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerClamp(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerClamp>(context, options);
}

}  // namespace tare
