#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

// How integers behind a quantisation are reduced.
enum class Codes {
  kPick,  // the result is one of them
  kSum,   // in int32, then rescaled
  kMean,  // as kSum; plain tensors are left to formulas
};

struct ReduceRow {
  std::string_view aten, tosa;
  Codes codes = Codes::kPick;
};

constexpr ReduceRow kRows[] = {
    {"aten.amax.default", "REDUCE_MAX"},
    {"aten.amin.default", "REDUCE_MIN"},
    {"aten.any.default", "REDUCE_ANY"},
    {"aten.any.dim", "REDUCE_ANY"},
    {"aten.any.dims", "REDUCE_ANY"},
    {"aten.all.default", "REDUCE_ALL"},
    {"aten.all.dim", "REDUCE_ALL"},
    {"aten.mean.default", "REDUCE_SUM", Codes::kMean},
    {"aten.mean.dim", "REDUCE_SUM", Codes::kMean},
    {"aten.prod.default", "REDUCE_PRODUCT"},
    {"aten.prod.dim_int", "REDUCE_PRODUCT"},
    {"aten.sum.default", "REDUCE_SUM", Codes::kSum},
    {"aten.sum.dim_IntList", "REDUCE_SUM", Codes::kSum},
};

struct ReduceLowering {
  Op op;
  Codes codes;
};

// Writes a reduction as one REDUCE_* per axis of more than one element, then a reshape when axes go away.
//
//   %q = quantize(sum(dequantize(%x), [1, 2]))  =>  rescale(REDUCE_SUM(REDUCE_SUM(rescale(%x))))
//
// A mean is rounded to the integers of its operand before it gets those of the result, as ExecuTorch rounds it: there
// the sum has a quantisation of its own, N times as coarse.
class LowerReduce final : public TosaTableRewrite<ReduceLowering> {
 public:
  explicit LowerReduce(const Context& context) : TosaTableRewrite("lower-reduce", context) {
    for (const ReduceRow& row : kRows) {
      const Op from = context.ops.Find(row.aten), to = TosaOps::Find(context, row.tosa);
      if (to.has_value()) Add(from, {to, row.codes});
    }
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const auto& [op, codes] = RowOf(node);
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
    if (!site->quantised && codes == Codes::kMean) return absl::OkStatus();

    Emitter emit(rw, ops_, node);
    const std::vector<int64_t> out = emit.ShapeOf(node);
    Node value = site->inputs[0].value;
    const bool rescales = site->quantised && codes != Codes::kPick;
    int64_t count = 1;
    for (const int64_t axis : axes) count *= (*shape)[axis];
    if (rescales) {
      const Affine& q = *site->inputs[0].q;
      // A code may be any that its dtype holds, whatever range the quantisation states.
      const auto [low, high] = RangeOf(q.storage);
      const double most = std::max(std::abs(static_cast<double>(high) - static_cast<double>(q.zero_point())),
                                   std::abs(static_cast<double>(low) - static_cast<double>(q.zero_point())));
      if (static_cast<double>(count) * most > static_cast<double>(INT32_MAX))
        emit.Refuse("tosa_lower_c15", "the sum may leave 32 bits");
      if (codes == Codes::kMean && count == 0) emit.Refuse("tosa_lower_c16", "a mean of nothing");
      value = emit.Rescale(value, DType::kI32, std::vector<double>{1.0}, q.zero_point(), 0);
    }
    for (const int64_t axis : axes)
      if ((*shape)[axis] != 1) value = emit.Insert(op, {{"input", value}, {"axis", axis}});
    if (rescales) {
      const double divisor = codes == Codes::kMean ? static_cast<double>(count) : 1;
      FinishRescaled(
          emit, *site, value,
          [&](const Affine& to) { return std::vector<double>{site->inputs[0].q->scale() / divisor / to.scale()}; },
          [&](Node result) { return emit.Reshape(result, out); });
      return emit.Finish();
    }
    value = emit.Reshape(value, out);
    if (emit.ok()) FinishMoved(emit, *site, value);
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerReduce(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerReduce>(context, options);
}

}  // namespace tare
