#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/status.h"
#include "passes/builtin_passes.h"

namespace tare {
namespace {

// Turns views into copies of the same elements: `aten.X.overload` into `aten.X_copy.overload`.
//
//   %b = permute(%a, p) : f32[3,2]{1,3}   =>   %b = permute_copy(%a, p) : f32[3,2]
//
// Views stay where sharing is seen: when their storage is written, or when an op reads it by strides
// of its own (as_strided).
class ViewToViewCopy final : public RewritePass {
 public:
  explicit ViewToViewCopy(const Context& context) {
    constexpr std::string_view kAten = "aten.";
    for (int i = 0; i < context.ops.size(); ++i) {
      const Op op{static_cast<uint16_t>(i)};
      const std::string_view name = context.ops.Name(op);
      if (!context.ops.Has(op, kView) || name.substr(0, kAten.size()) != kAten) continue;
      const size_t dot = name.find('.', kAten.size());
      if (dot == std::string_view::npos) continue;
      const Op copy =
          context.ops.Find(absl::StrCat(TextPiece(name.substr(0, dot)), "_copy", TextPiece(name.substr(dot))));
      if (!copy.has_value()) continue;
      targets_.push_back(op);
      copies_.push_back(copy);
    }
    if (targets_.empty()) targets_.push_back(Op{});
  }
  std::string_view name() const override { return "view-to-view-copy"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const StorageUse use = rw.StorageOf(node);
    if (use.mutated || use.restrided) return absl::OkStatus();
    const size_t i =
        std::lower_bound(targets_.begin(), targets_.end(), node.op(), [](Op a, Op b) { return a.index < b.index; }) -
        targets_.begin();
    return rw.Amend(node, copies_[i], {});
  }

 private:
  std::vector<Op> targets_, copies_;  // pairs, by index of the target
};

}  // namespace

absl::StatusOr<Pass> MakeViewToViewCopy(Context& context, const PassOptions& options) {
  return MakeRewrite<ViewToViewCopy>(context, options);
}

}  // namespace tare
