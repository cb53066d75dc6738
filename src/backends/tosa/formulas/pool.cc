#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/tosa/formulas/formula.h"
#include "backends/tosa/window.h"

namespace tare {
namespace {

// One axis of a pool: windows of `kernel` elements, `dilation` apart, that start `stride` apart at -before.
struct PoolAxis {
  size_t axis = 0;
  int64_t in = 0, out = 0, kernel = 1, stride = 1, before = 0, dilation = 1;
};

Node PadAxis(Emitter& emit, Node x, size_t axis, int64_t before, int64_t after, const AttrValue& value) {
  if (!emit.ok() || (before == 0 && after == 0)) return x;
  std::vector<int64_t> padding(2 * x.tensor().shape.size(), 0);
  padding[2 * axis] = before;
  padding[2 * axis + 1] = after;
  return emit.Insert(emit.ops().pad, {{"input1", x}, {"padding", padding}, {"value", value}});
}

Node SliceAxis(Emitter& emit, Node x, size_t axis, int64_t first, int64_t count) {
  std::vector<int64_t> size = emit.ShapeOf(x), start(size.size(), 0);
  if (!emit.ok()) return Node();
  start[axis] = first;
  size[axis] = count;
  return emit.Slice(x, start, size);
}

// Pools along one axis are pools of [before, extent, 1, after] along its second dim: nothing is transposed.
Node AlongAxis(FormulaCall& c, Node x, const PoolAxis& a, bool average) {
  std::vector<int64_t> shape = c.emit.ShapeOf(x);
  if (!c.emit.ok()) return Node();
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != a.axis) (i < a.axis ? outer : inner) *= shape[i];
  Node y = c.emit.Reshape(x, std::vector<int64_t>{outer, a.in, 1, inner});
  const WindowAxis window = FitWindow(a.in, a.out, a.kernel, a.stride, 1, a.before), whole;
  const WindowAxis axes[] = {window, whole};
  y = CropWindow(c.emit, y, 1, axes);
  if (!c.emit.ok()) return Node();
  const DType dtype = y.tensor().dtype;
  const std::vector<int64_t> kernel = {a.kernel, 1}, stride = {a.stride, 1}, pad = PadsOf(axes);
  if (average) {
    const Node zero = c.emit.Scalar("zero_point", dtype, 1, 0);
    y = c.emit.Insert(c.emit.ops().avg_pool2d, {{"input", y},
                                                {"input_zp", zero},
                                                {"output_zp", zero},
                                                {"kernel", kernel},
                                                {"stride", stride},
                                                {"pad", pad},
                                                {"acc_type", AttrValue::OfDType(DType::kF32)}});
  } else {
    y = c.emit.Insert(c.emit.ops().max_pool2d, {{"input", y}, {"kernel", kernel}, {"stride", stride}, {"pad", pad}});
  }
  shape[a.axis] = a.out;
  return c.emit.Reshape(y, shape);
}

// The largest of the elements that each tap of the windows sees.
Node DilatedMax(FormulaCall& c, Node x, const PoolAxis& a) {
  const int64_t reach = (a.out - 1) * a.stride + (a.kernel - 1) * a.dilation + 1;
  if (!c.emit.ok()) return Node();
  const DType dtype = x.tensor().dtype;
  const AttrValue least = IsFloating(dtype) ? AttrValue::Float(-std::numeric_limits<double>::infinity())
                                            : AttrValue::Int(RangeOf(dtype).first);
  x = PadAxis(c.emit, x, a.axis, a.before, std::max<int64_t>(reach - a.before - a.in, 0), least);
  Node most;
  std::vector<Node> taps;  // of codes: MAXIMUM takes none
  for (int64_t tap = 0; tap < a.kernel && c.emit.ok(); ++tap) {
    std::vector<int64_t> picked;
    for (int64_t i = 0; i < a.out; ++i) picked.push_back(i * a.stride + tap * a.dilation);
    const Node seen = Take(c.emit, x, a.axis, picked);
    if (c.emit.ok() && !IsFloating(dtype)) {
      std::vector<int64_t> stacked = c.emit.ShapeOf(seen);
      stacked.insert(stacked.begin() + static_cast<ptrdiff_t>(a.axis), 1);
      taps.push_back(c.emit.Reshape(seen, stacked));
      continue;
    }
    most = most.has_value() ? c.m.Binary("MAXIMUM", most, seen) : seen;
  }
  if (taps.empty() || !c.emit.ok()) return most;
  const Node stack = c.emit.Concat(taps, static_cast<int64_t>(a.axis));
  std::vector<int64_t> shape = c.emit.ShapeOf(x);
  if (!c.emit.ok()) return Node();
  shape[a.axis] = a.out;
  const int64_t over[] = {static_cast<int64_t>(a.axis)};
  return c.emit.Reshape(c.m.Reduce("REDUCE_MAX", stack, over), shape);
}

// Means of codes over windows that lie side by side: sums in i32, of which `c.factor` makes means.
Node SumsOfBlocks(FormulaCall& c, std::span<const PoolAxis> axes) {
  const double as_is[] = {1.0};
  Node x = c.emit.Rescale(c.first, DType::kI32, as_is, c.q->zero_point(), 0);
  int64_t count = 1;
  for (const PoolAxis& a : axes) {
    if ((a.stride != a.kernel && a.out != 1) || a.before != 0 || a.out > a.in / a.kernel)
      return c.Refuse("a mean over windows of quantised values that overlap or reach out");
    count *= a.kernel;
  }
  if (!c.SumsFit(count)) return Node();
  for (const PoolAxis& a : axes) {
    x = SliceAxis(c.emit, x, a.axis, 0, a.out * a.kernel);
    std::vector<int64_t> shape = c.emit.ShapeOf(x);
    if (!c.emit.ok()) return Node();
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != a.axis) (i < a.axis ? outer : inner) *= shape[i];
    const int64_t over[] = {2};
    x = c.m.Reduce("REDUCE_SUM", c.emit.Reshape(x, std::vector<int64_t>{outer, a.out, a.kernel, inner}), over);
    shape[a.axis] = a.out;
    x = c.emit.Reshape(x, shape);
  }
  c.factor = 1.0 / static_cast<double>(count);
  return x;
}

// Max and average pools, axis by axis. A mean over a box is a mean of means, padding that does not count included:
// how many elements count is a product over the axes.
Node Pool(FormulaCall& c, size_t axes, bool average) {
  if (c.index != 0) return c.Refuse("places of maxima");
  Node x = c.q != nullptr ? c.first : c.In("self");
  const std::vector<int64_t> in = c.ShapeOf("self"), out = c.emit.ShapeOf(c.result);
  if (!c.emit.ok() || !IsFloating(c.dtype()) || in.size() < axes + 1 || in.size() != out.size())
    return c.Refuse("a pool of integers that are not quantised");
  const auto kernel = PerAxis(c.node, "kernel_size", axes, 1), before = PerAxis(c.node, "padding", axes, 0),
             dilation = PerAxis(c.node, "dilation", axes, 1);
  if (!kernel.has_value() || !before.has_value() || !dilation.has_value()) return c.Refuse("a kernel of another rank");
  const std::vector<int64_t> stride = c.node.ints("stride");
  const bool counts = c.node.flag("count_include_pad").value_or(false);
  const double divisor = c.node.number("divisor_override").value_or(0);
  double scale = 1;
  std::vector<PoolAxis> blocks;
  for (size_t i = 0; i < axes && c.emit.ok(); ++i) {
    PoolAxis a{in.size() - axes + i};
    a.in = in[a.axis];
    a.out = out[a.axis];
    a.kernel = (*kernel)[i];
    a.stride = stride.empty() ? a.kernel : stride.size() == 1 ? stride[0] : stride[i];
    a.before = (*before)[i];
    a.dilation = (*dilation)[i];
    if (a.kernel < 1 || a.stride < 1) return c.Refuse("an empty window");
    if (average && c.q != nullptr) {
      blocks.push_back(a);
      continue;
    }
    if (a.dilation != 1 && !average) {
      x = DilatedMax(c, x, a);
      continue;
    }
    if (average && (counts || divisor != 0)) {
      // The padding that is asked for counts; in ceil mode what lies beyond does not, unless the divisor is fixed.
      const int64_t end = (a.out - 1) * a.stride + a.kernel - a.before - a.in;
      const int64_t after = divisor != 0 ? std::max<int64_t>(end, 0) : std::clamp<int64_t>(end, 0, a.before);
      x = PadAxis(c.emit, x, a.axis, a.before, after, AttrValue::Float(0));
      a.in += a.before + after;
      a.before = 0;
      scale *= static_cast<double>(a.kernel);
    }
    x = AlongAxis(c, x, a, average);
  }
  if (average && c.q != nullptr) {
    x = SumsOfBlocks(c, blocks);
    if (divisor != 0) c.factor = 1 / divisor;
    return x;
  }
  return divisor != 0 ? c.m.Mul(x, scale / divisor) : x;
}

// Window i goes from floor(i * in / out) to ceil((i + 1) * in / out).
Node Adaptive(FormulaCall& c, size_t axes, bool average) {
  if (c.index != 0) return c.Refuse("places of maxima");
  Node x = c.q != nullptr ? c.first : c.In("self");
  const std::vector<int64_t> in = c.ShapeOf("self"), out = c.emit.ShapeOf(c.result);
  if (!c.emit.ok() || !IsFloating(c.dtype()) || in.size() < axes + 1 || in.size() != out.size())
    return c.Refuse("a pool of integers that are not quantised");
  if (average && c.q != nullptr) {
    std::vector<PoolAxis> blocks;
    for (size_t axis = in.size() - axes; axis < in.size(); ++axis) {
      if (out[axis] < 1 || in[axis] % out[axis] != 0) return c.Refuse("uneven windows of quantised values");
      blocks.push_back({axis, in[axis], out[axis], in[axis] / out[axis], in[axis] / out[axis], 0, 1});
    }
    return SumsOfBlocks(c, blocks);
  }
  for (size_t axis = in.size() - axes; axis < in.size() && c.emit.ok(); ++axis) {
    const int64_t n = in[axis], m = out[axis];
    if (n < 1 || m < 1 || m > 4096) return c.Refuse("a pool of nothing, or of too many windows");
    if (n >= m && n % m <= 1) {
      x = AlongAxis(c, x, {axis, n, m, n / m + n % m, n / m, 0, 1}, average);
      continue;
    }
    std::vector<Node> parts;
    for (int64_t i = 0; i < m; ++i) {
      const int64_t first = i * n / m, last = ((i + 1) * n + m - 1) / m;
      const Node window = SliceAxis(c.emit, x, axis, first, last - first);
      const int64_t over[] = {static_cast<int64_t>(axis)};
      parts.push_back(average ? c.m.Mean(window, over) : c.m.Reduce("REDUCE_MAX", window, over));
    }
    x = c.emit.Concat(parts, static_cast<int64_t>(axis));
  }
  return x;
}

// What each window sees: the image cut once for each element of the kernel where windows are next to each other, else
// looked up.
Node Im2Col(FormulaCall& c) {
  Node x = c.Arg("self");
  std::vector<int64_t> shape = c.emit.ShapeOf(x);
  const auto kernel = c.node.ints("kernel_size"), dilation = c.node.ints("dilation"), padding = c.node.ints("padding"),
             stride = c.node.ints("stride");
  if (!c.emit.ok() || shape.size() < 3 || shape.size() > 4 || kernel.size() != 2 || dilation.size() != 2 ||
      padding.size() != 2 || stride.size() != 2)
    return c.Refuse("windows of other than two dims");
  if (shape.size() == 3) shape.insert(shape.begin(), 1);
  x = c.emit.Reshape(x, shape);
  if (padding[0] > 0 || padding[1] > 0) {
    const AttrValue value = c.q != nullptr                 ? AttrValue::Int(c.q->zero_point())
                            : IsFloating(x.tensor().dtype) ? AttrValue::Float(0)
                                                           : AttrValue::Int(0);
    const std::vector<int64_t> pads = {0, 0, 0, 0, padding[0], padding[0], padding[1], padding[1]};
    x = c.emit.Insert(c.emit.ops().pad, {{"input1", x}, {"padding", pads}, {"value", value}});
    shape = c.emit.ShapeOf(x);
  }
  if (!c.emit.ok()) return Node();
  const int64_t rows = (shape[2] - dilation[0] * (kernel[0] - 1) - 1) / stride[0] + 1,
                columns = (shape[3] - dilation[1] * (kernel[1] - 1) - 1) / stride[1] + 1;
  constexpr int64_t kMostParts = 64;  // operands of CONCAT
  if (stride[0] == 1 && stride[1] == 1 && kernel[0] * kernel[1] <= kMostParts) {
    std::vector<Node> parts;
    for (int64_t i = 0; i < kernel[0]; ++i)
      for (int64_t j = 0; j < kernel[1]; ++j) {
        const Node seen = c.emit.Slice(x, std::vector<int64_t>{0, 0, i * dilation[0], j * dilation[1]},
                                       std::vector<int64_t>{shape[0], shape[1], rows, columns});
        parts.push_back(c.emit.Reshape(seen, std::vector<int64_t>{shape[0], shape[1], 1, rows * columns}));
      }
    return c.emit.ok() ? c.emit.Reshape(c.emit.Concat(parts, 2), c.emit.ShapeOf(c.result)) : Node();
  }
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < kernel[0]; ++i)
    for (int64_t j = 0; j < kernel[1]; ++j)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
          picked.push_back((row * stride[0] + i * dilation[0]) * shape[3] + column * stride[1] + j * dilation[1]);
  const Node image = c.emit.Reshape(x, std::vector<int64_t>{shape[0], shape[1], shape[2] * shape[3]});
  return c.emit.Reshape(Take(c.emit, image, 2, picked), c.emit.ShapeOf(c.result));
}

template <size_t kAxes>
Node Max(FormulaCall& c) {
  return Pool(c, kAxes, false);
}
template <size_t kAxes>
Node Average(FormulaCall& c) {
  return Pool(c, kAxes, true);
}
template <size_t kAxes>
Node AdaptiveMax(FormulaCall& c) {
  return Adaptive(c, kAxes, false);
}
template <size_t kAxes>
Node AdaptiveAverage(FormulaCall& c) {
  return Adaptive(c, kAxes, true);
}

constexpr FormulaRow kRows[] = {
    {"aten._adaptive_avg_pool2d.default", AdaptiveAverage<2>},
    {"aten._adaptive_avg_pool3d.default", AdaptiveAverage<3>, kSums},
    {"aten.adaptive_avg_pool1d.default", AdaptiveAverage<1>},
    {"aten.adaptive_avg_pool2d.default", AdaptiveAverage<2>},
    {"aten.adaptive_avg_pool3d.default", AdaptiveAverage<3>, kSums},
    {"aten.adaptive_max_pool1d.default", AdaptiveMax<1>, kMoves},
    {"aten.adaptive_max_pool2d.default", AdaptiveMax<2>, kMoves},
    {"aten.adaptive_max_pool3d.default", AdaptiveMax<3>, kMoves},
    {"aten.avg_pool1d.default", Average<1>},
    {"aten.avg_pool2d.default", Average<2>},
    {"aten.avg_pool3d.default", Average<3>, kSums},
    {"aten.im2col.default", Im2Col, kMoves},
    {"aten.max_pool1d.default", Max<1>, kMoves},
    {"aten.max_pool1d_with_indices.default", Max<1>, kMoves},
    {"aten.max_pool2d.default", Max<2>, kMoves},
    {"aten.max_pool2d_with_indices.default", Max<2>, kMoves},
    {"aten.max_pool3d.default", Max<3>, kMoves},
    {"aten.max_pool3d_with_indices.default", Max<3>, kMoves},
};

}  // namespace

std::span<const FormulaRow> PoolFormulas() { return kRows; }

}  // namespace tare
