#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "backends/tosa/constants.h"
#include "backends/tosa/math.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kNorms[] = {
    "aten._native_batch_norm_legit.no_stats",
    "aten.group_norm.default",
    "aten.instance_norm.default",
    "aten.layer_norm.default",
    "aten.native_group_norm.default",
    "aten.native_layer_norm.default",
    "aten.rms_norm.default",
};

constexpr int kFraction = 6;       // bits of a distance from the mean
constexpr int kRootBits = 29;      // fraction bits of 1 / sqrt(m), m in [0.5, 2)
constexpr int kMantissaBits = 30;  // of m
constexpr double kWidest = 1073741824.0;

// What is normalised: each row of `count` elements by itself, then times a weight and plus a bias of shape `along`.
struct Norm {
  Node x;
  int64_t rows = 1, count = 1;
  bool centred = true;
  double eps = 0;
  std::vector<int64_t> shape, along;  // for weight and bias
};

// Writes norms of values quantised to 8 bits as integer arithmetic, where a quantiser left them whole.
//
//   e = x - mean;  w = sum(e * e);  norm = e / sqrt(w)        in 32 bits
//
// The root: w = m * 4^-h with m in [0.5, 2), by CLZ and shifts; 1 / sqrt(m) by three steps of Newton's method from a
// line, each of which squares the error of 9 %. e * 2^h is bounded by the root of the count, so that nothing is lost.
class LowerQuantisedNorm final : public TosaRewrite {
 public:
  explicit LowerQuantisedNorm(const Context& context)
      : TosaRewrite("lower-quantised-norm", context, FindOps(context, kNorms)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg(node.arg("input").has_value() ? "input" : "self"), result = FirstResult(node);
    if (!x.has_value() || !qdq_.IsDequantize(x.op()) || !result.has_value()) return absl::OkStatus();
    const Node arguments[] = {x};
    const std::optional<Site> site = SiteOf(qdq_, rw, result, arguments);
    if (!site.has_value() || !site->quantised || !site->outputs[0].q.has_value()) return absl::OkStatus();
    const Affine& q = *site->inputs[0].q;
    if (!q.per_tensor() || q.storage != DType::kI8) return absl::OkStatus();
    Emitter emit(rw, ops_, result);
    const std::optional<Norm> norm = Read(emit, node, site->inputs[0].value);
    if (!norm.has_value()) return emit.Finish();
    double unit = 0;  // what 1 of the integers stands for
    Node value = Scaled(emit, node, *norm, Normalised(emit, *norm, q, unit), unit);
    const std::vector<int64_t> shape = emit.ShapeOf(result);
    FinishRescaled(
        emit, *site, value, [&](const Affine& to) { return std::vector<double>{unit / to.scale()}; },
        [&](Node made) { return emit.Reshape(made, shape); });
    return emit.Finish();
  }

 private:
  std::optional<Norm> Read(Emitter& emit, Node node, Node x) const {
    const std::string_view name = emit.rewriter().context().ops.Name(node.op());
    Norm norm{x};
    norm.shape = emit.ShapeOf(x);
    if (!emit.ok()) return std::nullopt;
    const std::vector<int64_t>& shape = norm.shape;
    const auto refuse = [&](std::string_view why) {
      emit.Refuse("tosa_lower_c9", why);
      return std::nullopt;
    };
    const int64_t elements = CountOf(shape);
    norm.centred = name != "aten.rms_norm.default";
    norm.eps = node.number("eps").value_or(norm.centred ? 1e-5 : 1.1920928955078125e-07);
    if (node.arg("input").has_value() && !node.ints("normalized_shape").empty()) {
      const size_t over = node.ints("normalized_shape").size();
      if (over > shape.size()) return refuse("a norm over more dims than there are");
      norm.along.assign(shape.end() - static_cast<ptrdiff_t>(over), shape.end());
      norm.count = CountOf(norm.along);
    } else {
      if (shape.size() < 2) return refuse("a norm of channels that are not there");
      int64_t groups = node.integer("num_groups").value_or(node.integer("group").value_or(shape[1]));
      if (name.find("batch_norm") != std::string_view::npos && shape[0] != 1)
        return refuse("the statistics of a batch of quantised values");
      if (name == "aten.instance_norm.default" && !node.flag("use_input_stats").value_or(true))
        return refuse("a norm by statistics of its own");
      if (groups < 1 || shape[1] % groups != 0) return refuse("groups that do not divide the channels");
      norm.along.assign(shape.size() - 1, 1);
      norm.along[0] = shape[1];
      norm.count = elements / (shape[0] * groups);
    }
    norm.rows = elements / std::max<int64_t>(norm.count, 1);
    if (norm.count < 1 || norm.count > int64_t{1} << 22) return refuse("a norm of nothing, or of too much");
    return norm;
  }

  // [rows, count] in multiples of `unit`.
  Node Normalised(Emitter& emit, const Norm& norm, const Affine& q, double& unit) const {
    TensorMath m(emit);
    const auto n = static_cast<double>(norm.count);
    const auto mul = [&](Node a, Node b, int shift) {
      return emit.ok() ? emit.Insert(ops_.mul, {{"input1", a}, {"input2", b}, {"shift", shift}}) : Node();
    };
    const auto number = [&](double value) { return emit.Scalar("number", DType::kI32, 2, std::round(value)); };
    const int64_t axes[] = {1};
    const Node rows = emit.Reshape(norm.x, std::vector<int64_t>{norm.rows, norm.count});
    const double fine[] = {std::ldexp(1.0, kFraction)}, as_is[] = {1.0}, mean[] = {std::ldexp(1.0, kFraction) / n};
    Node distance = emit.Rescale(rows, DType::kI32, fine, q.zero_point(), 0);
    if (norm.centred) {
      const Node codes = emit.Rescale(rows, DType::kI32, as_is, q.zero_point(), 0);
      const Node sum = emit.ok() ? m.Reduce("REDUCE_SUM", codes, axes) : Node();
      distance = emit.ok() ? m.Sub(distance, emit.Rescale(sum, DType::kI32, mean, 0, 0)) : Node();
    }
    // Squares from the mean sum to at most a quarter of the widest square times the count.
    const int bits = static_cast<int>(std::ceil(std::log2(n)));
    const int dropped = std::max(0, bits - (norm.centred ? 4 : 2));
    const Node squares = mul(distance, distance, dropped);
    const double per_count = std::ldexp(n, 2 * kFraction - dropped);  // of a variance of one code
    const double eps = std::min(norm.eps / (q.scale() * q.scale()) * per_count, kWidest / 2);
    if (!emit.ok()) return Node();
    Node sum = m.Reduce("REDUCE_SUM", squares, axes);
    if (std::round(eps) > 0) sum = m.Binary("ADD", sum, number(eps));
    sum = m.Binary("MAXIMUM", sum, number(1));
    const Node one = number(1), zeros = m.Unary("CLZ", sum);
    const Node half = m.Binary("ARITHMETIC_RIGHT_SHIFT", m.Sub(zeros, one), one);
    const Node mantissa = m.Binary("LOGICAL_LEFT_SHIFT", sum, m.Binary("ADD", half, half));
    const double root_unit = std::ldexp(1.0, kRootBits);
    Node root = m.Sub(number(1.5097 * root_unit), mul(mantissa, number(0.4313 * root_unit), kMantissaBits));
    for (int step = 0; step < 3 && emit.ok(); ++step) {
      const Node square = mul(root, root, kRootBits), product = mul(mantissa, square, kMantissaBits);
      root = mul(root, m.Sub(number(3 * root_unit), product), kRootBits + 1);
    }
    if (!emit.ok()) return Node();
    const Node grown = m.Binary("LOGICAL_LEFT_SHIFT", distance, half);
    const int shift = bits / 2 + 16;
    unit = std::sqrt(n / std::ldexp(1.0, dropped)) * std::ldexp(1.0, shift - kRootBits - kMantissaBits / 2);
    return mul(grown, root, shift);
  }

  // Times the weight, plus the bias.
  Node Scaled(Emitter& emit, Node node, const Norm& norm, Node value, double& unit) const {
    const std::optional<std::vector<double>> weight = NumbersOf(emit, node.arg("weight")),
                                             bias = NumbersOf(emit, node.arg("bias"));
    value = emit.Reshape(value, norm.shape);
    if (!emit.ok() || (!weight.has_value() && !bias.has_value())) return value;
    const auto most = [](const std::optional<std::vector<double>>& list, double otherwise) {
      double largest = list.has_value() ? 0 : otherwise;
      for (const double number : list.value_or(std::vector<double>()))
        largest = std::max(largest, std::isfinite(number) ? std::abs(number) : 0);
      return largest;
    };
    constexpr int kWeightBits = 15;
    const double bound = most(weight, 1) * unit * kWidest + most(bias, 0), to = std::max(bound / kWidest, 1e-30);
    std::vector<int64_t> along(norm.shape.size(), 1);
    std::copy(norm.along.begin(), norm.along.end(), along.end() - static_cast<ptrdiff_t>(norm.along.size()));
    const auto constant = [&](std::string_view name, const std::vector<double>& numbers, double of) {
      std::vector<int64_t> integers;
      for (const double number : numbers)
        integers.push_back(static_cast<int64_t>(std::round(std::isfinite(number) ? number / of : 0)));
      if (CountOf(along) != static_cast<int64_t>(integers.size()))
        emit.Refuse("tosa_lower_c9", "a weight of another shape");
      return emit.ok() ? emit.Integers(name, DType::kI32, along, integers) : Node();
    };
    const double ones = unit / to;  // at most 1 for each weight
    if (weight.has_value()) {
      const Node factor = constant("weight", *weight, std::ldexp(1.0, -kWeightBits) / ones);
      value =
          emit.ok() ? emit.Insert(ops_.mul, {{"input1", value}, {"input2", factor}, {"shift", kWeightBits}}) : Node();
    } else {
      const double factor[] = {ones};
      value = emit.Rescale(value, DType::kI32, factor, 0, 0);
    }
    unit = to;
    if (!bias.has_value()) return value;
    const Node shift = constant("bias", *bias, to);
    return emit.ok() ? emit.Insert(ops_.add, {{"input1", value}, {"input2", shift}}) : Node();
  }

  // Of a constant, as it is or quantised. Refuses others.
  std::optional<std::vector<double>> NumbersOf(Emitter& emit, Node node) const {
    if (!node.has_value() || !emit.ok()) return std::nullopt;
    const Context& context = emit.rewriter().context();
    const std::optional<Affine> q = qdq_.IsDequantize(node.op()) ? qdq_.Read(context, node) : std::optional<Affine>();
    const Node source = q.has_value() && q->per_tensor() ? node.arg("input") : node;
    const Constant* constant = source.constant();
    std::optional<std::vector<double>> numbers;
    if (constant != nullptr) numbers = ReadNumbers(context, *constant);
    if (!numbers.has_value()) {
      emit.Refuse("tosa_lower_c9", "a weight or bias that is not constant");
      return std::nullopt;
    }
    if (q.has_value())
      for (double& number : *numbers) number = DequantizeOne(*q, static_cast<int64_t>(number));
    return numbers;
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerQuantisedNorm(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerQuantisedNorm>(context, options);
}

}  // namespace tare
