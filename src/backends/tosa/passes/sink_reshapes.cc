#include <algorithm>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/elementwise.h"
#include "backends/tosa/rescales.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/status.h"

namespace tare {
namespace {

// Moves reshapes below elementwise ops, where they meet other reshapes.
//
//   CLAMP(RESHAPE(%x, s))                   =>  RESHAPE(CLAMP(%x), s)
//   ADD(RESHAPE(%x, s), RESHAPE(%y, s))     =>  RESHAPE(ADD(%x, %y), s)      equal shapes before
//   ADD(RESHAPE(%x, s), %constant)          =>  RESHAPE(ADD(%x, %c'), s)     where the constant follows, or a rescale
//   of one
//
// Only reshapes without other users move, so their number never grows.
class SinkReshapes final : public RewritePass {
 public:
  explicit SinkReshapes(const Context& context) : ops_(context), targets_(ElementwiseOps(context)) {}
  std::string_view name() const override { return "sink-reshapes"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    if (!node.is_tensor() || IsPerChannel(node)) return absl::OkStatus();
    const auto shape = StaticShape(node.tensor());
    if (!shape.has_value()) return absl::OkStatus();
    // The tensors it works on; a table is not one.
    std::optional<std::vector<int64_t>> before;
    std::vector<std::pair<std::string_view, Node>> reshaped, others;
    for (const NamedAttr& attr : rw.context().attrs.Get(rw.graph().attrs(node.id()))) {
      if (attr.value.kind != AttrKind::kOperand || attr.name == "table") continue;
      const Node operand = node.arg(attr.name);
      const bool moves = operand.op() == ops_.reshape && operand.users().size() == 1 &&
                         StaticShape(operand.tensor()) == shape && operand.arg("input1").is_tensor();
      if (!moves) {
        others.emplace_back(attr.name, operand);
        continue;
      }
      const auto source = StaticShape(operand.arg("input1").tensor());
      if (!source.has_value() || (before.has_value() && *before != *source)) return absl::OkStatus();
      before = source;
      reshaped.emplace_back(attr.name, operand.arg("input1"));
    }
    if (!before.has_value()) return absl::OkStatus();
    std::vector<ArgInit> changed;
    for (const auto& [name, source] : reshaped) changed.emplace_back(name, source);
    for (const auto& [name, other] : others) {
      const Node source = IsConstantRescale(other) ? other.arg("input1") : other;
      const auto followed =
          source.constant() != nullptr ? Follow(*StaticShape(other.tensor()), *shape, *before) : std::nullopt;
      if (!followed.has_value()) return absl::OkStatus();
      TARE_ASSIGN_OR_RETURN(Node turned,
                            rw.InsertBefore(node, ops_.reshape, {{"input1", source}, {"shape", *followed}}));
      if (source != other) {
        TARE_ASSIGN_OR_RETURN(const Node rescaled, CopyWith(rw, other, {{"input1", turned}}, node));
        rw.SetQuant(rescaled, rw.context().quants.Get(other.quant()));
        turned = rescaled;
      }
      changed.emplace_back(name, turned);
    }
    TARE_ASSIGN_OR_RETURN(const Node moved, CopyWith(rw, node, changed, node));
    rw.SetQuant(moved, rw.context().quants.Get(node.quant()));
    // The FP profile alone does not reshape the integers that a cast makes.
    if (!rw.Infer(ops_.reshape, {{"input1", moved}, {"shape", *shape}}).ok()) return absl::OkStatus();
    return rw.Redefine(node, ops_.reshape, {{"input1", moved}, {"shape", *shape}});
  }

 private:
  bool IsConstantRescale(Node node) const {
    return node.op() == ops_.rescale && !IsPerChannel(node) && node.arg("input1").constant() != nullptr;
  }

  // Shape that a constant of shape `constant`, broadcast to `after`, has when broadcast to `before`: all ones, or
  // ones but for trailing dims that both have.
  static std::optional<std::vector<int64_t>> Follow(const std::vector<int64_t>& constant,
                                                    const std::vector<int64_t>& after,
                                                    const std::vector<int64_t>& before) {
    size_t same = 0;
    while (same < after.size() && same < before.size() &&
           after[after.size() - 1 - same] == before[before.size() - 1 - same])
      ++same;
    for (size_t i = 0; i + same < constant.size(); ++i)
      if (constant[i] != 1) return std::nullopt;
    std::vector<int64_t> followed(before.size(), 1);
    for (size_t i = 0; i < same && i < constant.size(); ++i)
      followed[before.size() - 1 - i] = constant[constant.size() - 1 - i];
    return followed;
  }

  static absl::StatusOr<Node> CopyWith(Rewriter& rw, Node node, const std::vector<ArgInit>& changed, Node place) {
    std::vector<ArgInit> args = changed;
    for (const NamedAttr& attr : rw.context().attrs.Get(rw.graph().attrs(node.id()))) {
      const bool is_changed =
          std::any_of(changed.begin(), changed.end(), [&](const ArgInit& arg) { return arg.name == attr.name; });
      if (is_changed) continue;
      if (attr.value.kind == AttrKind::kOperand) {
        args.emplace_back(attr.name, node.arg(attr.name));
      } else {
        args.emplace_back(attr.name, attr.value);
      }
    }
    return rw.InsertBefore(place, node.op(), ArgList(args), node.name());
  }

  TosaOps ops_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeSinkReshapes(Context& context, const PassOptions& options) {
  return MakeRewrite<SinkReshapes>(context, options);
}

}  // namespace tare
