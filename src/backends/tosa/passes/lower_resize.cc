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
    "aten.upsample_bilinear2d.default",
    "aten.upsample_bilinear2d.vec",
    "aten.upsample_nearest2d.default",
    "aten.upsample_nearest2d.vec",
};

// Arguments of RESIZE along one axis: sample k of the result lies at (k * d + offset) / n of the input.
struct ResizeAxis {
  int64_t n = 0, d = 0, offset = 0, border = 0;
};

// Halves are doubled away, so that the centres of pixels are integers.
ResizeAxis FitResize(int64_t in, int64_t out, bool align_corners) {
  const bool between = align_corners && in > 1 && out > 1;
  const int64_t over = between ? out - 1 : out, under = between ? in - 1 : in, common = std::gcd(over, under);
  ResizeAxis axis{2 * over / common, 2 * under / common};
  if (!align_corners) axis.offset = axis.d / 2 - axis.n / 2;
  axis.border = axis.d * (out - 1) - axis.n * (in - 1) + axis.offset;
  return axis;
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
    const ResizeAxis h = FitResize((*in)[2], (*out)[2], align_corners),
                     w = FitResize((*in)[3], (*out)[3], align_corners);

    Emitter emit(rw, ops_, node);
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
