#include <algorithm>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

struct ReduceRow {
  std::string_view aten, tosa;
  bool sums = false;  // integers need a rescale to int32 and back
};

constexpr ReduceRow kRows[] = {
    {"aten.amax.default", "REDUCE_MAX"},
    {"aten.amin.default", "REDUCE_MIN"},
    {"aten.any.default", "REDUCE_ANY"},
    {"aten.any.dim", "REDUCE_ANY"},
    {"aten.any.dims", "REDUCE_ANY"},
    {"aten.all.default", "REDUCE_ALL"},
    {"aten.all.dim", "REDUCE_ALL"},
    {"aten.prod.default", "REDUCE_PRODUCT"},
    {"aten.prod.dim_int", "REDUCE_PRODUCT"},
    {"aten.sum.default", "REDUCE_SUM", true},
    {"aten.sum.dim_IntList", "REDUCE_SUM", true},
};

struct ReduceLowering {
  Op op;
  bool sums;
};

// Writes a reduction as one REDUCE_* per axis of more than one element, then a reshape when axes go away.
//
//   %q = quantize(sum(dequantize(%x), [1, 2]))  =>  rescale(REDUCE_SUM(REDUCE_SUM(rescale(%x))))
class LowerReduce final : public TosaTableRewrite<ReduceLowering> {
 public:
  explicit LowerReduce(const Context& context) : TosaTableRewrite("lower-reduce", context) {
    for (const ReduceRow& row : kRows) {
      const Op from = context.ops.Find(row.aten), to = TosaOps::Find(context, row.tosa);
      if (to.has_value()) Add(from, {to, row.sums});
    }
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const auto& [op, sums] = RowOf(node);
    const Node x = node.arg("self");
    if (!x.has_value() || !x.is_tensor() || !node.is_tensor() || x.tensor().dtype != node.tensor().dtype)
      return absl::OkStatus();
    const auto shape = StaticShape(x.tensor());
    if (!shape.has_value()) return absl::OkStatus();
    // Without dims, 0 and -1 name the only element.
    std::vector<int64_t> axes = shape->empty() ? std::vector<int64_t>() : node.ints("dim");
    if (axes.empty())
      for (size_t i = 0; i < shape->size(); ++i) axes.push_back(static_cast<int64_t>(i));
    for (int64_t& axis : axes)
      if (axis < 0) axis += static_cast<int64_t>(shape->size());
    std::sort(axes.begin(), axes.end());
    const Node arguments[] = {x};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || (site->quantised && !site->inputs[0].q->per_tensor())) return absl::OkStatus();

    Emitter emit(rw, ops_, node);
    const std::vector<int64_t> out = emit.ShapeOf(node);
    Node value = site->inputs[0].value;
    const bool rescales = site->quantised && sums;
    if (rescales)
      value = emit.Rescale(value, DType::kI32, std::vector<double>{1.0}, site->inputs[0].q->zero_point(), 0);
    for (const int64_t axis : axes)
      if ((*shape)[axis] != 1) value = emit.Insert(op, {{"input", value}, {"axis", axis}});
    if (!rescales) {
      value = emit.Reshape(value, out);
      if (emit.ok()) FinishMoved(emit, *site, value);
      return emit.Finish();
    }
    FinishRescaled(
        emit, *site, value,
        [&](const Affine& to) { return std::vector<double>{site->inputs[0].q->scale() / to.scale()}; },
        [&](Node result) { return emit.Reshape(result, out); });
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerReduce(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerReduce>(context, options);
}

}  // namespace tare
