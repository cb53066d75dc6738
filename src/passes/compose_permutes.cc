#include "passes/builtin_passes.h"
#include "passes/permutation.h"

namespace tare {
namespace {

// Joins a permutation of a permutation into one; transpose and t are permutations too.
//
//   %a = permute(%x, p);  %b = permute(%a, q)   =>   %b = permute(%x, p o q)
//
// %a is left to other users or erased with its last one. Shapes do not change; neither do strides,
// so a view of a copy stays: as one copy it would be laid out otherwise.
class ComposePermutes final : public RewritePass {
 public:
  explicit ComposePermutes(const Context& context) : ops_(context), targets_(ops_.All()) {}
  std::string_view name() const override { return "compose-permutes"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node outer, Rewriter& rw) const override {
    const std::optional<std::vector<int64_t>> q = PermutationOf(ops_, outer);
    if (!q.has_value()) return absl::OkStatus();
    const Node inner = outer.arg("self");
    const std::optional<std::vector<int64_t>> p = PermutationOf(ops_, inner);
    if (!p.has_value()) return absl::OkStatus();
    const Node x = inner.arg("self");
    const bool copies = ops_.IsCopy(outer.op());
    if (ops_.IsCopy(inner.op()) && (!copies || rw.StorageOf(x).mutated)) return absl::OkStatus();
    const Op op = copies ? ops_.permute_copy : ops_.permute;
    std::vector<int64_t> composed;
    for (const int64_t axis : *q) composed.push_back((*p)[axis]);
    return rw.Redefine(outer, op, {{"self", x}, {"dims", std::move(composed)}});
  }

 private:
  PermuteOps ops_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeComposePermutes(Context& context, const PassOptions& options) {
  return MakeRewrite<ComposePermutes>(context, options);
}

}  // namespace tare
