#include <algorithm>

#include "ir/context.h"
#include "meta/op_names.h"
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
  Op op;
  Noop kind;
};

constexpr NoopRow kRows[] = {
    {op::aten__reshape_alias_default, Noop::kView},
    {op::aten_alias_default, Noop::kView},
    {op::aten_broadcast_to_default, Noop::kView},
    {op::aten_contiguous_default, Noop::kView},
    {op::aten_detach_default, Noop::kView},
    {op::aten_expand_default, Noop::kView},
    {op::aten_expand_as_default, Noop::kView},
    {op::aten_flatten_using_ints, Noop::kView},
    {op::aten_lift_fresh_default, Noop::kView},
    {op::aten_movedim_int, Noop::kView},
    {op::aten_narrow_default, Noop::kView},
    {op::aten_permute_default, Noop::kView},
    {op::aten_reshape_default, Noop::kView},
    {op::aten_slice_Tensor, Noop::kView},
    {op::aten_squeeze_default, Noop::kView},
    {op::aten_squeeze_dim, Noop::kView},
    {op::aten_squeeze_dims, Noop::kView},
    {op::aten_t_default, Noop::kView},
    {op::aten_transpose_int, Noop::kView},
    {op::aten_type_as_default, Noop::kView},
    {op::aten_unflatten_int, Noop::kView},
    {op::aten_view_default, Noop::kView},
    {op::aten_view_dtype, Noop::kView},
    {op::aten_view_as_default, Noop::kView},
    {op::aten_to_device, Noop::kViewUnless},
    {op::aten_to_dtype, Noop::kViewUnless},
    {op::aten_to_dtype_layout, Noop::kViewUnless},
    {op::aten_to_other, Noop::kViewUnless},
    {op::aten__to_copy_default, Noop::kCopy},
    {op::aten__unsafe_view_default, Noop::kCopy},
    {op::aten_alias_copy_default, Noop::kCopy},
    {op::aten_clone_default, Noop::kCopy},
    {op::aten_detach_copy_default, Noop::kCopy},
    {op::aten_expand_copy_default, Noop::kCopy},
    {op::aten_lift_fresh_copy_default, Noop::kCopy},
    {op::aten_slice_copy_Tensor, Noop::kCopy},
    {op::aten_squeeze_copy_default, Noop::kCopy},
    {op::aten_squeeze_copy_dim, Noop::kCopy},
    {op::aten_squeeze_copy_dims, Noop::kCopy},
    {op::aten_view_copy_default, Noop::kCopy},
    {op::dim_order_ops__clone_dim_order_default, Noop::kCopy},
    {op::dim_order_ops__to_dim_order_copy_default, Noop::kCopy},
    {op::aten_permute_copy_default, Noop::kPermutation},
    {op::aten_alpha_dropout_default, Noop::kDropout},
    {op::aten_dropout_default, Noop::kDropout},
    {op::aten_feature_dropout_default, Noop::kDropout},
};

// Removes a node that gives what it is given: same dtype, shape, strides and offset.
//
//   %b = clone(%a);  %y = relu(%b)   =>   %y = relu(%a)
//
// Views may always go. Copies stay where somebody could tell: when one of both storages is written,
// or when the copy keeps an output from sharing memory with an input or another output.
class RemoveNoops final : public RewritePass {
 public:
  explicit RemoveNoops(const Context&) {
    for (const NoopRow& row : kRows) targets_.push_back(row.op);
  }
  std::string_view name() const override { return "remove-noops"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    if (node.num_operands() == 0 || !node.is_tensor()) return absl::OkStatus();
    const Node source = node.operand(0);
    if (node.meta() != source.meta() || node.quant().index != 0) return absl::OkStatus();
    const size_t row = std::find(targets_.begin(), targets_.end(), node.op()) - targets_.begin();
    bool is_view = false;
    switch (kRows[row].kind) {
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

  std::vector<Op> targets_;  // of the rows
};

}  // namespace

absl::StatusOr<Pass> MakeRemoveNoops(Context& context, const PassOptions& options) {
  return MakeRewrite<RemoveNoops>(context, options);
}

}  // namespace tare
