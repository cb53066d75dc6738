#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"

namespace tare {
namespace {

// Joins and drops ops that only say where elements are.
//
//   TRANSPOSE(TRANSPOSE(%x, p), q)                =>  TRANSPOSE(%x, p o q)
//   RESHAPE(RESHAPE(%x, s), t)                    =>  RESHAPE(%x, t)
//   TRANSPOSE that moves only dims of extent 1    =>  RESHAPE
//   the identity                                  =>  %x
//   SLICE(SLICE(%x, a, s), b, t)                  =>  SLICE(%x, a + b, t)
class SimplifyMovement final : public RewritePass {
 public:
  explicit SimplifyMovement(const Context& context)
      : ops_(context), targets_{ops_.reshape, ops_.transpose, ops_.slice} {}
  std::string_view name() const override { return "simplify-movement"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    if (node.op() == ops_.transpose) return Transpose(node, rw);
    if (node.op() == ops_.reshape) return Reshape(node, rw);
    return Slice(node, rw);
  }

 private:
  absl::Status Transpose(Node node, Rewriter& rw) const {
    Node x = node.arg("input");
    std::vector<int64_t> perms = node.ints("perms");
    while (x.op() == ops_.transpose) {
      perms = ComposePerms(x.ints("perms"), perms);
      x = x.arg("input");
    }
    if (IsIdentity(perms)) return rw.ReplaceUses(node, x);
    const std::optional<std::vector<int64_t>> shape = StaticShape(x.tensor());
    if (shape.has_value() && MovesOnlyOnes(*shape, perms)) {
      std::vector<int64_t> moved;
      for (const int64_t axis : perms) moved.push_back((*shape)[axis]);
      return rw.Redefine(node, ops_.reshape, {{"input1", x}, {"shape", moved}});
    }
    return rw.Redefine(node, ops_.transpose, {{"input", x}, {"perms", perms}});
  }

  absl::Status Reshape(Node node, Rewriter& rw) const {
    Node x = node.arg("input1");
    const std::optional<std::vector<int64_t>> shape = StaticShape(node.tensor());
    if (!shape.has_value()) return absl::OkStatus();
    while (true) {
      if (x.op() == ops_.reshape) {
        x = x.arg("input1");
      } else if (x.op() == ops_.transpose && OnlyOnes(x)) {
        x = x.arg("input");
      } else {
        break;
      }
    }
    if (StaticShape(x.tensor()) == shape) return rw.ReplaceUses(node, x);
    return rw.Redefine(node, ops_.reshape, {{"input1", x}, {"shape", *shape}});
  }

  absl::Status Slice(Node node, Rewriter& rw) const {
    const Node x = node.arg("input1");
    if (!node.has_constant_ints("start") || !node.has_constant_ints("size")) return absl::OkStatus();
    if (StaticShape(x.tensor()) == node.ints("size")) return rw.ReplaceUses(node, x);
    if (x.op() != ops_.slice || !x.has_constant_ints("start")) return absl::OkStatus();
    std::vector<int64_t> start = node.ints("start");
    const std::vector<int64_t> first = x.ints("start");
    for (size_t i = 0; i < start.size(); ++i) start[i] += first[i];
    return rw.Redefine(node, ops_.slice, {{"input1", x.arg("input1")}, {"start", start}, {"size", node.ints("size")}});
  }

  bool OnlyOnes(Node transpose) const {
    const std::optional<std::vector<int64_t>> shape = StaticShape(transpose.arg("input").tensor());
    return shape.has_value() && MovesOnlyOnes(*shape, transpose.ints("perms"));
  }

  TosaOps ops_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeSimplifyMovement(Context& context, const PassOptions& options) {
  return MakeRewrite<SimplifyMovement>(context, options);
}

}  // namespace tare
