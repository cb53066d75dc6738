#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/factors.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/status.h"

namespace tare {
namespace {

// Gives a transposition the fewest dims that say what it moves.
//
//   TRANSPOSE(%x : [1,16,3,4,8], [2,0,3,1,4])  =>  RESHAPE(TRANSPOSE(RESHAPE(%x, [16,12,8]), [1,0,2]), [3,1,4,16,8])
//
// Dims of extent 1 go, dims that stay neighbours are one. For accelerators that move more than four dims in several
// steps; transpositions of up to four stay.
class NarrowTransposes final : public RewritePass {
 public:
  explicit NarrowTransposes(const Context& context) : ops_(context), targets_{ops_.transpose} {}
  std::string_view name() const override { return "narrow-transposes"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("input");
    const std::optional<std::vector<int64_t>> shape = StaticShape(x.tensor());
    if (!shape.has_value() || shape->size() <= kManyDims) return absl::OkStatus();
    const std::vector<int64_t> perms = node.ints("perms");
    Factors factors(*shape);
    factors.Transpose(perms);
    const Movement narrow = factors.Narrowest();
    if (narrow.extents.size() >= shape->size()) return absl::OkStatus();
    std::vector<int64_t> result;
    for (const int64_t axis : perms) result.push_back((*shape)[axis]);
    TARE_ASSIGN_OR_RETURN(const Node before,
                          rw.InsertBefore(node, ops_.reshape, {{"input1", x}, {"shape", narrow.extents}}));
    TARE_ASSIGN_OR_RETURN(const Node moved,
                          rw.InsertBefore(node, ops_.transpose, {{"input", before}, {"perms", narrow.perms}}));
    return rw.Redefine(node, ops_.reshape, {{"input1", moved}, {"shape", result}});
  }

 private:
  static constexpr size_t kManyDims = 4;

  TosaOps ops_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeNarrowTransposes(Context& context, const PassOptions& options) {
  return MakeRewrite<NarrowTransposes>(context, options);
}

}  // namespace tare
