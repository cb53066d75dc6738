#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/context.h"
#include "ir/status.h"
#include "passes/session.h"

namespace tare {
namespace {

constexpr int kMaxViews = 64;

// Writes an op in place as the op with a result of its own.
//
//   %a = conv2d(…);  %b = relu_(%a);  use(%b)   =>   %b = relu(%a);  use(%b)
//
// Only when nobody sees the difference: the storage is fresh, what it is a view of and other views of that are not read
// after the write, and no use of %a from before the write is mixed with one from after it. Uses of %a after the write
// become uses of %b.
class Functionalize final : public RewritePass {
 public:
  explicit Functionalize(const Context& context) {
    constexpr std::string_view kAten = "aten.";
    for (int i = 0; i < context.ops.size(); ++i) {
      const Op op{static_cast<uint16_t>(i)};
      if (context.ops.Name(op).substr(0, kAten.size()) != kAten) continue;
      const Op pure = PureTwin(context, op);
      if (!pure.has_value()) continue;
      targets_.push_back(op);
      pure_.push_back(pure);
    }
    if (targets_.empty()) targets_.push_back(Op{});
  }
  std::string_view name() const override { return "functionalize"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node self = node.arg("self");
    if (!self.has_value() || self.op() == op::placeholder || !IsLastView(self, node, rw)) return absl::OkStatus();
    bool before = false, after = false;
    for (const Node user : self.users()) {
      if (user == node) continue;
      if (!rw.graph().Before(user.id(), node.id())) {
        after = true;
      } else {
        before = true;
        if (rw.impl().MayAlias(user.op())) return absl::OkStatus();
      }
    }
    if (after && before) return absl::OkStatus();
    const size_t i = std::find(targets_.begin(), targets_.end(), node.op()) - targets_.begin();
    // A result of another dtype is written back into the old one.
    const MetaId old = node.meta();
    TARE_RETURN_IF_ERROR(WritePure(node, pure_[i], rw));
    if (node.meta() != old && node.is_tensor() && node.tensor().dtype != rw.context().metas.Get(old).tensor.dtype)
      return UnimplementedError("functionalize_c1", "an op in place whose result has another dtype");
    return after ? rw.ReplaceUses(self, node) : absl::OkStatus();
  }

 private:
  // Nothing that `view` shares storage with upwards is read after `write` but through `view`.
  static bool IsLastView(Node view, Node write, Rewriter& rw) {
    for (int depth = 0; rw.impl().MayAlias(view.op()); ++depth) {
      const Node base = view.num_operands() == 1 ? view.operand(0) : Node();
      if (depth == kMaxViews || !base.has_value() || !base.is_tensor() || base.op() == op::placeholder) return false;
      for (const Node user : base.users()) {
        if (user == view) continue;
        if (!rw.graph().Before(user.id(), write.id()) || rw.impl().MayAlias(user.op())) return false;
      }
      view = base;
    }
    return true;
  }

  // The tensor written to is the first argument of both; the pure op may call it otherwise.
  static absl::Status WritePure(Node node, Op pure, Rewriter& rw) {
    const Schema* schema = rw.context().ops.schema(pure);
    std::vector<ArgInit> args;
    if (schema == nullptr || schema->args.empty() || schema->args[0].name == "self")
      return rw.Amend(node, pure, ArgList(args));
    args.emplace_back(schema->args[0].name, node.arg("self"));
    for (const NamedAttr& attr : rw.context().attrs.Get(rw.graph().attrs(node.id()))) {
      if (attr.name == "self") continue;
      // Another tensor among the others: its list of operands is not rewritten here.
      if (attr.value.kind == AttrKind::kOperand || attr.value.kind == AttrKind::kList) return absl::OkStatus();
      args.emplace_back(attr.name, attr.value);
    }
    return rw.Redefine(node, pure, ArgList(args));
  }

  std::vector<Op> targets_, pure_;  // pairs
};

}  // namespace

absl::StatusOr<Pass> MakeFunctionalize(Context& context, const PassOptions& options) {
  return MakeRewrite<Functionalize>(context, options);
}

}  // namespace tare
