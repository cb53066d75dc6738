#include <cmath>

#include "backends/tosa/constants.h"
#include "backends/tosa/formulas/formula.h"

namespace tare {
namespace {

// The axes that a call reduces: of `dim`, all when it names none.
std::vector<int64_t> Axes(FormulaCall& c) {
  const std::vector<int64_t> axes = AxesOf(c.node, "dim", c.RankOf("self"));
  for (const int64_t axis : axes)
    if (axis < 0 || axis >= static_cast<int64_t>(c.RankOf("self"))) c.Refuse("an axis that is not there");
  return axes;
}

Node Sum(FormulaCall& c) { return c.m.Reduce("REDUCE_SUM", c.In("self"), Axes(c)); }
Node Mean(FormulaCall& c) { return c.m.Mean(c.In("self"), Axes(c)); }
Node Product(FormulaCall& c) { return c.m.Reduce("REDUCE_PRODUCT", c.In("self"), Axes(c)); }
Node Any(FormulaCall& c) { return c.m.Reduce("REDUCE_ANY", c.In("self", DType::kBool), Axes(c)); }
Node All(FormulaCall& c) { return c.m.Reduce("REDUCE_ALL", c.In("self", DType::kBool), Axes(c)); }
Node Count(FormulaCall& c) {
  return c.m.Reduce("REDUCE_SUM", c.m.Convert(c.In("self", DType::kBool), c.computed()), Axes(c));
}

struct Moments {
  Node mean, variance;
};
Moments MomentsOf(FormulaCall& c) {
  const std::vector<int64_t> axes = Axes(c);
  double less = c.node.number("correction").value_or(1.0);
  if (const std::optional<bool> unbiased = c.node.flag("unbiased")) less = *unbiased ? 1.0 : 0.0;
  const Node x = c.In("self"), mean = c.m.Mean(x, axes);
  return {mean, c.m.Variance(x, mean, axes, less)};
}
Node Variance(FormulaCall& c) { return MomentsOf(c).variance; }
Node Deviation(FormulaCall& c) { return c.m.Sqrt(MomentsOf(c).variance); }
Node VarianceAndMean(FormulaCall& c) { return c.index == 0 ? MomentsOf(c).variance : MomentsOf(c).mean; }
Node DeviationAndMean(FormulaCall& c) { return c.index == 0 ? Deviation(c) : MomentsOf(c).mean; }

// (sum |x|^order)^(1/order), and its limits
Node Norm(FormulaCall& c, Node x, double order, std::span<const int64_t> axes) {
  if (!IsFloating(c.dtype())) return c.Refuse("a norm of integers");
  const Node size = c.m.Unary("ABS", x);
  if (std::isinf(order)) return c.m.Reduce(order > 0 ? "REDUCE_MAX" : "REDUCE_MIN", size, axes);
  if (order == 0) {
    const Node there = c.m.Convert(c.m.Not(c.m.Equal(x, 0)), c.computed());
    return c.m.Reduce("REDUCE_SUM", there, axes);
  }
  if (order == 1) return c.m.Reduce("REDUCE_SUM", size, axes);
  if (order == 2) return c.m.Sqrt(c.m.Reduce("REDUCE_SUM", c.m.Mul(x, x), axes));
  const Node sum = c.m.Reduce("REDUCE_SUM", c.m.Binary("POW", size, c.m.Number(size, order)), axes);
  return c.m.Binary("POW", sum, c.m.Number(sum, 1 / order));
}
Node VectorNorm(FormulaCall& c) {
  double order = 2;
  for (const std::string_view name : {"ord", "p"})
    if (const std::optional<double> given = c.node.number(name)) order = *given;
  return Norm(c, c.In("self"), order, Axes(c));
}
// Of a vector, or of all elements when neither order nor dims are named.
Node AnyNorm(FormulaCall& c) {
  const bool plain = c.node.attr("ord").is_none() && c.node.attr("dim").is_none();
  if (!plain && c.RankOf("self") != 1) return c.Refuse("a norm of matrices");
  return VectorNorm(c);
}
Node FrobeniusNorm(FormulaCall& c) { return Norm(c, c.In("self"), 2, Axes(c)); }

// max + log(sum(exp(x - max)))
Node LogSumExp(FormulaCall& c) {
  const std::vector<int64_t> axes = Axes(c);
  const Node x = c.In("self"), most = c.m.Reduce("REDUCE_MAX", x, axes);
  const Node sum = c.m.Reduce("REDUCE_SUM", c.m.Unary("EXP", c.m.Sub(x, most)), axes);
  return c.m.Add(c.m.Unary("LOG", sum), most);
}

// The index of an extreme, as i32. Of the smallest: of the largest in the opposite order, which for integers has no
// exception where their bits are inverted.
Node ArgExtreme(FormulaCall& c, bool largest) {
  if (c.dtype() != DType::kI32) return c.Refuse("an index of 64 bits");
  Node x = c.Arg("self");
  if (!largest) x = c.m.Unary(IsFloating(x.tensor().dtype) ? "NEGATE" : "BITWISE_NOT", x);
  int64_t axis = 0;
  if (!c.node.integer("dim").has_value() || c.RankOf("self") == 0) {
    x = c.emit.Reshape(x, std::vector<int64_t>{CountOf(c.emit.ShapeOf(x))});
  } else {
    axis = c.Axis("dim", c.RankOf("self"));
  }
  return c.emit.Insert(c.emit.ops().argmax, {{"input", x}, {"axis", axis}});
}
Node Extreme(FormulaCall& c, bool largest) {
  if (c.index != 0) return ArgExtreme(c, largest);
  std::vector<int64_t> axes = Axes(c);
  return c.m.Reduce(largest ? "REDUCE_MAX" : "REDUCE_MIN", c.Arg("self"), axes);
}
Node Largest(FormulaCall& c) { return Extreme(c, true); }
Node Smallest(FormulaCall& c) { return Extreme(c, false); }
Node AMinMax(FormulaCall& c) { return c.m.Reduce(c.index == 0 ? "REDUCE_MIN" : "REDUCE_MAX", c.Arg("self"), Axes(c)); }

// Running sums of a dim as a convolution with as many ones: each element sees those before it, and itself. `x` has
// the codes where there are some, and floats else.
Node SumsByOnes(FormulaCall& c, Node x, size_t axis) {
  const std::vector<int64_t> shape = c.emit.ShapeOf(x);
  if (!c.emit.ok()) return Node();
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= shape[i];
  const int64_t n = shape[axis];
  const DType dtype = x.tensor().dtype, sum = dtype == DType::kI16 ? DType::kI48 : DType::kI32;
  const std::vector<int64_t> weight = {n, 1, inner, 1}, channels = {inner};
  const auto count = static_cast<size_t>(n * inner);
  const bool floats = IsFloating(dtype);
  const Node ones = floats ? c.emit.Floats("ones", dtype, weight, std::vector<float>(count, 1.0f))
                           : c.emit.Integers("ones", DType::kI8, weight, std::vector<int64_t>(count, 1));
  const Node bias =
      floats ? c.emit.Floats("zero_bias", dtype, channels, std::vector<float>(static_cast<size_t>(inner), 0.0f))
             : c.emit.Integers("zero_bias", sum, channels, std::vector<int64_t>(static_cast<size_t>(inner), 0));
  const Node rows = c.emit.Reshape(x, std::vector<int64_t>{outer, n, 1, inner});
  const Node sums = c.emit.Insert(c.emit.ops().depthwise_conv2d, {{"input", rows},
                                                                  {"weight", ones},
                                                                  {"bias", bias},
                                                                  {"pad", std::vector<int64_t>{n - 1, 0, 0, 0}},
                                                                  {"stride", std::vector<int64_t>{1, 1}},
                                                                  {"dialation", std::vector<int64_t>{1, 1}}});
  if (!c.emit.ok()) return Node();
  if (c.q == nullptr) return c.emit.Reshape(sums, shape);
  Affine weights;
  weights.scales = {1.0};
  weights.zero_points = {0};
  weights.qmin = -127;
  weights.qmax = 127;
  const Affine* const quants[] = {c.q, &weights};
  c.emit.Quantify(sums, quants, nullptr);
  return sums;
}

// Running sums in log2 steps: after step k each element holds 2^k neighbours.
Node Scan(FormulaCall& c, std::string_view tosa_op, double neutral) {
  Node x = c.q != nullptr ? c.first : c.In("self");
  const std::vector<int64_t> shape = c.emit.ShapeOf(x);
  if (!c.emit.ok() || shape.empty()) return x;
  const auto axis = static_cast<size_t>(c.Axis("dim", shape.size()));
  if (!c.emit.ok() || !c.SumsFit(shape[axis])) return Node();
  constexpr int64_t kMostOnes = 64;  // rows of a kernel that accelerators have
  const bool convolves = c.q != nullptr || x.tensor().dtype == DType::kF32;
  if (tosa_op == "ADD" && convolves && shape[axis] > 1 && shape[axis] <= kMostOnes) return SumsByOnes(c, x, axis);
  if (c.q != nullptr) {
    const double as_is[] = {1.0};
    x = c.emit.Rescale(x, DType::kI32, as_is, c.q->zero_point(), 0);
  }
  for (int64_t step = 1; step < shape[axis] && c.emit.ok(); step *= 2) {
    std::vector<int64_t> size = shape, padding(2 * shape.size(), 0);
    size[axis] -= step;
    padding[2 * axis] = step;
    const bool floats = IsFloating(x.tensor().dtype);
    const Node before = c.emit.Slice(x, std::vector<int64_t>(shape.size(), 0), size);
    const AttrValue value = floats ? AttrValue::Float(neutral) : AttrValue::Int(static_cast<int64_t>(neutral));
    const Node moved = c.emit.Insert(c.emit.ops().pad, {{"input1", before}, {"padding", padding}, {"value", value}});
    x = c.m.Binary(tosa_op, x, moved);
  }
  return x;
}

// Two distances along one dim.
Node CosineSimilarity(FormulaCall& c) {
  const Node a = c.In("x1"), b = c.In("x2");
  if (!c.emit.ok()) return Node();
  const int64_t axes[] = {c.Axis("dim", std::max(a.tensor().shape.size(), b.tensor().shape.size()))};
  const double eps = c.node.number("eps").value_or(1e-8);
  const Node product = c.m.Reduce("REDUCE_SUM", c.m.Mul(a, b), axes);
  const auto length = [&](Node x) {
    const Node root = c.m.Sqrt(c.m.Reduce("REDUCE_SUM", c.m.Mul(x, x), axes));
    return c.m.Binary("MAXIMUM", root, c.m.Number(root, eps));
  };
  const Node left = length(a), right = length(b);
  return c.m.Mul(product, c.m.Unary("RECIPROCAL", c.m.Mul(left, right)));
}
Node PairwiseDistance(FormulaCall& c) {
  const Node a = c.In("x1"), b = c.In("x2");
  const Node distance = c.m.Add(c.m.Sub(a, b), c.node.number("eps").value_or(1e-6));
  if (!c.emit.ok()) return Node();
  const int64_t axes[] = {static_cast<int64_t>(distance.tensor().shape.size()) - 1};
  return Norm(c, distance, c.node.number("p").value_or(2), axes);
}

// Each channel by its own mean and variance, `together` those of all samples. As further results the means and
// 1 / sqrt(variance + eps).
Node NormalizedChannels(FormulaCall& c, bool together) {
  const Node x = c.In("input");
  if (!c.emit.ok()) return Node();
  const std::vector<int64_t> shape = c.emit.ShapeOf(x);
  const size_t rank = shape.size();
  if (rank < 2) return c.Refuse("a norm without channels");
  std::vector<int64_t> axes;
  if (together) axes.push_back(0);
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  const Node mean = c.m.Mean(x, axes), variance = c.m.Variance(x, mean, axes, 0);
  const Node scale = c.m.Unary("RSQRT", c.m.Add(variance, c.node.number("eps").value_or(1e-5)));
  if (c.index > 0) return c.emit.Reshape(c.index == 1 ? mean : scale, c.emit.ShapeOf(c.result));
  Node y = c.m.Mul(c.m.Sub(x, mean), scale);
  for (const std::string_view name : {"weight", "bias"}) {
    if (!c.node.arg(name).has_value()) continue;
    std::vector<int64_t> along(rank, 1);
    along[1] = shape[1];
    const Node per_channel = c.emit.Reshape(c.In(name), along);
    y = name == "weight" ? c.m.Mul(y, per_channel) : c.m.Add(y, per_channel);
  }
  return y;
}

Node InstanceNorm(FormulaCall& c) {
  if (!c.node.flag("use_input_stats").value_or(true)) return c.Refuse("an instance norm by running statistics");
  return NormalizedChannels(c, false);
}

Node BatchStatisticsNorm(FormulaCall& c) {
  if (!c.node.flag("training").value_or(true)) return c.Refuse("a batch norm without statistics");
  return NormalizedChannels(c, true);
}

constexpr FormulaRow kRows[] = {
    {"aten._native_batch_norm_legit.no_stats", BatchStatisticsNorm},
    {"aten.all.default", All},
    {"aten.all.dim", All},
    {"aten.all.dims", All},
    {"aten.amax.default", Largest, kMoves},
    {"aten.amin.default", Smallest, kMoves},
    {"aten.aminmax.default", AMinMax},
    {"aten.any.default", Any},
    {"aten.any.dim", Any},
    {"aten.any.dims", Any},
    {"aten.argmax.default", [](FormulaCall& c) { return ArgExtreme(c, true); }, kMoves},
    {"aten.argmin.default", [](FormulaCall& c) { return ArgExtreme(c, false); }, kMoves},
    {"aten.cosine_similarity.default", CosineSimilarity},
    {"aten.count_nonzero.default", Count},
    {"aten.count_nonzero.dim_IntList", Count},
    {"aten.cumprod.default", [](FormulaCall& c) { return Scan(c, "MUL", 1); }},
    {"aten.cumsum.default", [](FormulaCall& c) { return Scan(c, "ADD", 0); }, kSums},
    {"aten.frobenius_norm.dim", FrobeniusNorm},
    {"aten.instance_norm.default", InstanceNorm},
    {"aten.linalg_norm.default", AnyNorm},
    {"aten.linalg_vector_norm.default", VectorNorm},
    {"aten.logsumexp.default", LogSumExp},
    {"aten.max.default", Largest, kMoves},
    {"aten.max.dim", Largest, kMoves},
    {"aten.mean.default", Mean},
    {"aten.mean.dim", Mean},
    {"aten.min.default", Smallest, kMoves},
    {"aten.min.dim", Smallest, kMoves},
    {"aten.norm.Scalar", VectorNorm},
    {"aten.norm.ScalarOpt_dim", VectorNorm},
    {"aten.pairwise_distance.default", PairwiseDistance},
    {"aten.prod.default", Product},
    {"aten.prod.dim_int", Product},
    {"aten.std.correction", Deviation},
    {"aten.std.default", Deviation},
    {"aten.std.dim", Deviation},
    {"aten.std_mean.correction", DeviationAndMean},
    {"aten.std_mean.dim", DeviationAndMean},
    {"aten.sum.default", Sum},
    {"aten.sum.dim_IntList", Sum},
    {"aten.var.correction", Variance},
    {"aten.var.default", Variance},
    {"aten.var.dim", Variance},
    {"aten.var_mean.correction", VarianceAndMean},
    {"aten.var_mean.dim", VarianceAndMean},
};

}  // namespace

std::span<const FormulaRow> ReductionFormulas() { return kRows; }

}  // namespace tare
