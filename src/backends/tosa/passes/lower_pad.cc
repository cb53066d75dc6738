#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kPads[] = {"aten.constant_pad_nd.default", "aten.pad.default"};

// Writes a constant border as PAD, with the value quantised; negative borders are cut off.
class LowerPad final : public TosaRewrite {
 public:
  explicit LowerPad(const Context& context) : TosaRewrite("lower-pad", context, FindOps(context, kPads)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("self");
    const AttrValue& mode = node.attr("mode");
    if (mode.kind == AttrKind::kString && mode.text() != "constant") return absl::OkStatus();
    if (!x.has_value() || !x.is_tensor() || !node.has_constant_ints("pad")) return absl::OkStatus();
    const auto shape = StaticShape(x.tensor());
    const std::vector<int64_t> pad = node.ints("pad");  // innermost dim first: before, after
    if (!shape.has_value() || pad.size() % 2 != 0 || pad.size() > 2 * shape->size()) return absl::OkStatus();
    const Node arguments[] = {x};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || (site->quantised && !site->inputs[0].q->per_tensor())) return absl::OkStatus();

    const size_t rank = shape->size();
    std::vector<int64_t> padding(2 * rank, 0), start(rank, 0), size = *shape;
    for (size_t i = 0; i < pad.size() / 2; ++i) {
      const size_t axis = rank - 1 - i;
      const int64_t before = pad[2 * i], after = pad[2 * i + 1];
      padding[2 * axis] = std::max<int64_t>(before, 0);
      padding[2 * axis + 1] = std::max<int64_t>(after, 0);
      start[axis] = std::max<int64_t>(-before, 0);
      size[axis] -= start[axis] + std::max<int64_t>(-after, 0);
    }
    const double real = node.number("value").value_or(0);
    Emitter emit(rw, ops_, node);
    Node value = emit.Slice(site->inputs[0].value, start, size);
    if (emit.ShapeOf(value) != emit.ShapeOf(node) && emit.ok()) {
      const bool floats = IsFloating(value.tensor().dtype);
      const int64_t code = site->quantised ? QuantizeOne(*site->inputs[0].q, real) : static_cast<int64_t>(real);
      value = emit.Insert(
          ops_.pad,
          {{"input1", value}, {"padding", padding}, {"value", floats ? AttrValue::Float(real) : AttrValue::Int(code)}});
    }
    if (emit.ok()) FinishMoved(emit, *site, value);
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerPad(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerPad>(context, options);
}

}  // namespace tare
