#include <algorithm>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/context.h"
#include "ir/status.h"
#include "passes/session.h"

namespace tare {
namespace {

constexpr std::string_view kStrided[] = {"aten.as_strided.default", "aten.as_strided_copy.default"};
// Ops whose result always shares the storage of their first operand.
constexpr std::string_view kViews[] = {
    "aten.alias.default",  "aten.as_strided.default", "aten.detach.default",  "aten.diagonal.default",
    "aten.expand.default", "aten.narrow.default",     "aten.permute.default", "aten.select.int",
    "aten.slice.Tensor",   "aten.squeeze.default",    "aten.squeeze.dim",     "aten.squeeze.dims",
    "aten.t.default",      "aten.transpose.int",      "aten.unfold.default",  "aten.unsqueeze.default",
    "aten.view.default",
};
constexpr int64_t kMaxElements = int64_t{1} << 24;
constexpr size_t kMaxViews = 1024;  // of one read: they are compared with each other

// What a strided view reads: the tensor that the storage was made for, its dims from the outermost in storage, and
// the place of each element in storage.
struct StridedRead {
  Node view, base;
  std::vector<int64_t> order;
  std::vector<int64_t> places;
};

// Writes as_strided as what it picks out of the tensor behind the views that it is given.
//
//   %s = slice(%x, start=1);  as_strided(%s, [2, 2], [8, 1], 0)
//     =>  view(index_select(view(%x, [24]), 0, [0, 1, 8, 9]), [2, 2])
//
// Where every element is read in order a permutation and a view are enough. Left is what reads storage that is
// written to, or of a tensor that is not dense. Runs while views are views: what reads through a view is rewritten with
// it.
class LowerStrides final : public RewritePass {
 public:
  explicit LowerStrides(const Context& context)
      : select_(context.ops.Find("aten.index_select.default")),
        view_(context.ops.Find("aten.view.default")),
        permute_(context.ops.Find("aten.permute.default")),
        clone_(context.ops.Find("aten.clone.default")) {
    for (const std::string_view name : kStrided)
      if (const Op op = context.ops.Find(name); op.has_value()) targets_.push_back(op);
    for (const std::string_view name : kViews)
      if (const Op op = context.ops.Find(name); op.has_value()) views_.push_back(op);
    if (targets_.empty() || !select_.has_value() || !view_.has_value() || !permute_.has_value()) targets_ = {Op{}};
  }
  std::string_view name() const override { return "lower-strides"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    if (!(rw.graph_id() == GraphId{0}) || !node.is_tensor()) return absl::OkStatus();  // bodies have no constants
    absl::StatusOr<StridedRead> own = Read(node, rw);
    if (!own.ok()) {
      rw.Refuse(node, own.status());
      return absl::OkStatus();
    }
    std::vector<StridedRead> reads = {*std::move(own)};
    // Views of this one, and what they are read as: each is known before any changes.
    std::vector<Node> views = {node};
    for (size_t i = 0; i < views.size() && views.size() <= kMaxViews; ++i)
      for (const Node user : views[i].users()) {
        const bool strided = std::find(targets_.begin(), targets_.end(), user.op()) != targets_.end();
        const bool view = std::find(views_.begin(), views_.end(), user.op()) != views_.end();
        if (!strided && !view) continue;
        if (view && std::find(views.begin(), views.end(), user) == views.end()) views.push_back(user);
        if (!strided || !user.is_tensor()) continue;
        absl::StatusOr<StridedRead> read = Read(user, rw);
        if (read.ok()) reads.push_back(*std::move(read));
      }
    if (views.size() > kMaxViews) {
      rw.Refuse(node, UnimplementedError("tosa_lower_c9", "strides of what has too many views"));
      return absl::OkStatus();
    }
    for (const StridedRead& read : reads) TARE_RETURN_IF_ERROR(Write(read, rw));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<StridedRead> Read(Node node, Rewriter& rw) const {
    const auto refuse = [](std::string_view why) { return UnimplementedError("tosa_lower_c9", why); };
    StridedRead read{node, node.arg("self"), {}, {}};
    if (!read.base.has_value() || !read.base.is_tensor()) return refuse("strides of no tensor");
    const Dim own_offset = read.base.tensor().offset;
    const DType dtype = read.base.tensor().dtype;
    while (std::find(views_.begin(), views_.end(), read.base.op()) != views_.end()) read.base = read.base.operand(0);
    if (!read.base.is_tensor() || read.base.tensor().dtype != dtype || rw.impl().MayAlias(read.base.op()) ||
        rw.StorageOf(node).mutated)
      return refuse("strides of storage that others have or change");
    const TensorMeta& base = read.base.tensor();
    const auto shape = StaticShape(base);
    const auto total = ElementCount(base), count = ElementCount(node.tensor());
    const bool counted =
        total.has_value() && *total <= INT32_MAX && count.has_value() && *count >= 1 && *count <= kMaxElements;
    if (!shape.has_value() || !counted) return refuse("strides of a tensor that is empty, too large or not static");
    if (!DenseOrder(base, *shape, read.order)) return refuse("strides of what is not dense");
    if (!node.has_constant_ints("size") || !node.has_constant_ints("stride")) return refuse("strides that are values");
    const std::vector<int64_t> size = node.ints("size"), strides = node.ints("stride");
    int64_t offset = node.integer("storage_offset").value_or(0);
    if (node.attr("storage_offset").is_none()) {
      if (!own_offset.is_static()) return refuse("strides that are values");
      offset = own_offset.value();
    }
    // What a file states need not be what the arguments say.
    if (StaticShape(node.tensor()) != size || size.size() != strides.size() || offset < 0 || offset >= *total)
      return refuse("strides that leave the tensor");
    read.places.assign(static_cast<size_t>(*count), offset);
    for (size_t i = 0; i < read.places.size(); ++i) {
      auto rest = static_cast<int64_t>(i);
      for (size_t d = size.size(); d-- > 0;) {
        const int64_t steps = rest % size[d];
        if (steps > 0 && (strides[d] < 0 || strides[d] >= *total)) return refuse("strides that leave the tensor");
        if (steps > 0) read.places[i] += steps * strides[d];
        rest /= size[d];
        if (read.places[i] >= *total) return refuse("strides that leave the tensor");
      }
    }
    return read;
  }

  // Dims from the outermost in storage, when the elements fill it from its start; dims of extent 1 are anywhere.
  static bool DenseOrder(const TensorMeta& meta, const std::vector<int64_t>& shape, std::vector<int64_t>& order) {
    if (!meta.offset.is_static() || meta.offset.value() != 0) return false;
    std::vector<int64_t> strides;
    for (const Dim stride : meta.strides) {
      if (!stride.is_static()) return false;
      strides.push_back(stride.value());
    }
    std::vector<int64_t> larger;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != 1) larger.push_back(static_cast<int64_t>(i));
    const auto stride_of = [&](int64_t dim) { return strides[static_cast<size_t>(dim)]; };
    std::stable_sort(larger.begin(), larger.end(), [&](int64_t a, int64_t b) { return stride_of(a) > stride_of(b); });
    for (size_t i = 0, next = 0; i < shape.size(); ++i)
      order.push_back(shape[i] == 1 ? static_cast<int64_t>(i) : larger[next++]);
    int64_t expected = 1;
    for (size_t i = order.size(); i-- > 0;) {
      const auto dim = static_cast<size_t>(order[i]);
      if (shape[dim] != 1 && strides[dim] != expected) return false;
      expected *= shape[dim];
    }
    return true;
  }

  absl::Status Write(const StridedRead& read, Rewriter& rw) const {
    Node x = read.base;
    if (!std::is_sorted(read.order.begin(), read.order.end())) {
      TARE_ASSIGN_OR_RETURN(x, rw.InsertBefore(read.view, permute_, {{"self", x}, {"dims", read.order}}));
      TARE_ASSIGN_OR_RETURN(
          x, rw.InsertBefore(read.view, clone_,
                             {{"self", x}, {"memory_format", AttrValue::OfMemoryFormat(MemoryFormat::kContiguous)}}));
    }
    const int64_t total = *ElementCount(read.base.tensor());
    bool in_order = static_cast<int64_t>(read.places.size()) == total;
    for (size_t i = 0; i < read.places.size() && in_order; ++i) in_order = read.places[i] == static_cast<int64_t>(i);
    if (!in_order) {
      TARE_ASSIGN_OR_RETURN(x, rw.InsertBefore(read.view, view_, {{"self", x}, {"size", std::vector<int64_t>{total}}}));
      const int64_t count[] = {static_cast<int64_t>(read.places.size())};
      TARE_ASSIGN_OR_RETURN(const Node places, AddIntegers(rw, "places", DType::kI64, count, read.places));
      TARE_ASSIGN_OR_RETURN(x, rw.InsertBefore(read.view, select_, {{"self", x}, {"dim", 0}, {"index", places}}));
    }
    const std::vector<int64_t> shape = *StaticShape(read.view.tensor());
    TARE_ASSIGN_OR_RETURN(x, rw.InsertBefore(read.view, view_, {{"self", x}, {"size", shape}}));
    return rw.ReplaceUses(read.view, x);
  }

  std::vector<Op> targets_, views_;
  Op select_, view_, permute_, clone_;
};

}  // namespace

absl::StatusOr<Pass> MakeLowerStrides(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerStrides>(context, options);
}

}  // namespace tare
