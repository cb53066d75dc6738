#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kPads[] = {
    "aten.constant_pad_nd.default",   "aten.pad.default",
    "aten.reflection_pad1d.default",  "aten.reflection_pad2d.default",
    "aten.reflection_pad3d.default",  "aten.replication_pad1d.default",
    "aten.replication_pad2d.default", "aten.replication_pad3d.default",
};

enum class Border : uint8_t { kConstant, kReflect, kReplicate, kCircular };

// Writes a constant border as PAD, with the value quantised; negative borders are cut off.
//
// Other borders are parts of the tensor beside it: reversed, one element repeated, or from the other end. With
// `slice_reversed`, for accelerators that do not reverse every axis, up to 16 reversed elements are cut out one by one.
class LowerPad final : public TosaRewrite {
 public:
  LowerPad(const Context& context, bool slice_reversed)
      : TosaRewrite(slice_reversed ? "lower-pad(slice_reversed=true)" : "lower-pad", context, FindOps(context, kPads)),
        slice_reversed_(slice_reversed) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("self");
    const std::string_view list = node.has_constant_ints("pad") ? "pad" : "padding";
    const std::optional<Border> border = BorderOf(node, rw.context());
    if (!border.has_value() || !x.has_value() || !x.is_tensor() || !node.has_constant_ints(list))
      return absl::OkStatus();
    const auto shape = StaticShape(x.tensor());
    const std::vector<int64_t> pad = node.ints(list);  // innermost dim first: before, after
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
    if (*border != Border::kConstant) {
      for (size_t axis = 0; axis < rank; ++axis)
        value = Bordered(emit, value, *border, axis, padding[2 * axis], padding[2 * axis + 1]);
    } else if (emit.ShapeOf(value) != emit.ShapeOf(node) && emit.ok()) {
      const bool floats = IsFloating(value.tensor().dtype);
      const int64_t code = site->quantised ? QuantizeOne(*site->inputs[0].q, real) : static_cast<int64_t>(real);
      value = emit.Insert(
          ops_.pad,
          {{"input1", value}, {"padding", padding}, {"value", floats ? AttrValue::Float(real) : AttrValue::Int(code)}});
    }
    if (emit.ok()) FinishMoved(emit, *site, value);
    return emit.Finish();
  }

 private:
  static std::optional<Border> BorderOf(Node node, const Context& context) {
    const std::string_view name = context.ops.Name(node.op());
    if (name.find("reflection") != std::string_view::npos) return Border::kReflect;
    if (name.find("replication") != std::string_view::npos) return Border::kReplicate;
    const AttrValue& mode = node.attr("mode");
    if (mode.kind != AttrKind::kString || mode.text() == "constant") return Border::kConstant;
    if (mode.text() == "reflect") return Border::kReflect;
    if (mode.text() == "replicate") return Border::kReplicate;
    return mode.text() == "circular" ? std::optional(Border::kCircular) : std::nullopt;
  }

  Node Part(Emitter& emit, Node x, size_t axis, int64_t first, int64_t count) const {
    std::vector<int64_t> size = emit.ShapeOf(x), start(size.size(), 0);
    if (!emit.ok()) return Node();
    start[axis] = first;
    size[axis] = count;
    return emit.Slice(x, start, size);
  }

  Node Reversed(Emitter& emit, Node x, size_t axis, int64_t count) const {
    if (!emit.ok() || count == 1) return x;
    const auto dim = static_cast<int64_t>(axis);
    if (!slice_reversed_ || count > kMostSlices) return emit.Insert(ops_.reverse, {{"input1", x}, {"axis", dim}});
    std::vector<Node> parts;
    for (int64_t i = count; i-- > 0;) parts.push_back(Part(emit, x, axis, i, 1));
    return emit.Concat(parts, dim);
  }

  static constexpr int64_t kMostSlices = 16;

  Node Bordered(Emitter& emit, Node x, Border border, size_t axis, int64_t before, int64_t after) const {
    const std::vector<int64_t> shape = emit.ShapeOf(x);
    if (!emit.ok() || (before == 0 && after == 0)) return x;
    const int64_t extent = shape[axis];
    const auto side = [&](int64_t count, bool first) {
      switch (border) {
        case Border::kReflect: {
          return Reversed(emit, Part(emit, x, axis, first ? 1 : extent - 1 - count, count), axis, count);
        }
        case Border::kReplicate: {
          std::vector<int64_t> multiples(shape.size(), 1);
          multiples[axis] = count;
          const Node part = Part(emit, x, axis, first ? 0 : extent - 1, 1);
          if (count == 1) return part;
          return emit.Insert(ops_.tile, {{"input1", part}, {"multiples", multiples}});
        }
        default:
          return Part(emit, x, axis, first ? extent - count : 0, count);
      }
    };
    if (border != Border::kReplicate && (before > extent || after > extent))
      emit.Refuse("tosa_lower_c9", "a border wider than the tensor");
    std::vector<Node> parts;
    if (before > 0) parts.push_back(side(before, true));
    parts.push_back(x);
    if (after > 0) parts.push_back(side(after, false));
    return emit.Concat(parts, static_cast<int64_t>(axis));
  }

  bool slice_reversed_;
};

}  // namespace

absl::StatusOr<Pass> MakeLowerPad(Context& context, const PassOptions& options) {
  TARE_ASSIGN_OR_RETURN(const bool slice_reversed, OnlyFlag(options, "lower-pad", "slice_reversed"));
  return Pass(std::shared_ptr<const RewritePass>(std::make_shared<const LowerPad>(context, slice_reversed)));
}

}  // namespace tare
