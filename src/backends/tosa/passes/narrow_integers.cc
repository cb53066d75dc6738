#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr std::string_view kCasts[] = {"aten._to_copy.default", "aten.to.dtype", "aten.to.dtype_layout"};

// Ops that take 32-bit integers as well as 64-bit ones. What comes out of another is not narrowed, nor what goes in.
constexpr std::string_view kEither[] = {
    "aten.__and__.Tensor",     "aten._to_copy.default",   "aten.abs.default",
    "aten.add.Scalar",         "aten.add.Tensor",         "aten.alias.default",
    "aten.bitwise_and.Tensor", "aten.bitwise_or.Tensor",  "aten.cat.default",
    "aten.clamp.default",      "aten.clone.default",      "aten.contiguous.default",
    "aten.embedding.default",  "aten.eq.Scalar",          "aten.eq.Tensor",
    "aten.expand.default",     "aten.flatten.using_ints", "aten.gather.default",
    "aten.ge.Scalar",          "aten.ge.Tensor",          "aten.gt.Scalar",
    "aten.gt.Tensor",          "aten.index.Tensor",       "aten.index_select.default",
    "aten.le.Scalar",          "aten.le.Tensor",          "aten.logical_and.default",
    "aten.lt.Scalar",          "aten.lt.Tensor",          "aten.masked_fill.Scalar",
    "aten.maximum.default",    "aten.minimum.default",    "aten.mul.Scalar",
    "aten.mul.Tensor",         "aten.ne.Scalar",          "aten.ne.Tensor",
    "aten.neg.default",        "aten.permute.default",    "aten.reshape.default",
    "aten.select.int",         "aten.slice.Tensor",       "aten.squeeze.dim",
    "aten.squeeze.dims",       "aten.sub.Scalar",         "aten.sub.Tensor",
    "aten.to.device",          "aten.to.dtype",           "aten.to.dtype_layout",
    "aten.transpose.int",      "aten.unsqueeze.default",  "aten.view.default",
    "aten.where.ScalarOther",  "aten.where.self",
};

// Writes 64-bit integers as 32-bit ones, which TOSA has: constants whose values fit, casts to i64, and user inputs,
// each behind a cast which the edge of the program takes over.
//
//   embedding(%w, %ids : i64)  =>  %c = _to_copy(%ids, i32);  embedding(%w, %c)
//
// What an op computes from them is taken to fit as well. Ops that give i64 whatever they are given stay.
class NarrowIntegers final : public GraphPass {
 public:
  explicit NarrowIntegers(const Context& context) : casts_(FindOps(context, kCasts)), copy_(casts_[0]) {
    for (const Op op : FindOps(context, kEither)) either_.insert(op);
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
      if (std::find(casts_.begin(), casts_.end(), node.op()) == casts_.end() || !IsWide(node)) continue;
      if (!MayNarrow(node, rw)) continue;
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

  std::vector<Op> casts_;
  absl::flat_hash_set<Op> either_;
  Op copy_;
};

}  // namespace

absl::StatusOr<Pass> MakeNarrowIntegers(Context& context, const PassOptions& options) {
  return MakeGraph<NarrowIntegers>(context, options);
}

}  // namespace tare
