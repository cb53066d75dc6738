#include <algorithm>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"
#include "backends/tosa/window.h"

namespace tare {
namespace {

constexpr std::string_view kConvolutions[] = {
    "aten.conv1d.default",           "aten.conv1d.padding",         "aten.conv2d.default",
    "aten.conv2d.padding",           "aten.conv3d.default",         "aten.conv3d.padding",
    "aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input",
    "aten.convolution.default",      "aten._convolution.default",   "aten._convolution.deprecated",
};

// A convolution whatever it is called. Lists hold one value per spatial axis.
struct Convolution {
  Node x, weight, bias;
  std::vector<int64_t> in, out, kernel;  // x: [N, C, in…], weight: [O, C/groups, kernel…] or [C, O/groups, kernel…]
  std::vector<int64_t> stride, before, dilation, output_padding;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  bool transposed = false;
  size_t axes() const { return kernel.size(); }
};

std::optional<Convolution> ReadConvolution(Node node) {
  Convolution c{node.arg("input"), node.arg("weight"), node.arg("bias")};
  if (!c.x.has_value() || !c.weight.has_value() || !c.x.is_tensor() || !c.weight.is_tensor()) return std::nullopt;
  const auto x = StaticShape(c.x.tensor()), weight = StaticShape(c.weight.tensor()), out = StaticShape(node.tensor());
  if (!x.has_value() || !weight.has_value() || !out.has_value()) return std::nullopt;
  if (x->size() < 3 || x->size() > 5 || weight->size() != x->size() || out->size() != x->size()) return std::nullopt;
  c.in.assign(x->begin() + 2, x->end());
  c.out.assign(out->begin() + 2, out->end());
  c.kernel.assign(weight->begin() + 2, weight->end());
  c.batch = (*x)[0];
  c.in_channels = (*x)[1];
  c.out_channels = (*out)[1];
  const size_t axes = c.axes();
  const auto stride = PerAxis(node, "stride", axes, 1), dilation = PerAxis(node, "dilation", axes, 1),
             output_padding = PerAxis(node, "output_padding", axes, 0);
  if (!stride.has_value() || !dilation.has_value() || !output_padding.has_value()) return std::nullopt;
  c.stride = *stride;
  c.dilation = *dilation;
  c.output_padding = *output_padding;
  const AttrValue& padding = node.attr("padding");
  if (padding.kind == AttrKind::kString) {
    for (size_t i = 0; i < axes; ++i)
      c.before.push_back(padding.text() == "same" ? c.dilation[i] * (c.kernel[i] - 1) / 2 : 0);
  } else {
    const auto before = PerAxis(node, "padding", axes, 0);
    if (!before.has_value()) return std::nullopt;
    c.before = *before;
  }
  c.groups = node.integer("groups").value_or(1);
  c.transposed = node.flag("transposed").value_or(node.attr("output_padding").kind != AttrKind::kNone);
  if (c.groups < 1 || c.in_channels % c.groups != 0 || c.out_channels % c.groups != 0) return std::nullopt;
  return c;
}

// Factors from the accumulator to the integers of `to`: in * weight / out, one per channel when the weight has so.
std::vector<double> ScalesTo(const Affine& in, const Affine& weight, const Affine& to) {
  std::vector<double> scales;
  for (const double scale : weight.scales) scales.push_back(in.scale() * scale / to.scale());
  return scales;
}

// Writes a convolution as CONV2D, CONV3D, DEPTHWISE_CONV2D or TRANSPOSE_CONV2D in channels-last order.
//
//   %f = dequantize(%x); %w = dequantize(%weight); %y = conv2d(%f, %w, %b); %q = quantize(%y)
//     =>  transpose(rescale(CONV2D(transpose(%x), reorder(%weight), %bias)))
//
// One spatial axis is written as two, the first of extent 1. Groups that are not depthwise become one convolution
// each. Padding that no window reaches is trimmed, surplus input is cut off. A missing bias is zeros.
class LowerConvolution final : public TosaRewrite {
 public:
  explicit LowerConvolution(const Context& context)
      : TosaRewrite("lower-convolution", context, FindOps(context, kConvolutions)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    std::optional<Convolution> c = ReadConvolution(node);
    if (!c.has_value()) return absl::OkStatus();
    const Node arguments[] = {c->x, c->weight, c->bias};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments, SiteReach::kActivation);
    if (!site.has_value()) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    if (site->quantised) CheckFits(emit, *c, *site);
    if (emit.ok()) Lower(emit, *c, *site, node);
    return emit.Finish();
  }

 private:
  // Parameters of the input and the result hold for the tensor, those of the weight may be of its output channels.
  static void CheckFits(Emitter& emit, const Convolution& c, const Site& site) {
    const SiteInput &x = site.inputs[0], &weight = site.inputs[1], &bias = site.inputs[2];
    const auto refuse = [&](std::string_view why) { emit.Refuse("tosa_lower_c3", why); };
    if (!x.q.has_value() || !weight.q.has_value() || !site.outputs[0].q.has_value())
      return refuse("input, weight and result of a convolution of integers are quantised all");
    if (!x.q->per_tensor()) return refuse("the input of a convolution is quantised per tensor");
    if (bias.value.has_value() && bias.value.tensor().dtype != DType::kI32)
      return refuse("the bias beside quantised values is no i32");
    if (weight.q->per_tensor()) return;
    if (c.transposed && c.groups > 1)
      return refuse("groups of a transposed convolution whose weight has a scale per channel");
    const auto channels = static_cast<int64_t>(weight.q->scales.size());
    if (weight.q->axis != (c.transposed ? 1 : 0) || channels != c.out_channels)
      return refuse("the weight has scales of another axis than that of its output channels");
  }

  bool IsDepthwise(const Convolution& c) const { return !c.transposed && c.axes() <= 2 && c.in_channels == c.groups; }

  // [N, C, L] -> [N, 1, L, C]; others -> channels last.
  Node ToLast(Emitter& emit, const Convolution& c, Node x) const {
    const Node last = emit.Transpose(x, ToChannelsLast(c.axes() + 2));
    if (c.axes() != 1 || !emit.ok()) return last;
    std::vector<int64_t> shape = emit.ShapeOf(last);
    if (emit.ok()) shape.insert(shape.begin() + 1, 1);
    return emit.Reshape(last, shape);
  }
  Node FromLast(Emitter& emit, const Convolution& c, Node y) const {
    if (!emit.ok()) return Node();
    if (c.axes() == 1) {
      std::vector<int64_t> shape = emit.ShapeOf(y);
      if (!emit.ok()) return Node();
      shape.erase(shape.begin() + 1);
      y = emit.Reshape(y, shape);
    }
    return emit.Transpose(y, ToChannelsFirst(c.axes() + 2));
  }

  // The weight as [O, K…, C/groups], or [KH, KW, C, M] for depthwise; two axes at least.
  Node Weight(Emitter& emit, const Convolution& c, Node weight) const {
    if (c.axes() == 1) {
      std::vector<int64_t> shape = emit.ShapeOf(weight);
      if (emit.ok()) shape.insert(shape.begin() + 2, 1);
      weight = emit.Reshape(weight, shape);
    }
    if (c.transposed)
      return emit.Transpose(weight,
                            c.axes() == 3 ? std::vector<int64_t>{1, 2, 3, 4, 0} : std::vector<int64_t>{1, 2, 3, 0});
    if (!IsDepthwise(c)) return emit.Transpose(weight, ToChannelsLast(std::max<size_t>(c.axes(), 2) + 2));
    const Node turned = emit.Transpose(weight, std::vector<int64_t>{2, 3, 0, 1});
    std::vector<int64_t> shape = emit.ShapeOf(turned);
    if (!emit.ok()) return Node();
    shape[2] = c.in_channels;
    shape[3] = c.out_channels / c.in_channels;
    return emit.Reshape(turned, shape);
  }

  // One convolution without groups, or depthwise, on channels-last tensors.
  Node Convolve(Emitter& emit, Convolution c, Node x, Node weight, Node bias) const {
    if (c.axes() == 1) {
      for (std::vector<int64_t>* list : {&c.in, &c.out, &c.kernel, &c.stride, &c.dilation})
        list->insert(list->begin(), 1);
      for (std::vector<int64_t>* list : {&c.before, &c.output_padding}) list->insert(list->begin(), 0);
    }
    if (c.transposed) {
      for (size_t i = 0; i < c.axes() && emit.ok(); ++i) weight = Spread(emit, weight, 1 + i, c.dilation[i]);
      for (size_t i = 0; i < c.axes(); ++i) c.kernel[i] = (c.kernel[i] - 1) * c.dilation[i] + 1;
      return c.axes() == 3 ? ConvolveSpread(emit, c, x, weight, bias) : Transposed(emit, c, x, weight, bias);
    }
    std::vector<WindowAxis> axes;
    for (size_t i = 0; i < c.axes(); ++i)
      axes.push_back(FitWindow(c.in[i], c.out[i], c.kernel[i], c.stride[i], c.dilation[i], c.before[i]));
    x = CropWindow(emit, x, 1, axes);
    const bool depthwise = IsDepthwise(c);
    const Op op = depthwise ? ops_.depthwise_conv2d : c.axes() == 3 ? ops_.conv3d : ops_.conv2d;
    // The dialect spells it so.
    const std::string_view dilation = depthwise ? "dialation" : "dilation";
    return emit.Insert(op, {{"input", x},
                            {"weight", weight},
                            {"bias", bias},
                            {"stride", c.stride},
                            {"pad", PadsOf(axes)},
                            {dilation, c.dilation}});
  }

  // TRANSPOSE_CONV2D takes less than the kernel off each end; the rest is cut off.
  Node Transposed(Emitter& emit, const Convolution& c, Node x, Node weight, Node bias) const {
    std::vector<int64_t> out_pad, start = {0, 0, 0, 0}, size = {c.batch, c.out[0], c.out[1], c.out_channels};
    for (size_t i = 0; i < 2; ++i) {
      const int64_t ends[] = {-c.before[i], c.output_padding[i] - c.before[i]};
      for (const int64_t end : ends) out_pad.push_back(std::max(end, 1 - c.kernel[i]));
      start[1 + i] = out_pad[2 * i] - ends[0];
    }
    const Node made =
        emit.Insert(ops_.transpose_conv2d,
                    {{"input", x}, {"weight", weight}, {"bias", bias}, {"out_pad", out_pad}, {"stride", c.stride}});
    return emit.Slice(made, start, size);
  }

  // `x` with step - 1 zeros between the elements of `axis`.
  Node Spread(Emitter& emit, Node x, size_t axis, int64_t step) const {
    std::vector<int64_t> shape = emit.ShapeOf(x);
    if (!emit.ok() || step == 1 || shape[axis] == 1) return x;
    const int64_t extent = shape[axis];
    // Dims before the axis and those behind it are one each: TOSA has no more than six.
    int64_t before = 1, after = 1;
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != axis) (i < axis ? before : after) *= shape[i];
    x = emit.Reshape(x, std::vector<int64_t>{before, extent, 1, after});
    if (!emit.ok()) return Node();
    const AttrValue zero = IsFloating(x.tensor().dtype) ? AttrValue::Float(0) : AttrValue::Int(0);
    x = emit.Insert(ops_.pad,
                    {{"input1", x}, {"padding", std::vector<int64_t>{0, 0, 0, 0, 0, step - 1, 0, 0}}, {"value", zero}});
    x = emit.Reshape(x, std::vector<int64_t>{before, extent * step, after});
    shape[axis] = extent * step - (step - 1);
    x = emit.Slice(x, std::vector<int64_t>{0, 0, 0}, std::vector<int64_t>{before, shape[axis], after});
    return emit.Reshape(x, shape);
  }

  // Three axes: a convolution of the spread input with the reversed kernel.
  Node ConvolveSpread(Emitter& emit, const Convolution& c, Node x, Node weight, Node bias) const {
    std::vector<int64_t> pad, start(5, 0), size;
    for (size_t i = 0; i < 3; ++i) {
      x = Spread(emit, x, 1 + i, c.stride[i]);
      if (!emit.ok()) return Node();
      weight = emit.Insert(ops_.reverse, {{"input1", weight}, {"axis", static_cast<int64_t>(1 + i)}});
      const int64_t ends[] = {c.kernel[i] - 1 - c.before[i], c.kernel[i] - 1 - c.before[i] + c.output_padding[i]};
      for (const int64_t end : ends) pad.push_back(std::max<int64_t>(end, 0));
      start[1 + i] = std::max<int64_t>(-ends[0], 0);
    }
    const Node made = emit.Insert(ops_.conv3d, {{"input", x},
                                                {"weight", weight},
                                                {"bias", bias},
                                                {"stride", std::vector<int64_t>{1, 1, 1}},
                                                {"pad", pad},
                                                {"dilation", std::vector<int64_t>{1, 1, 1}}});
    size = {c.batch, c.out[0], c.out[1], c.out[2], c.out_channels};
    return emit.Slice(made, start, size);
  }

  // Channels [first, first + count) of `axis`.
  static Node Part(Emitter& emit, Node x, size_t axis, int64_t first, int64_t count) {
    std::vector<int64_t> size = emit.ShapeOf(x), start(size.size(), 0);
    if (!emit.ok()) return Node();
    start[axis] = first;
    size[axis] = count;
    return emit.Slice(x, start, size);
  }

  // The bias of some channels; of a constant a constant, since no operator moves 48 bits.
  static Node PartOfBias(Emitter& emit, Node bias, int64_t first, int64_t count) {
    if (!emit.ok()) return Node();
    const Constant* constant = bias.constant();
    if (constant == nullptr || bias.tensor().dtype != DType::kI48) return Part(emit, bias, 0, first, count);
    const std::optional<std::vector<int64_t>> all = ReadIntegers(emit.rewriter().context(), *constant);
    if (!all.has_value() || static_cast<int64_t>(all->size()) < first + count) {
      emit.Refuse("tosa_lower_c8", "a bias beside 16-bit values must be constant");
      return Node();
    }
    const int64_t shape[] = {count};
    return emit.Integers(constant->name, DType::kI48, shape, std::span(*all).subspan(first, count));
  }

  // The sums, of each group its own.
  std::vector<Node> Accumulate(Emitter& emit, const Convolution& c, const Site& site) const {
    const Node x = ToLast(emit, c, site.inputs[0].value),
               bias = BiasFor(emit, site, site.inputs[2], site.inputs[0].value, c.out_channels);
    const Affine* const quants[] = {site.quantised ? &*site.inputs[0].q : nullptr,
                                    site.quantised ? &*site.inputs[1].q : nullptr, nullptr};
    if (c.groups == 1 || IsDepthwise(c)) {
      const Node made = Convolve(emit, c, x, Weight(emit, c, site.inputs[1].value), bias);
      if (site.quantised) emit.Quantify(made, quants, nullptr);
      return {made};
    }
    std::vector<Node> parts;
    Convolution part = c;
    part.groups = 1;
    part.in_channels /= c.groups;
    part.out_channels /= c.groups;
    for (int64_t g = 0; g < c.groups && emit.ok(); ++g) {
      const size_t last = emit.ShapeOf(x).size() - 1;
      const Node weight = c.transposed ? Part(emit, site.inputs[1].value, 0, g * part.in_channels, part.in_channels)
                                       : Part(emit, site.inputs[1].value, 0, g * part.out_channels, part.out_channels);
      const Node own = Part(emit, x, last, g * part.in_channels, part.in_channels);
      const Node turned = Weight(emit, part, weight);
      const Node own_bias = PartOfBias(emit, bias, g * part.out_channels, part.out_channels);
      const Node made = Convolve(emit, part, own, turned, own_bias);
      if (site.quantised) emit.Quantify(made, quants, nullptr);
      parts.push_back(made);
    }
    return parts;
  }
  static Node Joined(Emitter& emit, const Convolution& c, const std::vector<Node>& parts) {
    return emit.Concat(parts, static_cast<int64_t>(std::max<size_t>(c.axes(), 2)) + 1);
  }

  // Each group is rescaled before they are joined: no operator joins sums of 48 bits, and accelerators rescale within
  // the convolution.
  void FinishApart(Emitter& emit, const Convolution& c, const Site& site, const std::vector<Node>& sums) const {
    for (const SiteOutput& output : site.outputs) {
      const std::vector<double> scales = ScalesTo(*site.inputs[0].q, *site.inputs[1].q, *output.q);
      const size_t each = scales.size() == 1 ? 1 : scales.size() / sums.size();
      std::vector<Node> parts;
      for (size_t g = 0; g < sums.size(); ++g) {
        const size_t first = scales.size() == 1 ? 0 : g * each;
        parts.push_back(emit.RescaleTo(sums[g], std::span(scales).subspan(first, each), 0, *output.q));
      }
      const Node joined = emit.Clamp(Joined(emit, c, parts), output.low, output.high);
      const Node value = FromLast(emit, c, joined);
      if (!emit.ok()) return;
      emit.Quantify(value, {}, &*output.q);
      emit.Replace(output.node, value);
    }
  }

  void Lower(Emitter& emit, const Convolution& c, const Site& site, Node node) const {
    if (site.quantised && c.transposed && c.axes() == 3)
      emit.Refuse("tosa_lower_c3", "a quantised transposed convolution has one or two spatial axes");
    const std::vector<Node> sums = Accumulate(emit, c, site);
    if (!emit.ok()) return;
    if (site.quantised && sums.size() > 1) return FinishApart(emit, c, site, sums);
    const Node sum = Joined(emit, c, sums);
    if (!emit.ok()) return;
    if (!site.quantised) {
      emit.Replace(node, FromLast(emit, c, sum));
      return;
    }
    FinishRescaled(
        emit, site, sum, [&](const Affine& to) { return ScalesTo(*site.inputs[0].q, *site.inputs[1].q, to); },
        [&](Node value) { return FromLast(emit, c, value); });
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerConvolution(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerConvolution>(context, options);
}

}  // namespace tare
