#include "passes/builtin_passes.h"

namespace tare {
namespace {

// Erases nodes whose value nobody uses, unless they have an effect, then parameters, buffers and constants
// that nobody uses. What the user gives stays: it is the program's signature. One step backwards through the order is
// enough, since users stand after what they use.
class DeadCode final : public GraphPass {
 public:
  explicit DeadCode(const Context&) {}
  std::string_view name() const override { return "dead-code"; }
  std::span<const Op> targets() const override { return {}; }
  absl::Status Run(Rewriter& rw) const override {
    for (NodeId id = rw.graph().last(); id.has_value();) {
      const Node node = rw.node(id);
      id = rw.graph().prev(id);
      if (node.num_uses() != 0 || !rw.CanErase(node)) continue;
      absl::Status status = rw.Erase(node);
      if (!status.ok()) return status;
    }
    rw.RemoveUnusedConstants();
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeDeadCode(Context& context, const PassOptions& options) {
  return MakeGraph<DeadCode>(context, options);
}

}  // namespace tare
