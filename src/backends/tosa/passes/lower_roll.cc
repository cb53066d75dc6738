#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kRolls[] = {"aten.roll.default"};

// Writes a roll as two slices that change places, once for each dim.
//
//   roll(%x : f32[8], [3])  =>  CONCAT([SLICE(%x, [5], [3]), SLICE(%x, [0], [5])])
//
// Without dims the tensor is rolled as one row.
class LowerRoll final : public TosaRewrite {
 public:
  explicit LowerRoll(const Context& context) : TosaRewrite("lower-roll", context, FindOps(context, kRolls)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("self");
    if (!x.has_value() || !x.is_tensor() || !node.has_constant_ints("shifts")) return absl::OkStatus();
    const std::vector<int64_t> shifts = node.ints("shifts");
    std::vector<int64_t> dims = node.ints("dims");
    const Node arguments[] = {x};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || (site->quantised && !site->inputs[0].q->per_tensor())) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    Node value = site->inputs[0].value;
    const std::vector<int64_t> out = emit.ShapeOf(node);
    const std::optional<int64_t> count = ElementCount(x.tensor());
    if (!emit.ok() || !count.has_value() || *count == 0) return absl::OkStatus();
    if (dims.empty()) {
      dims = {0};
      value = emit.Reshape(value, std::vector<int64_t>{*count});
    }
    if (dims.size() != shifts.size()) return absl::OkStatus();
    for (size_t i = 0; i < dims.size(); ++i) value = Roll(emit, value, dims[i], shifts[i]);
    value = emit.Reshape(value, out);
    if (emit.ok()) FinishMoved(emit, *site, value);
    return emit.Finish();
  }

 private:
  Node Roll(Emitter& emit, Node x, int64_t dim, int64_t shift) const {
    const std::vector<int64_t> shape = emit.ShapeOf(x);
    if (!emit.ok()) return Node();
    const size_t axis = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim);
    const int64_t extent = shape[axis], first = ((shift % extent) + extent) % extent;
    if (first == 0) return x;
    std::vector<int64_t> start(shape.size(), 0), size = shape;
    start[axis] = extent - first;
    size[axis] = first;
    const Node end = emit.Slice(x, start, size);
    start[axis] = 0;
    size[axis] = extent - first;
    return emit.Concat({end, emit.Slice(x, start, size)}, static_cast<int64_t>(axis));
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerRoll(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerRoll>(context, options);
}

}  // namespace tare
