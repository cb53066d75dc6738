#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"
#include "backends/tosa/window.h"

namespace tare {
namespace {

struct PoolRow {
  std::string_view aten;
  size_t axes;  // spatial ones
  bool average, adaptive;
  bool plain = true;  // of plain tensors too, which else a formula takes
};

constexpr PoolRow kRows[] = {
    {"aten._adaptive_avg_pool2d.default", 2, true, true},
    {"aten.adaptive_avg_pool1d.default", 1, true, true, false},
    {"aten.adaptive_avg_pool2d.default", 2, true, true},
    {"aten.adaptive_max_pool1d.default", 1, false, true, false},
    {"aten.adaptive_max_pool2d.default", 2, false, true, false},
    {"aten.avg_pool1d.default", 1, true, false},
    {"aten.avg_pool2d.default", 2, true, false},
    {"aten.max_pool1d.default", 1, false, false},
    {"aten.max_pool2d.default", 2, false, false},
    {"aten.max_pool2d_with_indices.default", 2, false, false},
};

// A pooling over the last one or two axes. Lists hold one value per spatial axis.
struct Pool {
  Node x;
  Node result;  // the node, or element 0 of its tuple
  bool average = false, counts_padding = false;
  bool uneven = false;  // adaptive with windows that no stride gives
  std::vector<int64_t> in, out, kernel, stride, before, dilation;
  int64_t divisor = 0;  // 0 = the elements that count
};

// Writes pooling as AVG_POOL2D or MAX_POOL2D between transpositions to channels last and back.
//
// One spatial axis is written as two, three dims as four. Padding that counts in the mean becomes a PAD with the zero
// point. Adaptive pooling is pooling when windows do not overlap unevenly; else, of quantised values, each window is
// pooled by itself. Dilated maxima stay.
class LowerPool final : public TosaTableRewrite<PoolRow> {
 public:
  explicit LowerPool(const Context& context) : TosaTableRewrite("lower-pool", context) {
    for (const PoolRow& row : kRows) Add(context.ops.Find(row.aten), row);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const PoolRow& row = RowOf(node);
    const std::optional<Pool> pool = Read(node, row);
    if (!pool.has_value()) return absl::OkStatus();
    const Node arguments[] = {pool->x};
    const std::optional<Site> site = SiteOf(qdq_, rw, pool->result, arguments);
    if (!site.has_value() || (site->quantised && !site->inputs[0].q->per_tensor())) return absl::OkStatus();
    if (!site->quantised && (pool->uneven || !row.plain)) return absl::OkStatus();
    Emitter emit(rw, ops_, pool->result);
    Lower(emit, *pool, *site);
    return emit.Finish();
  }

 private:
  static std::optional<Pool> Read(Node node, const PoolRow& row) {
    Pool p{node.arg("self"), FirstResult(node)};
    if (!p.x.has_value() || !p.x.is_tensor()) return std::nullopt;
    if (!p.result.has_value()) return std::nullopt;
    const auto in = StaticShape(p.x.tensor()), out = StaticShape(p.result.tensor());
    if (!in.has_value() || !out.has_value() || in->size() != out->size()) return std::nullopt;
    const size_t axes = row.axes;
    if (in->size() < axes + 1 || in->size() > axes + 2) return std::nullopt;
    p.in.assign(in->end() - static_cast<ptrdiff_t>(axes), in->end());
    p.out.assign(out->end() - static_cast<ptrdiff_t>(axes), out->end());
    p.average = row.average;
    if (row.adaptive) return Adaptive(p);
    const auto kernel = PerAxis(node, "kernel_size", axes, 1), before = PerAxis(node, "padding", axes, 0),
               dilation = PerAxis(node, "dilation", axes, 1);
    if (!kernel.has_value() || !before.has_value() || !dilation.has_value()) return std::nullopt;
    p.kernel = *kernel;
    p.before = *before;
    p.dilation = *dilation;
    const std::vector<int64_t> stride = node.ints("stride");
    p.stride = stride.empty() ? p.kernel : stride.size() == 1 ? std::vector<int64_t>(axes, stride[0]) : stride;
    if (p.stride.size() != axes) return std::nullopt;
    for (const int64_t value : p.dilation)
      if (value != 1) return std::nullopt;
    p.counts_padding = node.flag("count_include_pad").value_or(false);
    p.divisor = node.integer("divisor_override").value_or(0);
    return p;
  }

  // Window i begins at floor(i * in / out) and ends at ceil((i + 1) * in / out): evenly spaced when the rest is 0 or 1.
  static std::optional<Pool> Adaptive(Pool p) {
    constexpr int64_t kMaxWindows = 64;  // an axis: as many operands as CONCAT has
    for (size_t i = 0; i < p.in.size(); ++i) {
      if (p.out[i] < 1 || p.in[i] < 1) return std::nullopt;
      if (!IsEven(p.in[i], p.out[i])) {
        if (p.out[i] > kMaxWindows) return std::nullopt;
        p.uneven = true;
      }
      const int64_t rest = p.in[i] % p.out[i];
      p.stride.push_back(p.in[i] / p.out[i]);
      p.kernel.push_back(p.in[i] / p.out[i] + rest);
      p.before.push_back(0);
      p.dilation.push_back(1);
    }
    return p;
  }
  static bool IsEven(int64_t in, int64_t out) { return in >= out && in % out <= 1; }

  // Part of an axis that one pool takes.
  struct Stretch {
    int64_t first, size, kernel, stride;
  };
  static std::vector<Stretch> StretchesOf(int64_t in, int64_t out) {
    if (IsEven(in, out)) return {{0, in, in / out + in % out, in / out}};
    std::vector<Stretch> windows;
    for (int64_t i = 0; i < out; ++i) {
      const int64_t first = i * in / out, size = ((i + 1) * in + out - 1) / out - first;
      windows.push_back({first, size, size, 1});
    }
    return windows;
  }

  // Each window of `x`, [N, H, W, C], by itself, joined again.
  Node Windows(Emitter& emit, Node x, const Pool& p, const Site& site) const {
    const std::vector<int64_t> shape = emit.ShapeOf(x);
    std::vector<Node> rows;
    for (const Stretch& row : StretchesOf(p.in[0], p.out[0])) {
      std::vector<Node> parts;
      for (const Stretch& column : StretchesOf(p.in[1], p.out[1])) {
        if (!emit.ok()) return Node();
        const Node part = emit.Slice(x, std::vector<int64_t>{0, row.first, column.first, 0},
                                     std::vector<int64_t>{shape[0], row.size, column.size, shape[3]});
        Pool one = p;
        one.kernel = {row.kernel, column.kernel};
        one.stride = {row.stride, column.stride};
        parts.push_back(One(emit, part, one, {0, 0, 0, 0}, site));
      }
      rows.push_back(emit.Concat(parts, 2));
    }
    return emit.Concat(rows, 1);
  }

  // One AVG_POOL2D or MAX_POOL2D.
  Node One(Emitter& emit, Node x, const Pool& p, const std::vector<int64_t>& pads, const Site& site) const {
    if (!emit.ok()) return Node();
    if (!p.average)
      return emit.Insert(ops_.max_pool2d, {{"input", x}, {"kernel", p.kernel}, {"stride", p.stride}, {"pad", pads}});
    const DType dtype = x.tensor().dtype;
    // Any zero point common to input and output gives the same mean, but ties go away from it. ExecuTorch takes the
    // code that stands for the number `zero_point`; with it results agree bit for bit.
    const int64_t common =
        site.quantised ? QuantizeOne(*site.inputs[0].q, static_cast<double>(site.inputs[0].q->zero_point())) : 0;
    const Node zp = emit.Scalar("zero_point", dtype, 1, static_cast<double>(common));
    const DType acc = IsFloating(dtype) ? DType::kF32 : DType::kI32;
    return emit.Insert(ops_.avg_pool2d, {{"input", x},
                                         {"input_zp", zp},
                                         {"output_zp", zp},
                                         {"kernel", p.kernel},
                                         {"stride", p.stride},
                                         {"pad", pads},
                                         {"acc_type", AttrValue::OfDType(acc)}});
  }

  void Lower(Emitter& emit, Pool p, const Site& site) const {
    const std::vector<int64_t> out_shape = emit.ShapeOf(p.result);
    std::vector<int64_t> shape = emit.ShapeOf(site.inputs[0].value);
    if (!emit.ok()) return;
    const bool batched = shape.size() == p.in.size() + 2;
    if (!batched) shape.insert(shape.begin(), 1);
    if (p.in.size() == 1) {
      shape.insert(shape.begin() + 2, 1);
      for (std::vector<int64_t>* list : {&p.in, &p.out, &p.kernel, &p.stride, &p.dilation})
        list->insert(list->begin(), 1);
      p.before.insert(p.before.begin(), 0);
    }
    Node x = emit.Transpose(emit.Reshape(site.inputs[0].value, shape), ToChannelsLast(4));
    if (p.uneven) {
      const Node pooled = emit.Reshape(emit.Transpose(Windows(emit, x, p, site), ToChannelsFirst(4)), out_shape);
      if (emit.ok()) FinishMoved(emit, site, pooled);
      return;
    }
    std::vector<WindowAxis> axes;
    for (size_t i = 0; i < 2; ++i)
      axes.push_back(FitWindow(p.in[i], p.out[i], p.kernel[i], p.stride[i], 1, p.before[i]));
    x = CropWindow(emit, x, 1, axes);
    if (!emit.ok()) return;
    const int64_t zero_point = site.quantised ? site.inputs[0].q->zero_point() : 0;
    if (p.average && p.counts_padding && p.divisor == 0) x = PadCounted(emit, x, p, axes, zero_point);
    if (p.average && p.divisor != 0) {
      for (const WindowAxis& axis : axes)
        if (axis.before != 0 || axis.after != 0)
          return emit.Refuse("tosa_lower_c6", "a divisor of its own with padding");
      if (p.divisor != p.kernel[0] * p.kernel[1]) return emit.Refuse("tosa_lower_c6", "a divisor of its own");
    }
    Node pooled = One(emit, x, p, PadsOf(axes), site);
    pooled = emit.Reshape(emit.Transpose(pooled, ToChannelsFirst(4)), out_shape);
    if (emit.ok()) FinishMoved(emit, site, pooled);
  }

  // The part of the padding that counts becomes elements. In ceil mode the rest never counts.
  Node PadCounted(Emitter& emit, Node x, const Pool& p, std::vector<WindowAxis>& axes, int64_t zero_point) const {
    std::vector<int64_t> padding = {0, 0};
    bool any = false;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t after = std::min(axes[i].after, p.before[i]);
      padding.push_back(axes[i].before);
      padding.push_back(after);
      any = any || axes[i].before != 0 || after != 0;
      axes[i].before = 0;
      axes[i].after -= after;
    }
    padding.insert(padding.end(), {0, 0});
    if (!any) return x;
    const bool floats = IsFloating(x.tensor().dtype);
    const AttrValue value = floats ? AttrValue::Float(0) : AttrValue::Int(zero_point);
    return emit.Insert(ops_.pad, {{"input1", x}, {"padding", padding}, {"value", value}});
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerPool(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerPool>(context, options);
}

}  // namespace tare
