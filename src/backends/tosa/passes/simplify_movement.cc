#include <algorithm>
#include <optional>

#include "backends/tosa/arguments.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/elementwise.h"
#include "backends/tosa/factors.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/rescales.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/status.h"

namespace tare {
namespace {

// Joins and drops ops that only say where elements are.
//
//   TRANSPOSE(TRANSPOSE(%x, p), q)                     =>  TRANSPOSE(%x, p o q)
//   RESHAPE(RESHAPE(%x, s), t)                         =>  RESHAPE(%x, t)
//   TRANSPOSE that moves only dims of extent 1         =>  RESHAPE
//   the identity                                       =>  %x
//   SLICE(SLICE(%x, a, s), b, t)                       =>  SLICE(%x, a + b, t)
//   TRANSPOSE(RESHAPE(TRANSPOSE(%x, p), s), q)         =>  TRANSPOSE(RESHAPE(%x, s'), r)
//                                                      where dims stay in blocks, else, in dims that all share,
//                                                          RESHAPE(TRANSPOSE(RESHAPE(%x, s'), r), s")
//   TRANSPOSE(RESHAPE(CLAMP(TRANSPOSE(%x, p)), s), q)  =>  RESHAPE(CLAMP(%x), t)          where both undo each other
//   TRANSPOSE(RESHAPE(REDUCE_SUM(%x), s), p)           =>  RESHAPE(TRANSPOSE(REDUCE_SUM(%x), q), t)
//                                                      where s drops the dim of extent 1
class SimplifyMovement final : public RewritePass {
 public:
  explicit SimplifyMovement(const Context& context)
      : ops_(context),
        targets_{ops_.reshape, ops_.transpose, ops_.slice},
        reductions_{ops_.reduce_all, ops_.reduce_any,     ops_.reduce_max,
                    ops_.reduce_min, ops_.reduce_product, ops_.reduce_sum},
        elementwise_(ElementwiseOps(context)) {}
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
    if (const std::optional<Chain> chain = ChainBefore(node)) return Join(node, *chain, rw);
    if (const std::optional<Undone> undone = UndoneBefore(node)) {
      Node value = undone->source;
      for (auto it = undone->functions.rbegin(); it != undone->functions.rend(); ++it) {
        const std::vector<ArgInit> args = ArgsOn(rw, *it, it->operand(0), value);
        TARE_ASSIGN_OR_RETURN(const Node moved, rw.InsertBefore(node, it->op(), ArgList(args), it->name()));
        rw.SetQuant(moved, rw.context().quants.Get(it->quant()));
        value = moved;
      }
      const std::vector<int64_t> after = *StaticShape(node.tensor());
      return rw.Redefine(node, ops_.reshape, {{"input1", value}, {"shape", after}});
    }
    if (const std::optional<std::vector<int64_t>> early = BeforeDropped(x, perms)) {
      const std::vector<int64_t> after = *StaticShape(node.tensor());
      TARE_ASSIGN_OR_RETURN(const Node first,
                            rw.InsertBefore(node, ops_.transpose, {{"input", x.arg("input1")}, {"perms", *early}}));
      return rw.Redefine(node, ops_.reshape, {{"input1", first}, {"shape", after}});
    }
    return rw.Redefine(node, ops_.transpose, {{"input", x}, {"perms", perms}});
  }

  // Functions of each element between movements that undo each other, the last first.
  struct Undone {
    Node source;
    std::vector<Node> functions;
  };
  std::optional<Undone> UndoneBefore(Node last) const {
    constexpr size_t kMostSteps = 16;
    std::vector<Node> chain = {last};
    Node source = last.arg("input");
    while (source.num_uses() == 1 && chain.size() < kMostSteps &&
           (source.op() == ops_.transpose || source.op() == ops_.reshape || IsFunction(source))) {
      chain.push_back(source);
      source = source.operand(0);
    }
    while (chain.size() > 1 && chain.back().op() != ops_.transpose) {
      source = chain.back();  // what comes before the first transposition stays
      chain.pop_back();
    }
    const auto shape = StaticShape(source.tensor());
    if (chain.size() < 2 || !shape.has_value()) return std::nullopt;
    Undone undone{source, {}};
    Factors factors(*shape);
    if (!Follow(chain, factors)) return std::nullopt;
    for (const Node step : chain)
      if (step.op() != ops_.transpose && step.op() != ops_.reshape) undone.functions.push_back(step);
    if (undone.functions.empty() || !IsIdentity(factors.Narrowest().perms)) return std::nullopt;
    return undone;
  }
  // Where the movements of `chain`, the last first, bring the factors. False when they cannot be followed.
  bool Follow(const std::vector<Node>& chain, Factors& factors) const {
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
      const auto next = StaticShape(it->tensor());
      if (!next.has_value()) return false;
      if (it->op() == ops_.transpose) factors.Transpose(it->ints("perms"));
      if (it->op() == ops_.reshape && !factors.Reshape(*next)) return false;
    }
    return true;
  }
  bool IsFunction(Node node) const {
    return Is(elementwise_, node) && !IsPerChannel(node) && (node.num_operands() == 1 || node.op() == ops_.table);
  }

  // Whether a reduction made the extent of `dim` 1, with arithmetic on each element behind it.
  bool IsReduced(Node x, int64_t dim) const {
    constexpr int kMostSteps = 8;
    for (int step = 0; step < kMostSteps && x.num_operands() > 0; ++step) {
      if (Is(reductions_, x)) {
        if (x.integer("axis") == dim) return true;
      } else if (!Is(elementwise_, x)) {
        return false;
      }
      x = x.operand(0);
    }
    return false;
  }
  static bool Is(const std::vector<Op>& ops, Node node) {
    return std::find(ops.begin(), ops.end(), node.op()) != ops.end();
  }

  // The transposition of what a reshape takes, when the reshape only drops dims that were reduced and nobody else uses
  // it: so it may meet the transposition before the reduction.
  std::optional<std::vector<int64_t>> BeforeDropped(Node reshape, const std::vector<int64_t>& perms) const {
    if (reshape.op() != ops_.reshape || reshape.num_uses() != 1) return std::nullopt;
    const auto after = StaticShape(reshape.tensor()), before = StaticShape(reshape.arg("input1").tensor());
    if (!after.has_value() || !before.has_value() || before->size() <= after->size() || before->size() > kMaxRank)
      return std::nullopt;
    std::vector<int64_t> own;  // dims of `before` that are those of `after`
    for (size_t i = 0; i < before->size(); ++i)
      if (own.size() < after->size() && (*before)[i] == (*after)[own.size()]) own.push_back(static_cast<int64_t>(i));
    if (own.size() != after->size()) return std::nullopt;
    std::vector<int64_t> early;
    for (const int64_t axis : perms) early.push_back(own[static_cast<size_t>(axis)]);
    for (size_t i = 0; i < before->size(); ++i) {
      const auto dim = static_cast<int64_t>(i);
      if (std::find(own.begin(), own.end(), dim) != own.end()) continue;
      if ((*before)[i] != 1 || !IsReduced(reshape.arg("input1"), dim)) return std::nullopt;
      early.push_back(dim);
    }
    return early;
  }

  // Movements of one value that nobody else uses, up to and with a transposition.
  struct Chain {
    Node source;
    Movement movement;
  };
  std::optional<Chain> ChainBefore(Node last) const {
    std::vector<Node> chain = {last};
    size_t transposes = 0;
    Node source = last.arg("input");
    while (source.num_uses() == 1 && (source.op() == ops_.transpose || source.op() == ops_.reshape)) {
      chain.push_back(source);
      transposes += source.op() == ops_.transpose ? 1 : 0;
      source = source.arg(source.op() == ops_.transpose ? "input" : "input1");
    }
    while (!chain.empty() && chain.back().op() == ops_.reshape) {
      source = chain.back();  // a reshape alone at the beginning stays
      chain.pop_back();
    }
    if (transposes == 0) return std::nullopt;
    const auto shape = StaticShape(source.tensor());
    if (!shape.has_value()) return std::nullopt;
    Factors factors(*shape);
    if (!Follow(chain, factors)) return std::nullopt;
    Chain joined{source, factors.Narrowest()};
    if (joined.movement.extents.size() > kMaxRank) return std::nullopt;
    return joined;
  }

  absl::Status Join(Node node, const Chain& chain, Rewriter& rw) const {
    const std::vector<int64_t> shape = *StaticShape(node.tensor());
    TARE_ASSIGN_OR_RETURN(
        Node moved, rw.InsertBefore(node, ops_.reshape, {{"input1", chain.source}, {"shape", chain.movement.extents}}));
    if (!IsIdentity(chain.movement.perms)) {
      TARE_ASSIGN_OR_RETURN(moved,
                            rw.InsertBefore(node, ops_.transpose, {{"input", moved}, {"perms", chain.movement.perms}}));
    }
    return rw.Redefine(node, ops_.reshape, {{"input1", moved}, {"shape", shape}});
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
    if (x.op() == ops_.transpose && x.users().size() == 1 && FeedsTranspose(node)) {
      if (const std::optional<Swapped> swapped = Swap(x, *shape)) {
        TARE_ASSIGN_OR_RETURN(
            const Node first,
            rw.InsertBefore(node, ops_.reshape, {{"input1", x.arg("input")}, {"shape", swapped->shape}}));
        return rw.Redefine(node, ops_.transpose, {{"input", first}, {"perms", swapped->perms}});
      }
    }
    return rw.Redefine(node, ops_.reshape, {{"input1", x}, {"shape", *shape}});
  }

  bool FeedsTranspose(Node node) const {
    const std::vector<Node> users = node.users();
    return !users.empty() &&
           std::all_of(users.begin(), users.end(), [&](Node user) { return user.op() == ops_.transpose; });
  }

  // RESHAPE(TRANSPOSE(x), after) as a transposition by `perms` of a reshape to `shape`.
  struct Swapped {
    std::vector<int64_t> shape, perms;
  };
  static std::optional<Swapped> Swap(Node transpose, const std::vector<int64_t>& after) {
    const std::optional<std::vector<int64_t>> source = StaticShape(transpose.arg("input").tensor());
    if (!source.has_value()) return std::nullopt;
    const std::vector<int64_t> perms = transpose.ints("perms");
    // Blocks of dims that become blocks of dims: the smallest with equal products.
    struct Block {
      size_t first_source = 0, sources = 0, first_result = 0, results = 0;
    };
    std::vector<Block> blocks;
    size_t i = 0, j = 0;
    while (i < perms.size() && j < after.size()) {
      Block block{static_cast<size_t>(perms[i]), 0, j, 0};
      const size_t begin = i;
      int64_t old_product = (*source)[perms[i++]], new_product = after[j++];
      while (old_product != new_product) {
        if (old_product < new_product ? i == perms.size() : j == after.size()) return std::nullopt;
        if (old_product < new_product) {
          old_product *= (*source)[perms[i++]];
        } else {
          new_product *= after[j++];
        }
      }
      block.sources = i - begin;
      block.results = j - block.first_result;
      for (size_t k = 0; k < block.sources; ++k)
        if (perms[begin + k] != perms[begin] + static_cast<int64_t>(k)) return std::nullopt;
      blocks.push_back(block);
    }
    if (i < perms.size() || blocks.empty()) return std::nullopt;
    blocks.back().results += after.size() - j;  // dims of extent 1
    std::vector<size_t> order(blocks.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return blocks[a].first_source < blocks[b].first_source; });
    Swapped swapped;
    swapped.perms.resize(after.size());
    for (const size_t k : order)
      for (size_t r = 0; r < blocks[k].results; ++r) {
        swapped.perms[blocks[k].first_result + r] = static_cast<int64_t>(swapped.shape.size());
        swapped.shape.push_back(after[blocks[k].first_result + r]);
      }
    return swapped;
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

  static constexpr size_t kMaxRank = 6;  // of TOSA tensors

  TosaOps ops_;
  std::vector<Op> targets_, reductions_, elementwise_;
};

}  // namespace

absl::StatusOr<Pass> MakeSimplifyMovement(Context& context, const PassOptions& options) {
  return MakeRewrite<SimplifyMovement>(context, options);
}

}  // namespace tare
