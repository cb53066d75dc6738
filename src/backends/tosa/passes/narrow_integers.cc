#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/element_ops.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

// Ops that take 32-bit integers as well as 64-bit ones, beside those that move elements. What comes out of another is
// not narrowed, nor what goes in.
constexpr std::string_view kEither[] = {
    "aten.__and__.Tensor",
    "aten.__or__.Tensor",
    "aten._to_copy.default",
    "aten.abs.default",
    "aten.add.Scalar",
    "aten.add.Tensor",
    "aten.bitwise_and.Scalar",
    "aten.bitwise_and.Tensor",
    "aten.bitwise_not.default",
    "aten.bitwise_or.Scalar",
    "aten.bitwise_or.Tensor",
    "aten.bitwise_xor.Scalar",
    "aten.bitwise_xor.Tensor",
    "aten.clamp.default",
    "aten.clamp_max.default",
    "aten.clamp_min.default",
    "aten.div.Scalar_mode",
    "aten.div.Tensor_mode",
    "aten.eq.Scalar",
    "aten.eq.Tensor",
    "aten.floor_divide.default",
    "aten.fmod.Scalar",
    "aten.fmod.Tensor",
    "aten.ge.Scalar",
    "aten.ge.Tensor",
    "aten.gt.Scalar",
    "aten.gt.Tensor",
    "aten.le.Scalar",
    "aten.le.Tensor",
    "aten.logical_and.default",
    "aten.logical_not.default",
    "aten.logical_or.default",
    "aten.logical_xor.default",
    "aten.lt.Scalar",
    "aten.lt.Tensor",
    "aten.meshgrid.indexing",
    "aten.mul.Scalar",
    "aten.mul.Tensor",
    "aten.ne.Scalar",
    "aten.ne.Tensor",
    "aten.neg.default",
    "aten.relu.default",
    "aten.remainder.Scalar",
    "aten.remainder.Tensor",
    "aten.rsub.Scalar",
    "aten.sign.default",
    "aten.sub.Scalar",
    "aten.sub.Tensor",
    "aten.to.dtype",
    "aten.to.dtype_layout",
    "dim_order_ops._to_dim_order_copy.default",
};

// Ops that make 64-bit integers of others; lower-composite writes them as 32-bit ones where a cast follows.
constexpr std::string_view kSources[] = {
    "aten.argmax.default", "aten.argmin.default", "aten.count_nonzero.default", "aten.count_nonzero.dim_IntList",
    "aten.cumsum.default", "aten.sum.default",    "aten.sum.dim_IntList",
};

// Pairs of values and 64-bit places.
constexpr std::string_view kPairs[] = {"aten.max.dim", "aten.min.dim"};

// Writes 64-bit integers as 32-bit ones, which TOSA has: constants whose values fit, casts to i64, and user inputs,
// each behind a cast which the edge of the program takes over.
//
//   embedding(%w, %ids : i64)  =>  %c = _to_copy(%ids, i32);  embedding(%w, %c)
//
// What an op computes from them is taken to fit as well. Ops that give i64 whatever they are given stay.
class NarrowIntegers final : public GraphPass {
 public:
  explicit NarrowIntegers(const Context& context)
      : casts_(FindOps(context, kCastOps)),
        sources_(FindOps(context, kSources)),
        pairs_(FindOps(context, kPairs)),
        copy_(casts_[0]) {
    for (const auto& names :
         {std::span<const std::string_view>(kEither), std::span<const std::string_view>(kMovingOps),
          std::span<const std::string_view>(kPickingOps), std::span<const std::string_view>(kJoiningOps)})
      for (const Op op : FindOps(context, names)) either_.insert(op);
    either_.insert(sources_.begin(), sources_.end());
  }
  std::string_view name() const override { return "narrow-integers"; }
  std::span<const Op> targets() const override { return {}; }

  absl::Status Run(Rewriter& rw) const override {
    if (!(rw.graph_id() == GraphId{0}) || !copy_.has_value()) return absl::OkStatus();
    NodeId first = rw.graph().first();
    while (first.has_value() && rw.graph().op(first) == op::placeholder) first = rw.graph().next(first);
    if (!first.has_value()) return absl::OkStatus();
    const std::vector<NodeId> inputs(rw.graph().inputs().begin(), rw.graph().inputs().end());
    // New constants move the entries of the signature.
    const std::vector<InputSpec> specs = rw.program().inputs;
    for (size_t i = 0; i < inputs.size() && i < specs.size(); ++i) {
      const Node input = rw.node(inputs[i]);
      if (!IsWide(input) || input.num_uses() == 0 || !MayNarrow(input, rw)) continue;
      if (specs[i].kind == InputKind::kUser) {
        TARE_RETURN_IF_ERROR(NarrowInput(input, rw.node(first), rw));
      } else {
        TARE_RETURN_IF_ERROR(NarrowConstant(input, rw));
      }
    }
    for (NodeId id = rw.graph().first(); id.has_value(); id = rw.graph().next(id)) {
      const Node node = rw.node(id);
      if (!IsWide(node)) continue;
      const auto is = [](Node one, const std::vector<Op>& ops) {
        return std::find(ops.begin(), ops.end(), one.op()) != ops.end();
      };
      const bool makes = is(node, sources_) || (node.op() == op::getitem && is(node.operand(0), pairs_));
      if ((!makes && !is(node, casts_)) || !MayNarrow(node, rw)) continue;
      if (makes) {
        TARE_RETURN_IF_ERROR(NarrowSource(node, rw));
        continue;
      }
      const AttrValue& dtype = node.attr("dtype");
      if (dtype.kind != AttrKind::kDType) continue;
      TARE_RETURN_IF_ERROR(rw.Amend(node, {{"dtype", AttrValue::OfDType(DType::kI32)}}));
    }
    return absl::OkStatus();
  }

 private:
  static bool IsWide(Node node) { return node.is_tensor() && node.tensor().dtype == DType::kI64; }

  // Whether everything that the integers of `source` reach takes 32 bits: all users, and those of their 64-bit results.
  bool MayNarrow(Node source, Rewriter& rw) const {
    std::vector<NodeId> queue = {source.id()};
    absl::flat_hash_set<NodeId> seen = {source.id()};
    while (!queue.empty()) {
      const Node node = rw.node(queue.back());
      queue.pop_back();
      for (const Node user : node.users()) {
        if (!either_.contains(user.op()) || rw.StorageOf(user).mutated) return false;
        if (IsWide(user) && seen.insert(user.id()).second) queue.push_back(user.id());
      }
    }
    return true;
  }

  absl::Status NarrowInput(Node input, Node first, Rewriter& rw) const {
    if (rw.StorageOf(input).mutated || !StaticShape(input.tensor()).has_value()) return absl::OkStatus();
    bool narrow_already = true;
    for (const Node user : input.users()) {
      if (user.op() == op::output) return absl::OkStatus();
      narrow_already = narrow_already && user.op() == copy_ && user.tensor().dtype == DType::kI32;
    }
    if (narrow_already) return absl::OkStatus();
    TARE_ASSIGN_OR_RETURN(const Node narrow,
                          rw.InsertBefore(first, copy_, {{"self", input}, {"dtype", AttrValue::OfDType(DType::kI32)}}));
    return rw.ReplaceUses(input, narrow);
  }

  absl::Status NarrowSource(Node node, Rewriter& rw) const {
    const NodeId next = rw.graph().next(node.id());
    if (!next.has_value() || node.num_uses() == 0) return absl::OkStatus();
    TARE_ASSIGN_OR_RETURN(
        const Node narrow,
        rw.InsertBefore(rw.node(next), copy_, {{"self", node}, {"dtype", AttrValue::OfDType(DType::kI32)}}));
    return rw.ReplaceUses(node, narrow);
  }

  static absl::Status NarrowConstant(Node input, Rewriter& rw) {
    const Constant* constant = input.constant();
    const auto shape = StaticShape(input.tensor());
    if (constant == nullptr || !shape.has_value()) return absl::OkStatus();
    for (const Node user : input.users())
      if (user.op() == op::output) return absl::OkStatus();
    const auto values = ReadIntegers(rw.context(), *constant);
    if (!values.has_value()) return absl::OkStatus();
    for (const int64_t value : *values)
      if (value < INT32_MIN || value > INT32_MAX) return absl::OkStatus();
    const std::string name(constant->name);
    TARE_ASSIGN_OR_RETURN(const Node narrow, AddIntegers(rw, name, DType::kI32, *shape, *values));
    return rw.ReplaceUses(input, narrow);
  }

  std::vector<Op> casts_, sources_, pairs_;
  absl::flat_hash_set<Op> either_;
  Op copy_;
};

}  // namespace

absl::StatusOr<Pass> MakeNarrowIntegers(Context& context, const PassOptions& options) {
  return MakeGraph<NarrowIntegers>(context, options);
}

}  // namespace tare
