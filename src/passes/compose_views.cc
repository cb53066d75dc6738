#include <algorithm>

#include "ir/context.h"
#include "passes/builtin_passes.h"

namespace tare {
namespace {

// What a node that changes only the shape does with the storage of its input.
enum class Sharing : uint8_t {
  kShares,    // view
  kMayShare,  // reshape: where it can
  kCopies,    // view_copy
  kUnsafe,    // _unsafe_view: shares, but is treated as fresh
};

struct ShapeOpRow {
  std::string_view op;
  Sharing sharing;
  std::string_view size;  // the argument that holds the whole result shape; "" = none
};

constexpr ShapeOpRow kRows[] = {
    {"aten._unsafe_view.default", Sharing::kUnsafe, "size"},
    {"aten.flatten.using_ints", Sharing::kMayShare, ""},
    {"aten.reshape.default", Sharing::kMayShare, "shape"},
    {"aten.squeeze.default", Sharing::kShares, ""},
    {"aten.squeeze.dim", Sharing::kShares, ""},
    {"aten.squeeze.dims", Sharing::kShares, ""},
    {"aten.squeeze_copy.default", Sharing::kCopies, ""},
    {"aten.squeeze_copy.dim", Sharing::kCopies, ""},
    {"aten.squeeze_copy.dims", Sharing::kCopies, ""},
    {"aten.unflatten.int", Sharing::kShares, ""},
    {"aten.unsqueeze.default", Sharing::kShares, ""},
    {"aten.unsqueeze_copy.default", Sharing::kCopies, ""},
    {"aten.view.default", Sharing::kShares, "size"},
    {"aten.view_copy.default", Sharing::kCopies, "size"},
};

// The outer node's sharing when the inner one is gone. A copy stays one: sharing may only get less.
Sharing Composed(Sharing outer, Sharing inner) {
  if (outer == Sharing::kCopies || inner == Sharing::kShares) return outer;
  if (inner == Sharing::kCopies) return Sharing::kCopies;
  if (outer == Sharing::kShares) return inner;
  return outer == inner ? outer : Sharing::kMayShare;
}

// Joins a view of a view into one.
//
//   %a = view(%x, s);  %b = view(%a, t)   =>   %b = view(%x, t)
//
// Only where the result keeps its metadata: two views may be possible where one is not. Unless both
// share their input's storage, neither storage may be written.
class ComposeViews final : public RewritePass {
 public:
  explicit ComposeViews(const Context& context) {
    for (const ShapeOpRow& row : kRows) {
      const Op op = context.ops.Find(row.op);
      if (!op.has_value()) continue;
      ops_.push_back(op);
      rows_.push_back(&row);
      if (!row.size.empty()) targets_.push_back(op);
    }
    if (targets_.empty()) targets_.push_back(Op{});
  }
  std::string_view name() const override { return "compose-views"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node outer, Rewriter& rw) const override {
    for (Node inner; inner != outer.arg("self");) {
      inner = outer.arg("self");
      absl::Status status = Join(outer, rw);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  // One step; `outer` has another input when it succeeds.
  absl::Status Join(Node outer, Rewriter& rw) const {
    const ShapeOpRow* outer_row = RowOf(outer.op());
    const Node inner = outer.arg("self");
    if (!inner.has_value()) return absl::OkStatus();
    const ShapeOpRow* inner_row = RowOf(inner.op());
    if (inner_row == nullptr) return absl::OkStatus();
    const Node x = inner.arg("self");
    if (!x.has_value() || !x.is_tensor()) return absl::OkStatus();

    if (outer_row->sharing != Sharing::kShares || inner_row->sharing != Sharing::kShares)
      if (rw.StorageOf(x).mutated || rw.StorageOf(outer).mutated) return absl::OkStatus();
    const Sharing sharing = Composed(outer_row->sharing, inner_row->sharing);
    const auto* result = std::find_if(std::begin(kRows), std::end(kRows), [&](const ShapeOpRow& row) {
      return row.sharing == sharing && !row.size.empty();
    });
    const Op op = rw.context().ops.Find(result->op);
    const std::optional<ArgInit> size = SizeArgument(outer, outer_row->size, result->size);
    if (!op.has_value() || !size.has_value()) return absl::OkStatus();
    const absl::StatusOr<MetaId> meta = rw.Infer(op, {{"self", x}, *size});
    if (!meta.ok() || *meta != outer.meta()) return absl::OkStatus();
    return rw.Redefine(outer, op, {{"self", x}, *size});
  }

  const ShapeOpRow* RowOf(Op op) const {
    const auto it = std::find(ops_.begin(), ops_.end(), op);
    return it == ops_.end() ? nullptr : rows_[it - ops_.begin()];
  }

  // Argument `from` of `node`, which may hold nodes for symbolic extents, as argument `to`.
  static std::optional<ArgInit> SizeArgument(Node node, std::string_view from, std::string_view to) {
    if (node.has_constant_ints(from)) return ArgInit(to, node.ints(from));
    const AttrValue& value = node.attr(from);
    if (value.kind != AttrKind::kList) return std::nullopt;
    std::vector<ArgInt> ints;
    for (const AttrValue& item : value.items()) {
      if (item.kind == AttrKind::kInt) {
        ints.emplace_back(item.integer);
      } else if (item.kind == AttrKind::kOperand) {
        ints.emplace_back(node.operand(static_cast<int>(item.operand)));
      } else {
        return std::nullopt;
      }
    }
    return ArgInit(to, std::move(ints));
  }

  std::vector<Op> ops_;                  // those that exist
  std::vector<const ShapeOpRow*> rows_;  // of each of them
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeComposeViews(Context& context, const PassOptions& options) {
  return MakeRewrite<ComposeViews>(context, options);
}

}  // namespace tare
