#include <algorithm>

#include "backends/tosa/tosa_passes.h"
#include "ir/context.h"

namespace tare {
namespace {

// Where a clamp finds its bounds: an argument, a number, or nothing.
struct ClampRow {
  std::string_view op;
  std::string_view min_arg, max_arg;
  int min = -1, max = -1;  // when >= 0 and there is no argument
};

constexpr ClampRow kRows[] = {
    {"aten.clamp_max.default", "", "max"},
    {"aten.clamp_min.default", "min", ""},
    {"aten.hardtanh.default", "min_val", "max_val"},
    {"aten.relu.default", "", "", 0},
    {"aten.relu6.default", "", "", 0, 6},
    {"aten.clip.default", "min", "max"},
};

// Writes activations that cut off values as clamp.
//
//   relu(%x)  =>  clamp(%x, min=0)
class CanonicalizeClamp final : public RewritePass {
 public:
  explicit CanonicalizeClamp(const Context& context) : clamp_(context.ops.Find("aten.clamp.default")) {
    for (const ClampRow& row : kRows) {
      const Op op = context.ops.Find(row.op);
      if (!op.has_value()) continue;
      targets_.push_back(op);
      rows_.push_back(row);
    }
    if (targets_.empty()) targets_.push_back(Op{});
  }
  std::string_view name() const override { return "canonicalize-clamp"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const ClampRow& row = rows_[std::find(targets_.begin(), targets_.end(), node.op()) - targets_.begin()];
    std::vector<ArgInit> args = {{"self", node.arg("self")}};
    AddBound(args, node, "min", row.min_arg, row.min);
    AddBound(args, node, "max", row.max_arg, row.max);
    return rw.Redefine(node, clamp_, ArgList(args));
  }

 private:
  static void AddBound(std::vector<ArgInit>& args, Node node, std::string_view bound, std::string_view arg,
                       int number) {
    if (!arg.empty() && !node.attr(arg).is_none()) {
      args.emplace_back(bound, node.attr(arg));
    } else if (arg.empty() && number >= 0) {
      args.emplace_back(bound, number);
    }
  }

  Op clamp_;
  std::vector<Op> targets_;
  std::vector<ClampRow> rows_;  // pairs with targets_
};

}  // namespace

absl::StatusOr<Pass> MakeCanonicalizeClamp(Context& context, const PassOptions& options) {
  return MakeRewrite<CanonicalizeClamp>(context, options);
}

}  // namespace tare
