#include <cmath>
#include <numeric>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kResizes[] = {
    "aten._upsample_nearest_exact2d.default", "aten._upsample_nearest_exact2d.vec", "aten.upsample_bilinear2d.default",
    "aten.upsample_bilinear2d.vec",           "aten.upsample_nearest2d.default",    "aten.upsample_nearest2d.vec",
};

// Arguments of RESIZE along one axis: sample k of the result lies at (k * d + offset) / n of the input.
struct ResizeAxis {
  int64_t n = 0, d = 0, offset = 0, border = 0;
};

// Halves are doubled away, so that the centres of pixels are integers. The nearest sample is the one at or before the
// place; RESIZE rounds, so the place moves by half a sample. Where the input is repeated a whole number of times both
// ways give the same, and the centres are taken.
// A scale that does not reach the last sample is kept as it is.
ResizeAxis FitResize(int64_t in, int64_t out, bool align_corners, bool floors, std::optional<double> scale) {
  const bool between = align_corners && in > 1 && out > 1;
  int64_t over = between ? out - 1 : out, under = between ? in - 1 : in;
  if (!align_corners && scale.has_value() && *scale * static_cast<double>(in) != static_cast<double>(out)) {
    for (under = 1;
         under < 64 && *scale * static_cast<double>(under) != std::floor(*scale * static_cast<double>(under));)
      ++under;
    over = static_cast<int64_t>(std::floor(*scale * static_cast<double>(under)));
  }
  const int64_t common = std::gcd(over, under);
  ResizeAxis axis{2 * over / common, 2 * under / common};
  if (!align_corners) axis.offset = axis.d / 2 - axis.n / 2;
  if (floors && over % under != 0) axis.offset = -axis.n / 2;
  axis.border = axis.d * (out - 1) - axis.n * (in - 1) + axis.offset;
  return axis;
}

// The factor of a spatial axis, where one is given.
std::optional<double> ScaleOf(Node node, size_t axis) {
  if (const std::optional<double> scale = node.number(axis == 0 ? "scales_h" : "scales_w")) return scale;
  const AttrValue& factors = node.attr("scale_factors");
  if (factors.kind != AttrKind::kList || axis >= factors.items().size()) return std::nullopt;
  const AttrValue& factor = factors.items()[axis];
  if (factor.kind == AttrKind::kFloat) return factor.real;
  return factor.kind == AttrKind::kInt ? std::optional(static_cast<double>(factor.integer)) : std::nullopt;
}

// Writes upsampling as RESIZE in channels-last order.
//
// The bilinear sum of integers is larger by the product of both factors, which a rescale takes back. Zero points pass
// through, since the weights of one sample add up to that product.
class LowerResize final : public TosaRewrite {
 public:
  explicit LowerResize(const Context& context) : TosaRewrite("lower-resize", context, FindOps(context, kResizes)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg(node.arg("input").has_value() ? "input" : "self");
    if (!x.has_value() || !x.is_tensor()) return absl::OkStatus();
    const auto in = StaticShape(x.tensor()), out = StaticShape(node.tensor());
    if (!in.has_value() || !out.has_value() || in->size() != 4) return absl::OkStatus();
    const bool bilinear = rw.context().ops.Name(node.op()).find("bilinear") != std::string_view::npos;
    const bool align_corners = node.flag("align_corners").value_or(false);
    const Node arguments[] = {x};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || (site->quantised && !site->inputs[0].q->per_tensor())) return absl::OkStatus();
    const std::string_view name = rw.context().ops.Name(node.op());
    const bool floors = !bilinear && name.find("exact") == std::string_view::npos;
    const ResizeAxis h = FitResize((*in)[2], (*out)[2], align_corners, floors, ScaleOf(node, 0)),
                     w = FitResize((*in)[3], (*out)[3], align_corners, floors, ScaleOf(node, 1));
    if (h.n < 1 || w.n < 1) return absl::OkStatus();

    Emitter emit(rw, ops_, node);
    const auto same = [](const ResizeAxis& axis) { return axis.n == axis.d && axis.offset == 0 && axis.border == 0; };
    if (same(h) && same(w)) {
      FinishMoved(emit, *site, site->inputs[0].value);
      return emit.Finish();
    }
    const DType dtype = site->inputs[0].value.tensor().dtype;
    const bool wide = bilinear && dtype == DType::kI16;
    Node value = emit.Transpose(site->inputs[0].value, ToChannelsLast(4));
    value = emit.Insert(ops_.resize, {{"input", value},
                                      {"scale_factors", std::vector<int64_t>{h.n, h.d, w.n, w.d}},
                                      {"offset", std::vector<int64_t>{h.offset, w.offset}},
                                      {"border", std::vector<int64_t>{h.border, w.border}},
                                      {"resize_mode", AttrValue::String(bilinear ? "bilinear" : "nearest")},
                                      {"out_dtype", wide ? AttrValue::OfDType(DType::kI48) : AttrValue::None()}});
    if (bilinear && IsInteger(dtype)) {
      const double factor[] = {1.0 / static_cast<double>(h.n * w.n)};
      value = emit.Rescale(value, dtype, factor, 0, 0);
    }
    value = emit.Transpose(value, ToChannelsFirst(4));
    if (emit.ok()) FinishMoved(emit, *site, value);
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerResize(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerResize>(context, options);
}

}  // namespace tare
