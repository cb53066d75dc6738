#include <algorithm>

#include "backends/tosa/arguments.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

// Gives each user of a rescale to int32 a rescale of its own.
//
//   %r = RESCALE(%x : i8, i32); ADD(%r, %a); MUL(%r, %b)  =>  ADD(RESCALE(%x, i32), %a); MUL(RESCALE(%x, i32), %b)
//
// For accelerators that do a rescale within its one user for nothing, but have to store the wide result for two.
class UnshareRescales final : public RewritePass {
 public:
  explicit UnshareRescales(const Context& context) : targets_{TosaOps::Find(context, "RESCALE")} {}
  std::string_view name() const override { return "unshare-rescales"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("input1");
    if (node.tensor().dtype != DType::kI32 || BitsOf(x.tensor().dtype) > 16) return absl::OkStatus();
    const std::vector<Node> users = node.users();
    for (size_t i = 1; i < users.size(); ++i) {
      const Node user = users[i];
      if (user.op() == op::output) continue;
      std::vector<ArgInit> changed;
      TARE_ASSIGN_OR_RETURN(const Node own,
                            rw.InsertBefore(user, node.op(), ArgList(ArgsOn(rw, node, x, x)), node.name()));
      rw.SetQuant(own, rw.context().quants.Get(node.quant()));
      for (const NamedAttr& attr : rw.context().attrs.Get(rw.graph().attrs(user.id()))) {
        if (attr.value.kind == AttrKind::kOperand && user.arg(attr.name) == node) changed.emplace_back(attr.name, own);
        if (attr.value.kind != AttrKind::kList) continue;
        std::vector<Node> list = user.arg_list(attr.name);
        if (std::find(list.begin(), list.end(), node) == list.end()) continue;
        for (Node& item : list)
          if (item == node) item = own;
        changed.emplace_back(attr.name, std::move(list));
      }
      TARE_RETURN_IF_ERROR(rw.Amend(user, ArgList(changed)));
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeUnshareRescales(Context& context, const PassOptions& options) {
  return MakeRewrite<UnshareRescales>(context, options);
}

}  // namespace tare
