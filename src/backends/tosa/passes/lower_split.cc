#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kSplits[] = {
    "aten.chunk.default",
    "aten.split.Tensor",
    "aten.split.sizes",
    "aten.split_copy.Tensor",
    "aten.split_with_sizes.default",
    "aten.split_with_sizes_copy.default",
    "aten.tensor_split.sections",
    "aten.unbind.int",
    "aten.unbind_copy.int",
    "aten.unsafe_split.Tensor",
};

// Writes each part of a split as SLICE; extents come from the metadata of the parts.
//
//   %t = split(%x, 2); %a = getitem(%t, 0); %b = getitem(%t, 1)  =>  %a = SLICE(%x, …); %b = SLICE(%x, …)
//
// The parts of unbind lose the dim.
class LowerSplit final : public TosaRewrite {
 public:
  explicit LowerSplit(const Context& context) : TosaRewrite("lower-split", context, FindOps(context, kSplits)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("self");
    if (!x.has_value() || !x.is_tensor() || node.is_tensor()) return absl::OkStatus();
    const Meta& meta = rw.context().metas.Get(node.meta());
    const auto shape = StaticShape(x.tensor());
    if (!shape.has_value() || shape->empty()) return absl::OkStatus();
    int64_t dim = node.integer("dim").value_or(0);
    if (dim < 0) dim += static_cast<int64_t>(shape->size());
    if (dim < 0 || dim >= static_cast<int64_t>(shape->size())) return absl::OkStatus();
    std::vector<int64_t> extents, offsets;
    int64_t offset = 0;
    for (const MetaId item : meta.items) {
      const Meta& part = rw.context().metas.Get(item);
      if (part.kind != MetaKind::kTensor) return absl::OkStatus();
      const auto part_shape = StaticShape(part.tensor);
      if (!part_shape.has_value()) return absl::OkStatus();
      const bool keeps = part_shape->size() == shape->size();
      extents.push_back(keeps ? (*part_shape)[dim] : 1);
      offsets.push_back(offset);
      offset += extents.back();
    }
    for (const Node part : node.users()) {
      const std::optional<int64_t> index = part.integer("index");
      if (part.op() != op::getitem || !index.has_value() || *index < 0 ||
          *index >= static_cast<int64_t>(extents.size()) || rw.StorageOf(part).mutated)
        return absl::OkStatus();
    }
    for (const Node part : node.users()) {
      const int64_t index = *part.integer("index");
      const Node arguments[] = {x};
      const std::optional<Site> site = SiteOf(qdq_, rw, part, arguments);
      if (!site.has_value()) continue;
      Emitter emit(rw, ops_, part);
      std::vector<int64_t> start(shape->size(), 0), size = *shape;
      start[dim] = offsets[index];
      size[dim] = extents[index];
      const Node slice = emit.Reshape(emit.Slice(site->inputs[0].value, start, size), emit.ShapeOf(part));
      if (emit.ok()) FinishMoved(emit, *site, slice);
      TARE_RETURN_IF_ERROR(emit.Finish());
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerSplit(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerSplit>(context, options);
}

}  // namespace tare
