#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/elementwise.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/rescales.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/status.h"

namespace tare {
namespace {

// How an op that does not care about the order of dims has to be rewritten for another order.
enum class Care : uint8_t {
  kNone,     // elementwise
  kAxis,     // argument `axis` names a dim
  kPerDim,   // lists with one value per dim
  kPadding,  // a list with two values per dim
};

struct CareRow {
  std::string_view op;
  Care care;
  std::string_view lists[2] = {};
};

constexpr CareRow kRows[] = {
    {"CONCAT", Care::kAxis},
    {"PAD", Care::kPadding, {"padding"}},
    {"REDUCE_ALL", Care::kAxis},
    {"REDUCE_ANY", Care::kAxis},
    {"REDUCE_MAX", Care::kAxis},
    {"REDUCE_MIN", Care::kAxis},
    {"REDUCE_PRODUCT", Care::kAxis},
    {"REDUCE_SUM", Care::kAxis},
    {"REVERSE", Care::kAxis},
    {"SLICE", Care::kPerDim, {"start", "size"}},
    {"TILE", Care::kPerDim, {"multiples"}},
};
constexpr CareRow kElementwiseRow = {"", Care::kNone};

// What a boundary costs: a transposition moves elements, a reshape does not.
constexpr int kTransposeCost = 8, kReshapeCost = 1;
constexpr size_t kMaxCandidates = 8;  // orders tried per region

// Moves whole regions into the order of dims that needs the fewest transpositions.
//
//   %a = TRANSPOSE(%x, p); %b = TRANSPOSE(%y, p); %c = ADD(%a, %b); %d = TRANSPOSE(%c, inverse of p)
//     =>  %d = ADD(%x, %y)
//
// A region is a connected set of ops that do not care about the order. Orders are tried that make some transposition
// at its boundary vanish; transpositions at other places of the boundary are the price. Constants are free.
class PropagateLayout final : public GraphPass {
 public:
  explicit PropagateLayout(const Context& context) : ops_(context) {
    for (const Op op : ElementwiseOps(context)) rows_[op] = &kElementwiseRow;
    for (const CareRow& row : kRows)
      if (const Op op = TosaOps::Find(context, row.op); op.has_value()) rows_[op] = &row;
    targets_.push_back(ops_.transpose);
  }
  std::string_view name() const override { return "propagate-layout"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Run(Rewriter& rw) const override {
    absl::flat_hash_map<NodeId, uint32_t> position;
    std::vector<NodeId> order;
    for (const NodeId id : rw.graph().nodes())
      if (RowOf(rw, rw.node(id)) != nullptr) {
        position.emplace(id, order.size());
        order.push_back(id);
      }
    std::vector<uint32_t> parent(order.size());
    for (uint32_t i = 0; i < parent.size(); ++i) parent[i] = i;
    const auto root = [&](uint32_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    for (uint32_t i = 0; i < order.size(); ++i)
      for (const NodeId operand : rw.graph().operands(order[i]))
        if (const auto it = position.find(operand); it != position.end()) {
          const uint32_t a = root(it->second), b = root(i);
          parent[std::max(a, b)] = std::min(a, b);
        }
    std::map<uint32_t, std::vector<NodeId>> regions;
    for (uint32_t i = 0; i < order.size(); ++i) regions[root(i)].push_back(order[i]);
    for (const auto& [first, nodes] : regions) TARE_RETURN_IF_ERROR(Improve(rw, nodes));
    return absl::OkStatus();
  }

 private:
  using Perms = std::vector<int64_t>;

  // A node that may stand in a region.
  const CareRow* RowOf(Rewriter& rw, Node node) const {
    const auto it = rows_.find(node.op());
    if (it == rows_.end() || !node.is_tensor() || node.num_uses() == 0) return nullptr;
    const size_t rank = node.tensor().shape.size();
    if (rank < 2 || !StaticShape(node.tensor()).has_value()) return nullptr;
    if (node.op() == ops_.rescale && IsPerChannel(node)) return nullptr;
    for (const std::string_view list : it->second->lists)
      if (!list.empty() && !node.has_constant_ints(list)) return nullptr;
    // The FP profile alone does not transpose integers, and none transposes the sums of 48 bits that RESCALE takes.
    if (!MayTranspose(rw, node) || (node.op() == ops_.rescale && !MayTranspose(rw, node.operand(0)))) return nullptr;
    return it->second;
  }

  bool MayTranspose(Rewriter& rw, Node node) const {
    if (!IsInteger(node.tensor().dtype)) return true;
    return rw.Infer(ops_.transpose, {{"input", node}, {"perms", Order(node.tensor().shape.size())}}).ok();
  }

  static Perms Order(size_t rank) {
    Perms order(rank);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  static bool IsTable(Node user, Node operand) {
    const Node table = user.arg("table");
    return table.has_value() && table == operand;
  }

  // Cost of `value`, whose order of dims changes by `perms`.
  static int CostOf(Node value, std::span<const int64_t> perms) {
    if (IsIdentity(perms)) return 0;
    return MovesOnlyOnes(*StaticShape(value.tensor()), perms) ? kReshapeCost : kTransposeCost;
  }

  struct Boundary {
    std::vector<Node> inputs;   // distinct values from outside, constants excepted
    std::vector<Node> outputs;  // nodes of the region that something outside uses
    absl::flat_hash_set<NodeId> inside;
  };

  Boundary BoundaryOf(Rewriter& rw, const std::vector<NodeId>& nodes) const {
    Boundary b;
    b.inside.insert(nodes.begin(), nodes.end());
    absl::flat_hash_set<NodeId> seen;
    for (const NodeId id : nodes) {
      const Node node = rw.node(id);
      for (int i = 0; i < node.num_operands(); ++i) {
        const Node operand = node.operand(i);
        if (b.inside.contains(operand.id()) || IsTable(node, operand) || operand.constant() != nullptr) continue;
        if (seen.insert(operand.id()).second) b.inputs.push_back(operand);
      }
      for (const Node user : node.users())
        if (!b.inside.contains(user.id())) {
          b.outputs.push_back(node);
          break;
        }
    }
    return b;
  }

  // Of all transpositions at the boundary when the region is in order `perms` of its present one.
  int Cost(const Boundary& b, const Perms& perms) const {
    const bool moved = !IsIdentity(perms);
    int cost = 0;
    for (const Node input : b.inputs) {
      if (input.op() != ops_.transpose) {
        if (moved) cost += CostOf(input, perms);
        continue;
      }
      bool stays = false;
      for (const Node user : input.users()) stays = stays || !b.inside.contains(user.id());
      const Perms own = input.ints("perms");
      if (stays || !moved) cost += CostOf(input.arg("input"), own);
      if (moved) cost += CostOf(input.arg("input"), ComposePerms(own, perms));
    }
    const Perms back = InversePerms(perms);
    for (const Node output : b.outputs) {
      const std::vector<int64_t> shape = *StaticShape(output.tensor());
      std::vector<int64_t> turned;
      for (const int64_t axis : perms) turned.push_back(shape[axis]);
      const auto price = [&](const Perms& p) {
        return IsIdentity(p) ? 0 : MovesOnlyOnes(turned, p) ? kReshapeCost : kTransposeCost;
      };
      bool plain = false;
      for (const Node user : output.users()) {
        if (b.inside.contains(user.id())) continue;
        if (user.op() == ops_.transpose) {
          cost += price(ComposePerms(back, user.ints("perms")));
        } else {
          plain = true;
        }
      }
      if (plain) cost += price(back);
    }
    return cost;
  }

  absl::Status Improve(Rewriter& rw, const std::vector<NodeId>& nodes) const {
    const Boundary boundary = BoundaryOf(rw, nodes);
    std::vector<Perms> candidates;
    const auto propose = [&](Perms perms) {
      if (candidates.size() < kMaxCandidates &&
          std::find(candidates.begin(), candidates.end(), perms) == candidates.end())
        candidates.push_back(std::move(perms));
    };
    for (const Node input : boundary.inputs)
      if (input.op() == ops_.transpose) propose(InversePerms(input.ints("perms")));
    for (const Node output : boundary.outputs)
      for (const Node user : output.users())
        if (user.op() == ops_.transpose) propose(user.ints("perms"));
    if (candidates.empty()) return absl::OkStatus();
    // Ranks differ where a region holds an op of another rank; such a region stays.
    const size_t rank = rw.node(nodes[0]).tensor().shape.size();
    for (const NodeId id : nodes) {
      const Node node = rw.node(id);
      if (node.tensor().shape.size() != rank) return absl::OkStatus();
      for (int i = 0; i < node.num_operands(); ++i)
        if (!IsTable(node, node.operand(i)) &&
            (!node.operand(i).is_tensor() || node.operand(i).tensor().shape.size() != rank ||
             !StaticShape(node.operand(i).tensor()).has_value()))
          return absl::OkStatus();
    }
    Perms identity(rank);
    for (size_t i = 0; i < rank; ++i) identity[i] = static_cast<int64_t>(i);
    int best_cost = Cost(boundary, identity);
    const Perms* best = nullptr;
    for (const Perms& perms : candidates) {
      const int cost = Cost(boundary, perms);
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = &perms;
    }
    return best == nullptr ? absl::OkStatus() : Apply(rw, nodes, boundary, *best);
  }

  // Copies the region in its new order beside the old one, which nobody uses then.
  absl::Status Apply(Rewriter& rw, const std::vector<NodeId>& nodes, const Boundary& boundary,
                     const Perms& perms) const {
    absl::flat_hash_map<NodeId, Node> moved;
    for (const NodeId id : nodes) {
      const Node node = rw.node(id);
      for (int i = 0; i < node.num_operands(); ++i) {
        const Node operand = node.operand(i);
        if (moved.contains(operand.id()) || IsTable(node, operand)) continue;
        TARE_ASSIGN_OR_RETURN(const Node turned,
                              rw.InsertBefore(node, ops_.transpose, {{"input", operand}, {"perms", perms}}));
        moved.emplace(operand.id(), turned);
      }
      TARE_ASSIGN_OR_RETURN(const Node copy, CopyOf(rw, node, perms, moved));
      rw.SetQuant(copy, rw.context().quants.Get(node.quant()));
      moved.emplace(id, copy);
    }
    const Perms back = InversePerms(perms);
    for (const Node output : boundary.outputs) {
      TARE_ASSIGN_OR_RETURN(const Node turned, rw.InsertBefore(output, ops_.transpose,
                                                               {{"input", moved.at(output.id())}, {"perms", back}}));
      rw.SetQuant(turned, rw.context().quants.Get(output.quant()));
      for (const Node user : output.users()) {
        if (boundary.inside.contains(user.id()) || user.op() != ops_.transpose) continue;
        if (!rw.graph().Contains(user.id())) continue;
        TARE_RETURN_IF_ERROR(
            rw.Redefine(user, ops_.transpose,
                        {{"input", moved.at(output.id())}, {"perms", ComposePerms(back, user.ints("perms"))}}));
      }
      TARE_RETURN_IF_ERROR(rw.ReplaceUses(output, turned));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Node> CopyOf(Rewriter& rw, Node node, const Perms& perms,
                              const absl::flat_hash_map<NodeId, Node>& moved) const {
    const CareRow& row = *rows_.at(node.op());
    std::vector<ArgInit> args;
    for (const NamedAttr& attr : rw.context().attrs.Get(rw.graph().attrs(node.id()))) {
      const auto turn = [&](Node operand) {
        const auto it = moved.find(operand.id());
        return it == moved.end() ? operand : it->second;
      };
      if (attr.value.kind == AttrKind::kOperand) {
        args.emplace_back(attr.name, turn(node.arg(attr.name)));
      } else if (attr.value.kind == AttrKind::kList && attr.name == "input1") {
        std::vector<Node> list = node.arg_list(attr.name);
        for (Node& operand : list) operand = turn(operand);
        args.emplace_back(attr.name, std::move(list));
      } else if (row.care == Care::kAxis && attr.name == "axis") {
        args.emplace_back(attr.name, InversePerms(perms)[attr.value.integer]);
      } else if (row.care != Care::kNone && (attr.name == row.lists[0] || attr.name == row.lists[1])) {
        args.emplace_back(attr.name, Turned(node.ints(attr.name), perms));
      } else {
        args.emplace_back(attr.name, attr.value);
      }
    }
    return rw.InsertBefore(node, node.op(), ArgList(args), node.name());
  }

  // Values per dim in the new order; k values for each dim stay together.
  static std::vector<int64_t> Turned(const std::vector<int64_t>& values, const Perms& perms) {
    const size_t each = values.size() / perms.size();
    std::vector<int64_t> turned;
    for (const int64_t axis : perms)
      for (size_t k = 0; k < each; ++k)
        turned.push_back(values[axis * static_cast<int64_t>(each) + static_cast<int64_t>(k)]);
    return turned;
  }

  TosaOps ops_;
  absl::flat_hash_map<Op, const CareRow*> rows_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakePropagateLayout(Context& context, const PassOptions& options) {
  return MakeGraph<PropagateLayout>(context, options);
}

}  // namespace tare
