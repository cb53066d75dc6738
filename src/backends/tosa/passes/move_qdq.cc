#include <algorithm>
#include <vector>

#include "backends/tosa/affine.h"
#include "backends/tosa/arguments.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/element_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/status.h"

namespace tare {
namespace {

// Ops that give elements by places that another tensor names.
constexpr std::string_view kPicks[] = {
    "aten.embedding.default",
    "aten.gather.default",
    "aten.index_select.default",
};

// Ops whose second tensor gives a shape, and how they are called with that shape.
struct ShapeTaker {
  std::string_view takes, given, argument;
};
constexpr ShapeTaker kShapeTakers[] = {
    {"aten.expand_as.default", "aten.expand.default", "size"},
    {"aten.reshape_as.default", "aten.reshape.default", "shape"},
    {"aten.view_as.default", "aten.view.default", "size"},
};

// Moves integers rather than the reals they stand for, where decompositions left more than one op between a
// dequantize and a quantize.
//
//   relu(view(dequantize(%x)))          =>  relu(dequantize(view(%x)))
//   quantize(view(addmm(%x, %w, %b)))   =>  view(quantize(addmm(%x, %w, %b)))
//
//   quantize(mul(embedding(%w, %i), %m))        =>  where(%m, embedding(quantize(%w), %i), 0)     of a mask %m
//
// Parameters of the whole tensor only. One op between both is left to the pass that lowers it. An op that takes no more
// than the shape of a second tensor is written with that shape before.
class MoveQdq final : public GraphPass {
 public:
  explicit MoveQdq(const Context& context)
      : qdq_(context),
        movement_(FindOps(context, kMovingOps)),
        picks_(FindOps(context, kPicks)),
        mul_(context.ops.Find("aten.mul.Tensor")),
        where_(context.ops.Find("aten.where.ScalarOther")) {
    const Op clone = context.ops.Find("dim_order_ops._clone_dim_order.default");
    if (clone.has_value()) movement_.push_back(clone);
    targets_ = qdq_.quantize;
    targets_.insert(targets_.end(), qdq_.dequantize.begin(), qdq_.dequantize.end());
  }
  std::string_view name() const override { return "move-qdq"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Run(Rewriter& rw) const override {
    TARE_RETURN_IF_ERROR(GiveShapes(rw));
    TARE_RETURN_IF_ERROR(SelectByMasks(rw));
    std::vector<NodeId> nodes;
    for (const NodeId id : rw.graph().nodes())
      if (Moves(rw.node(id)) || Chooses(rw.node(id))) nodes.push_back(id);
    for (const NodeId id : nodes)
      if (Moves(rw.node(id))) TARE_RETURN_IF_ERROR(Dequantize(rw.node(id), rw));
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if (Moves(rw.node(*it)) || Chooses(rw.node(*it))) TARE_RETURN_IF_ERROR(Quantize(rw.node(*it), rw));
    return absl::OkStatus();
  }

 private:
  absl::Status GiveShapes(Rewriter& rw) const {
    for (const ShapeTaker& row : kShapeTakers) {
      const Op takes = rw.context().ops.Find(row.takes), given = rw.context().ops.Find(row.given);
      if (!takes.has_value() || !given.has_value()) continue;
      for (const NodeId id : rw.graph().nodes()) {
        const Node node = rw.node(id);
        if (node.op() != takes) continue;
        const auto shape = StaticShape(node.tensor());
        if (!shape.has_value()) continue;
        TARE_RETURN_IF_ERROR(rw.Redefine(node, given, {{"self", node.arg("self")}, {row.argument, *shape}}));
      }
    }
    return absl::OkStatus();
  }

  // A product of a mask and reals that are quantised before or after chooses between these and 0.
  absl::Status SelectByMasks(Rewriter& rw) const {
    if (!mul_.has_value() || !where_.has_value()) return absl::OkStatus();
    for (const NodeId id : rw.graph().nodes()) {
      const Node node = rw.node(id);
      if (node.op() != mul_ || node.num_operands() != 2 || !node.is_tensor() || !IsFloating(node.tensor().dtype))
        continue;
      Node mask = node.operand(1), reals = node.operand(0);
      if (mask.is_tensor() && mask.tensor().dtype != DType::kBool) std::swap(mask, reals);
      if (!mask.is_tensor() || mask.tensor().dtype != DType::kBool || !reals.is_tensor() ||
          reals.tensor().dtype != node.tensor().dtype)
        continue;
      const std::vector<Node> users = node.users();
      const auto quantizes = [&](Node user) { return qdq_.IsQuantize(user.op()); };
      if (users.empty() || !std::all_of(users.begin(), users.end(), quantizes)) continue;
      TARE_RETURN_IF_ERROR(rw.Redefine(node, where_, {{"condition", mask}, {"self", reals}, {"other", 0.0}}));
    }
    return absl::OkStatus();
  }

  // Takes elements of one tensor by others.
  bool Chooses(Node node) const {
    if (!node.is_tensor() || !StaticShape(node.tensor()).has_value() || !IsFloating(node.tensor().dtype)) return false;
    if (node.op() == where_ && where_.has_value())
      return node.arg("self").is_tensor() && node.number("other").has_value() &&
             node.arg("self").tensor().dtype == node.tensor().dtype;
    return std::find(picks_.begin(), picks_.end(), node.op()) != picks_.end();
  }

  bool Moves(Node node) const {
    if (std::find(movement_.begin(), movement_.end(), node.op()) == movement_.end()) return false;
    if (!node.is_tensor() || !StaticShape(node.tensor()).has_value() || node.num_operands() != 1) return false;
    const Node source = node.operand(0);
    return source.is_tensor() && source.tensor().dtype == node.tensor().dtype;
  }

  bool IsPerTensor(Rewriter& rw, Node node) const {
    const std::optional<Affine> affine = qdq_.Read(rw.context(), node);
    return affine.has_value() && affine->per_tensor() && node.num_operands() == 1;
  }

  // `node`, which has one operand, on `source`, before `place`.
  static absl::StatusOr<Node> CopyOn(Rewriter& rw, Node node, Node source, Node place) {
    return rw.InsertBefore(place, node.op(), ArgList(ArgsOn(rw, node, node.operand(0), source)), node.name());
  }

  // A dequantize before `node` moves behind it.
  absl::Status Dequantize(Node node, Rewriter& rw) const {
    const Node source = node.operand(0);
    if (!qdq_.IsDequantize(source.op()) || !IsPerTensor(rw, source)) return absl::OkStatus();
    const std::vector<Node> users = node.users();
    const auto quantizes = [&](Node user) { return qdq_.IsQuantize(user.op()); };
    if (std::all_of(users.begin(), users.end(), quantizes) || rw.StorageOf(node).mutated) return absl::OkStatus();
    TARE_ASSIGN_OR_RETURN(const Node moved, CopyOn(rw, node, source.operand(0), node));
    return rw.Redefine(node, source.op(), ArgList(ArgsOn(rw, source, source.operand(0), moved)));
  }

  // The quantizes behind `node` move before it.
  absl::Status Quantize(Node node, Rewriter& rw) const {
    const bool chooses = Chooses(node), by_mask = node.op() == where_;
    const Node source = by_mask ? node.arg("self") : node.operand(0);
    const bool is_constant = chooses && source.constant() != nullptr;
    if (qdq_.IsDequantize(source.op()) || (source.op() == op::placeholder && !is_constant)) return absl::OkStatus();
    const std::vector<Node> users = node.users();
    const auto quantizes = [&](Node user) { return qdq_.IsQuantize(user.op()) && IsPerTensor(rw, user); };
    if (users.empty() || !std::all_of(users.begin(), users.end(), quantizes)) return absl::OkStatus();
    const std::vector<Node> others = source.users();
    const auto may = [&](Node user) {
      return is_constant || user == node || Moves(user) || qdq_.IsQuantize(user.op());
    };
    if (!std::all_of(others.begin(), others.end(), may) || rw.StorageOf(node).mutated) return absl::OkStatus();
    for (const Node user : users) {
      TARE_ASSIGN_OR_RETURN(const Node code, CopyOn(rw, user, source, node));
      std::vector<ArgInit> args = ArgsOn(rw, node, source, code);
      if (by_mask) {
        const int64_t other = QuantizeOne(*qdq_.Read(rw.context(), user), *node.number("other"));
        args = {{"condition", node.arg("condition")}, {"self", code}, {"other", other}};
      }
      // The last one is the node itself, so that what is said of it, as that it has to stay, goes on.
      if (user == users.back()) {
        TARE_RETURN_IF_ERROR(rw.Redefine(node, node.op(), ArgList(args)));
        TARE_RETURN_IF_ERROR(rw.ReplaceUses(user, node));
        continue;
      }
      TARE_ASSIGN_OR_RETURN(const Node moved, rw.InsertBefore(node, node.op(), ArgList(args), node.name()));
      TARE_RETURN_IF_ERROR(rw.ReplaceUses(user, moved));
    }
    return absl::OkStatus();
  }

  QdqOps qdq_;
  std::vector<Op> movement_, picks_, targets_;
  Op mul_, where_;
};

}  // namespace

absl::StatusOr<Pass> MakeMoveQdq(Context& context, const PassOptions& options) {
  return MakeGraph<MoveQdq>(context, options);
}

}  // namespace tare
