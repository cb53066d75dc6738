#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kNorms[] = {"aten._native_batch_norm_legit_no_training.default", "aten.batch_norm.default"};

// What a normalisation does to channel c: slope[c] * x + offset[c].
struct Line {
  std::vector<double> slope, offset;
};

// Values of a constant of floats with one per channel; `missing` where the argument is absent.
std::optional<std::vector<double>> PerChannel(const Context& context, Node argument, size_t channels, double missing) {
  if (!argument.has_value()) return std::vector<double>(channels, missing);
  const Constant* constant = argument.constant();
  if (constant == nullptr) return std::nullopt;
  std::optional<std::vector<double>> values = ReadNumbers(context, *constant);
  if (!values.has_value() || values->size() != channels) return std::nullopt;
  return values;
}

std::optional<Line> ReadLine(const Context& context, Node node, size_t channels) {
  const auto mean = PerChannel(context, node.arg("running_mean"), channels, 0.0),
             variance = PerChannel(context, node.arg("running_var"), channels, 1.0),
             weight = PerChannel(context, node.arg("weight"), channels, 1.0),
             bias = PerChannel(context, node.arg("bias"), channels, 0.0);
  if (!mean.has_value() || !variance.has_value() || !weight.has_value() || !bias.has_value()) return std::nullopt;
  const double eps = node.number("eps").value_or(1e-5);
  Line line;
  for (size_t c = 0; c < channels; ++c) {
    line.slope.push_back((*weight)[c] / std::sqrt((*variance)[c] + eps));
    line.offset.push_back((*bias)[c] - (*mean)[c] * line.slope[c]);
    if (!std::isfinite(line.slope[c]) || !std::isfinite(line.offset[c])) return std::nullopt;
  }
  return line;
}

// Writes a batch norm of quantised values with fixed statistics, one that no convolution took in, as a line for each
// channel in int32.
//
//   quantize(batch_norm(dequantize(%x)))  =>  rescale(ADD(MUL(rescale(%x), slope), offset))
//
// Slopes are fractions of 2^k, with the largest k for which no product leaves 31 bits.
class LowerBatchNorm final : public TosaRewrite {
 public:
  explicit LowerBatchNorm(const Context& context)
      : TosaRewrite("lower-batch-norm", context, FindOps(context, kNorms)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("input");
    if (!x.has_value() || !x.is_tensor() || node.flag("training").value_or(false)) return absl::OkStatus();
    if (!node.arg("running_mean").has_value() || !node.arg("running_var").has_value()) return absl::OkStatus();
    const Node result = FirstResult(node);
    if (!result.has_value()) return absl::OkStatus();
    const Node arguments[] = {x};
    const std::optional<Site> site = SiteOf(qdq_, rw, result, arguments, SiteReach::kActivation);
    if (!site.has_value() || !site->quantised || !site->inputs[0].q->per_tensor()) return absl::OkStatus();
    Emitter emit(rw, ops_, result);
    const std::vector<int64_t> shape = emit.ShapeOf(x);
    if (!emit.ok() || shape.size() < 2) return emit.Finish();
    const std::optional<Line> line = ReadLine(rw.context(), node, static_cast<size_t>(shape[1]));
    if (!line.has_value()) {
      emit.Refuse("tosa_lower_c17", "statistics, weight and bias of a quantised batch norm must be constants");
      return emit.Finish();
    }
    Lower(emit, *site, *line, shape);
    return emit.Finish();
  }

 private:
  static void Lower(Emitter& emit, const Site& site, const Line& line, const std::vector<int64_t>& shape) {
    const Affine& in = *site.inputs[0].q;
    double steepest = 0, farthest = 0;
    for (const double slope : line.slope) steepest = std::max(steepest, std::abs(slope));
    for (const double offset : line.offset) farthest = std::max(farthest, std::abs(offset) / in.scale());
    // Products and offsets below 2^30 each, slopes of 15 bits at most.
    const double codes = static_cast<double>(in.qmax - in.qmin);
    const double room = std::min({std::ldexp(1.0, 15) / steepest, std::ldexp(1.0, 30) / (codes * steepest),
                                  std::ldexp(1.0, 30) / farthest, std::ldexp(1.0, 30)});
    const double unit = std::exp2(std::floor(std::log2(room)));
    std::vector<int64_t> slopes, offsets;
    for (const double slope : line.slope) slopes.push_back(std::llround(slope * unit));
    for (const double offset : line.offset) offsets.push_back(std::llround(offset / in.scale() * unit));
    std::vector<int64_t> along(shape.size(), 1);
    along[1] = shape[1];
    const TosaOps& ops = emit.ops();
    Node value = emit.Rescale(site.inputs[0].value, DType::kI32, std::vector<double>{1.0}, in.zero_point(), 0);
    const Node slope = emit.Integers("slope", DType::kI32, along, slopes),
               offset = emit.Integers("offset", DType::kI32, along, offsets);
    value = emit.Insert(ops.mul, {{"input1", value}, {"input2", slope}});
    value = emit.Insert(ops.add, {{"input1", value}, {"input2", offset}});
    if (!emit.ok()) return;
    FinishRescaled(
        emit, site, value, [&](const Affine& to) { return std::vector<double>{in.scale() / (unit * to.scale())}; },
        [](Node result) { return result; });
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerBatchNorm(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerBatchNorm>(context, options);
}

}  // namespace tare
