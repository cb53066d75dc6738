#include <algorithm>
#include <string_view>

#include "backends/tosa/arguments.h"
#include "backends/tosa/rescales.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

// Moves elements where they have the fewest bits.
//
//   TRANSPOSE(RESCALE(%x : i8, i32), p)           =>  RESCALE(TRANSPOSE(%x, p), i32)
//   RESCALE(TRANSPOSE(%x : i32, p), i8)           =>  TRANSPOSE(RESCALE(%x, i8), p)
//   RESHAPE(RESCALE(%x : i32[1,96,96,1], i8), s)  =>  RESCALE(RESHAPE(%x, s), i8)     when s ends in more than 1
//   ADD(%y, RESHAPE(RESCALE(%x : i8, i32), s))    =>  ADD(%y, RESCALE(RESHAPE(%x, s), i32))
//
// CAST as RESCALE; only where the inner one has no other user and the scale is one of the whole tensor. Reshapes move
// nothing and go first only to widen the last dim, by which accelerators work, and out of the way between a rescale
// and arithmetic, which accelerators do in one.
class NarrowMovement final : public RewritePass {
 public:
  explicit NarrowMovement(const Context& context) {
    const auto add = [&](std::string_view name, std::vector<Op>& ops) {
      if (const Op op = TosaOps::Find(context, name); op.has_value()) {
        ops.push_back(op);
        targets_.push_back(op);
      }
    };
    for (const std::string_view name : {"REVERSE", "SLICE", "TILE", "TRANSPOSE"}) add(name, movements_);
    for (const std::string_view name : {"CAST", "RESCALE"}) add(name, conversions_);
    add("RESHAPE", reshape_);
    for (const std::string_view name : {"ADD", "MAXIMUM", "MINIMUM", "MUL", "SUB"})
      if (const Op op = TosaOps::Find(context, name); op.has_value()) arithmetic_.push_back(op);
    if (targets_.empty()) targets_.push_back(Op{});
  }
  std::string_view name() const override { return "narrow-movement"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node inner = node.operand(0);
    if (inner.num_operands() == 0 || inner.num_uses() != 1 || !inner.is_tensor()) return absl::OkStatus();
    if (Is(reshape_, node)) {
      // Sums of 48 bits do not move at all.
      if (!IsConversion(inner) || BitsOf(inner.operand(0).tensor().dtype) > 32) return absl::OkStatus();
      const bool widens_last = LastExtent(inner) == 1 && LastExtent(node) > 1;
      if (!widens_last && !BetweenRescaleAndArithmetic(node, inner)) return absl::OkStatus();
      return Swap(node, inner, rw, inner.operand(0).quant());
    }
    const bool moves_first = Is(movements_, inner) && IsConversion(node);
    if (!moves_first && !(Is(movements_, node) && IsConversion(inner))) return absl::OkStatus();
    // What a movement moves now, and what it would.
    const Node source = inner.operand(0);
    const int now = BitsOf(inner.tensor().dtype);
    const int then = moves_first ? BitsOf(node.tensor().dtype) : BitsOf(source.tensor().dtype);
    if (then >= now) return absl::OkStatus();
    return Swap(node, inner, rw, moves_first ? node.quant() : source.quant());
  }

 private:
  // node(inner(x)) as inner(node(x)), where the target has both for those dtypes: it moves no 48-bit sums, say.
  // `quant` is what the integers of the new inner one mean.
  static absl::Status Swap(Node node, Node inner, Rewriter& rw, QuantId quant) {
    const std::vector<ArgInit> args = ArgsOn(rw, node, inner, inner.operand(0));
    if (!rw.Infer(node.op(), ArgList(args)).ok()) return absl::OkStatus();
    TARE_ASSIGN_OR_RETURN(const Node first, rw.InsertBefore(node, node.op(), ArgList(args), node.name()));
    rw.SetQuant(first, rw.context().quants.Get(quant));
    return rw.Redefine(node, inner.op(), ArgList(ArgsOn(rw, inner, inner.operand(0), first)));
  }

  bool BetweenRescaleAndArithmetic(Node node, Node inner) const {
    if (BitsOf(inner.operand(0).tensor().dtype) >= BitsOf(inner.tensor().dtype)) return false;
    const std::vector<Node> users = node.users();
    return !users.empty() && std::all_of(users.begin(), users.end(), [&](Node user) { return Is(arithmetic_, user); });
  }

  static int64_t LastExtent(Node node) {
    const std::span<const Dim> shape = node.tensor().shape;
    return shape.empty() || !shape.back().is_static() ? 0 : shape.back().value();
  }

  static bool Is(const std::vector<Op>& ops, Node node) {
    return std::find(ops.begin(), ops.end(), node.op()) != ops.end();
  }

  bool IsConversion(Node node) const { return Is(conversions_, node) && !IsPerChannel(node); }

  std::vector<Op> movements_, conversions_, reshape_, arithmetic_, targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeNarrowMovement(Context& context, const PassOptions& options) {
  return MakeRewrite<NarrowMovement>(context, options);
}

}  // namespace tare
