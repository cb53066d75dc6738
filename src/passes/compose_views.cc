#include <algorithm>

#include "ir/context.h"
#include "meta/op_names.h"
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
  Op op;
  Sharing sharing;
  std::string_view size;  // the argument that holds the whole result shape; "" = none
};

constexpr ShapeOpRow kRows[] = {
    {op::aten__unsafe_view_default, Sharing::kUnsafe, "size"},
    {op::aten_flatten_using_ints, Sharing::kMayShare, ""},
    {op::aten_reshape_default, Sharing::kMayShare, "shape"},
    {op::aten_squeeze_default, Sharing::kShares, ""},
    {op::aten_squeeze_dim, Sharing::kShares, ""},
    {op::aten_squeeze_dims, Sharing::kShares, ""},
    {op::aten_squeeze_copy_default, Sharing::kCopies, ""},
    {op::aten_squeeze_copy_dim, Sharing::kCopies, ""},
    {op::aten_squeeze_copy_dims, Sharing::kCopies, ""},
    {op::aten_unflatten_int, Sharing::kShares, ""},
    {op::aten_unsqueeze_default, Sharing::kShares, ""},
    {op::aten_unsqueeze_copy_default, Sharing::kCopies, ""},
    {op::aten_view_default, Sharing::kShares, "size"},
    {op::aten_view_copy_default, Sharing::kCopies, "size"},
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
  explicit ComposeViews(const Context&) {
    for (const ShapeOpRow& row : kRows)
      if (!row.size.empty()) targets_.push_back(row.op);
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
    const std::optional<ArgInit> size = SizeArgument(outer, outer_row->size, result->size);
    if (!size.has_value()) return absl::OkStatus();
    const absl::StatusOr<MetaId> meta = rw.Infer(result->op, {{"self", x}, *size});
    if (!meta.ok() || *meta != outer.meta()) return absl::OkStatus();
    return rw.Redefine(outer, result->op, {{"self", x}, *size});
  }

  static const ShapeOpRow* RowOf(Op op) {
    const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const ShapeOpRow& r) { return r.op == op; });
    return row == std::end(kRows) ? nullptr : row;
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

  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeComposeViews(Context& context, const PassOptions& options) {
  return MakeRewrite<ComposeViews>(context, options);
}

}  // namespace tare
