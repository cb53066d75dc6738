// Means and norms as reductions and arithmetic. Of an op with several results only the first is made.
#include <algorithm>
#include <limits>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/formulas/formula.h"

namespace tare {
namespace {

size_t RankOf(Node x) { return x.tensor().shape.size(); }

int64_t AxisOf(Node node, Node x) {
  const int64_t dim = node.integer("dim").value_or(-1), rank = static_cast<int64_t>(RankOf(x));
  return dim < 0 ? dim + rank : dim;
}

Node Softmax(FormulaCall& c) {
  Emitter& emit = c.emit;
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  if (RankOf(x) == 0) emit.Refuse("tosa_lower_c9", "a softmax without dims");
  return m.Softmax(x, AxisOf(node, x));
}

// Zeros where all of x is -inf.
Node SafeSoftmax(FormulaCall& c) {
  const Node soft = Softmax(c);
  if (!c.emit.ok()) return Node();
  const int64_t axis[] = {AxisOf(c.node, c.first)};
  const Node empty = c.m.Equal(c.m.Reduce("REDUCE_MAX", c.first, axis), -std::numeric_limits<double>::infinity());
  return c.emit.ok() ? c.m.Select(empty, c.m.Number(soft, 0), soft) : Node();
}

// x - max - log(sum(exp(x - max)))
Node LogSoftmax(FormulaCall& c) {
  Emitter& emit = c.emit;
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  if (RankOf(x) == 0) emit.Refuse("tosa_lower_c9", "a softmax without dims");
  const int64_t axes[] = {AxisOf(node, x)};
  const Node shifted = m.Sub(x, m.Reduce("REDUCE_MAX", x, axes));
  return m.Sub(shifted, m.Unary("LOG", m.Reduce("REDUCE_SUM", m.Unary("EXP", shifted), axes)));
}

Node Mean(FormulaCall& c) {
  Emitter& emit = c.emit;
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  return emit.Reshape(m.Mean(x, AxesOf(node, "dim", RankOf(x))), emit.ShapeOf(node));
}

// The mean of the last dim, when that is asked for.
Node Pool1(FormulaCall& c) {
  Emitter& emit = c.emit;
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  if (node.ints("output_size") != std::vector<int64_t>{1})
    emit.Refuse("tosa_lower_c9", "a pool of more than one window");
  const int64_t axes[] = {static_cast<int64_t>(RankOf(x)) - 1};
  return m.Mean(x, axes);
}

Node Variance(FormulaCall& c) {
  Emitter& emit = c.emit;
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const std::vector<int64_t> axes = AxesOf(node, "dim", RankOf(x));
  double less = node.number("correction").value_or(1.0);
  if (const std::optional<bool> unbiased = node.flag("unbiased")) less = *unbiased ? 1.0 : 0.0;
  return emit.Reshape(m.Variance(x, m.Mean(x, axes), axes, less), emit.ShapeOf(node));
}

// (x - mean) / sqrt(variance + eps)
Node Normalize(TensorMath& m, Node x, std::span<const int64_t> axes, double eps) {
  const Node mean = m.Mean(x, axes), variance = m.Variance(x, mean, axes, 0.0);
  const Node distance = m.Sub(x, mean), scale = m.Unary("RSQRT", m.Add(variance, eps));
  return m.Mul(distance, scale);
}

// The last ones, as many as normalized_shape has.
std::vector<int64_t> NormalizedAxes(Node node, Node x) {
  const size_t rank = RankOf(x), over = node.ints("normalized_shape").size();
  std::vector<int64_t> axes;
  for (size_t i = rank - std::min(over, rank); i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Node LayerNorm(FormulaCall& c) {
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const std::vector<int64_t> axes = NormalizedAxes(node, x);
  Node y = Normalize(m, x, axes, node.number("eps").value_or(1e-5));
  if (node.arg("weight").has_value()) y = m.Mul(y, node.arg("weight"));
  if (node.arg("bias").has_value()) y = m.Add(y, node.arg("bias"));
  return y;
}

Node RmsNorm(FormulaCall& c) {
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const std::vector<int64_t> axes = NormalizedAxes(node, x);
  const double eps = node.number("eps").value_or(1.1920928955078125e-07);
  const Node y = m.Mul(x, m.Unary("RSQRT", m.Add(m.Mean(m.Mul(x, x), axes), eps)));
  return node.arg("weight").has_value() ? m.Mul(y, node.arg("weight")) : y;
}

// [C] as [1, C, 1, …], the channels of a tensor of `rank` dims.
Node AlongChannels(Emitter& emit, Node x, size_t rank) {
  std::vector<int64_t> shape(rank, 1);
  const std::vector<int64_t> old = emit.ShapeOf(x);
  if (!emit.ok() || rank < 2) return x;
  shape[1] = old[0];
  return emit.Reshape(x, shape);
}

Node GroupNorm(FormulaCall& c) {
  Emitter& emit = c.emit;
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const std::vector<int64_t> shape = emit.ShapeOf(x);
  const int64_t groups = node.integer("num_groups").value_or(node.integer("group").value_or(0));
  if (!emit.ok() || shape.size() < 2 || groups < 1 || shape[1] % groups != 0) {
    emit.Refuse("tosa_lower_c9", "groups that do not divide the channels");
    return Node();
  }
  int64_t rest = shape[1] / groups;
  for (size_t i = 2; i < shape.size(); ++i) rest *= shape[i];
  const int64_t axes[] = {2};
  const Node grouped = emit.Reshape(x, std::vector<int64_t>{shape[0], groups, rest});
  Node y = emit.Reshape(Normalize(m, grouped, axes, node.number("eps").value_or(1e-5)), shape);
  if (node.arg("weight").has_value()) y = m.Mul(y, AlongChannels(emit, node.arg("weight"), shape.size()));
  if (node.arg("bias").has_value()) y = m.Add(y, AlongChannels(emit, node.arg("bias"), shape.size()));
  return y;
}

// In inference: (x - mean) * (weight / sqrt(variance + eps)) + bias; what does not depend on x folds.
Node BatchNorm(FormulaCall& c) {
  Emitter& emit = c.emit;
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const Node mean = node.arg("running_mean"), variance = node.arg("running_var");
  if (node.flag("training").value_or(false) || node.flag("train").value_or(false) || !mean.has_value() ||
      !variance.has_value()) {
    emit.Refuse("tosa_lower_c9", "a batch norm in training or without statistics");
    return Node();
  }
  const size_t rank = RankOf(x);
  Node scale = m.Unary("RSQRT", m.Add(AlongChannels(emit, variance, rank), node.number("eps").value_or(1e-5)));
  if (node.arg("weight").has_value()) scale = m.Mul(scale, AlongChannels(emit, node.arg("weight"), rank));
  Node shift = m.Mul(m.Mul(AlongChannels(emit, mean, rank), scale), -1.0);
  if (node.arg("bias").has_value()) shift = m.Add(shift, AlongChannels(emit, node.arg("bias"), rank));
  return m.Add(m.Mul(x, scale), shift);
}

Node PRelu(FormulaCall& c) {
  Emitter& emit = c.emit;
  TensorMath& m = c.m;
  const Node x = c.first, node = c.node;
  const Node weight = AlongChannels(emit, node.arg("weight"), RankOf(x));
  const Node above = m.Greater(x, 0.0), below = m.Mul(x, weight);
  return m.Select(above, x, below);
}

constexpr FormulaRow kRows[] = {
    {"aten._log_softmax.default", LogSoftmax},
    {"aten._native_batch_norm_legit_no_training.default", BatchNorm},
    {"aten._safe_softmax.default", SafeSoftmax},
    {"aten._softmax.default", Softmax},
    {"aten.adaptive_avg_pool1d.default", Pool1},
    {"aten.batch_norm.default", BatchNorm},
    {"aten.group_norm.default", GroupNorm},
    {"aten.layer_norm.default", LayerNorm},
    {"aten.log_softmax.int", LogSoftmax},
    {"aten.mean.default", Mean},
    {"aten.mean.dim", Mean},
    {"aten.native_group_norm.default", GroupNorm},
    {"aten.native_layer_norm.default", LayerNorm},
    {"aten.prelu.default", PRelu},
    {"aten.rms_norm.default", RmsNorm},
    {"aten.softmax.int", Softmax},
    {"aten.var.correction", Variance},
    {"aten.var.dim", Variance},
};

}  // namespace

std::span<const FormulaRow> NormFormulas() { return kRows; }

}  // namespace tare
