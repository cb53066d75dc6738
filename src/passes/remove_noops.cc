#include <algorithm>

#include "ir/context.h"
#include "passes/builtin_passes.h"

namespace tare {
namespace {

// Why a node with the metadata of its input is its input.
enum class Noop : uint8_t {
  kView,         // shares the storage: equal shape, strides and offset say the rest
  kViewUnless,   // … unless argument `copy` is true
  kCopy,         // has the elements in order: equal shapes say the rest
  kPermutation,  // a copy in an order of dims that must be the given one
  kDropout,      // in eval a view, with p = 0 a copy
};

struct NoopRow {
  std::string_view op;
  Noop kind;
};

constexpr NoopRow kRows[] = {
    {"aten._reshape_alias.default", Noop::kView},
    {"aten.alias.default", Noop::kView},
    {"aten.broadcast_to.default", Noop::kView},
    {"aten.contiguous.default", Noop::kView},
    {"aten.detach.default", Noop::kView},
    {"aten.expand.default", Noop::kView},
    {"aten.expand_as.default", Noop::kView},
    {"aten.flatten.using_ints", Noop::kView},
    {"aten.lift_fresh.default", Noop::kView},
    {"aten.movedim.int", Noop::kView},
    {"aten.narrow.default", Noop::kView},
    {"aten.permute.default", Noop::kView},
    {"aten.reshape.default", Noop::kView},
    {"aten.slice.Tensor", Noop::kView},
    {"aten.squeeze.default", Noop::kView},
    {"aten.squeeze.dim", Noop::kView},
    {"aten.squeeze.dims", Noop::kView},
    {"aten.t.default", Noop::kView},
    {"aten.transpose.int", Noop::kView},
    {"aten.type_as.default", Noop::kView},
    {"aten.unflatten.int", Noop::kView},
    {"aten.view.default", Noop::kView},
    {"aten.view.dtype", Noop::kView},
    {"aten.view_as.default", Noop::kView},
    {"aten.to.device", Noop::kViewUnless},
    {"aten.to.dtype", Noop::kViewUnless},
    {"aten.to.dtype_layout", Noop::kViewUnless},
    {"aten.to.other", Noop::kViewUnless},
    {"aten._to_copy.default", Noop::kCopy},
    {"aten._unsafe_view.default", Noop::kCopy},
    {"aten.alias_copy.default", Noop::kCopy},
    {"aten.clone.default", Noop::kCopy},
    {"aten.detach_copy.default", Noop::kCopy},
    {"aten.expand_copy.default", Noop::kCopy},
    {"aten.lift_fresh_copy.default", Noop::kCopy},
    {"aten.slice_copy.Tensor", Noop::kCopy},
    {"aten.squeeze_copy.default", Noop::kCopy},
    {"aten.squeeze_copy.dim", Noop::kCopy},
    {"aten.squeeze_copy.dims", Noop::kCopy},
    {"aten.view_copy.default", Noop::kCopy},
    {"dim_order_ops._clone_dim_order.default", Noop::kCopy},
    {"dim_order_ops._to_dim_order_copy.default", Noop::kCopy},
    {"aten.permute_copy.default", Noop::kPermutation},
    {"aten.alpha_dropout.default", Noop::kDropout},
    {"aten.dropout.default", Noop::kDropout},
    {"aten.feature_dropout.default", Noop::kDropout},
};

// Removes a node that gives what it is given: same dtype, shape, strides and offset.
//
//   %b = clone(%a);  %y = relu(%b)   =>   %y = relu(%a)
//
// Views may always go. Copies stay where somebody could tell: when one of both storages is written,
// or when the copy keeps an output from sharing memory with an input or another output.
class RemoveNoops final : public RewritePass {
 public:
  explicit RemoveNoops(const Context& context) {
    for (const NoopRow& row : kRows) {
      const Op op = context.ops.Find(row.op);
      if (!op.has_value()) continue;
      targets_.push_back(op);
      kinds_.push_back(row.kind);
    }
    if (targets_.empty()) targets_.push_back(Op{});
  }
  std::string_view name() const override { return "remove-noops"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    if (node.num_operands() == 0 || !node.is_tensor()) return absl::OkStatus();
    const Node source = node.operand(0);
    if (node.meta() != source.meta() || node.quant().index != 0) return absl::OkStatus();
    const size_t row = std::find(targets_.begin(), targets_.end(), node.op()) - targets_.begin();
    bool is_view = false;
    switch (kinds_[row]) {
      case Noop::kView:
        is_view = true;
        break;
      case Noop::kViewUnless:
        is_view = !node.flag("copy").value_or(false);
        break;
      case Noop::kCopy:
        break;
      case Noop::kPermutation:
        if (!IsIdentity(node)) return absl::OkStatus();
        break;
      case Noop::kDropout:
        is_view = !node.flag("train").value_or(true);
        if (!is_view && node.number("p") != 0.0) return absl::OkStatus();
        break;
    }
    if (is_view ? ReturnsInput(node, source, rw) : !rw.CanForwardCopy(node, source)) return absl::OkStatus();
    return rw.ReplaceUses(node, source);
  }

 private:
  static bool IsIdentity(Node permutation) {
    const std::vector<int64_t> dims = permutation.ints("dims");
    const int64_t rank = static_cast<int64_t>(dims.size());
    for (int64_t i = 0; i < rank; ++i)
      if (dims[i] != i && dims[i] != i - rank) return false;
    return permutation.has_constant_ints("dims");
  }

  // An input that is returned itself is another thing to its caller than a view of it.
  static bool ReturnsInput(Node node, Node source, Rewriter& rw) {
    if (source.op() != op::placeholder && source.op() != op::constant) return false;
    const NodeId output = rw.graph().last();
    for (const NodeId operand : rw.graph().operands(output))
      if (operand == node.id()) return true;
    return false;
  }

  std::vector<Op> targets_;
  std::vector<Noop> kinds_;  // of each target
};

}  // namespace

absl::StatusOr<Pass> MakeRemoveNoops(Context& context, const PassOptions& options) {
  return MakeRewrite<RemoveNoops>(context, options);
}

}  // namespace tare
