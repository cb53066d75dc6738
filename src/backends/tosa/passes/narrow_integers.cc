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

// Writes 64-bit integers as 32-bit ones, which TOSA has: constants whose values fit, casts to i64, and user inputs,
// each behind a cast which the edge of the program takes over.
//
//   embedding(%w, %ids : i64)  =>  %c = _to_copy(%ids, i32);  embedding(%w, %c)
//
// What an op computes from them is taken to fit as well. Ops that give i64 whatever they are given stay.
class NarrowIntegers final : public GraphPass {
 public:
  explicit NarrowIntegers(const Context& context) : casts_(FindOps(context, kCasts)), copy_(casts_[0]) {}
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
      if (!IsWide(input) || input.num_uses() == 0) continue;
      if (specs[i].kind == InputKind::kUser) {
        TARE_RETURN_IF_ERROR(NarrowInput(input, rw.node(first), rw));
      } else {
        TARE_RETURN_IF_ERROR(NarrowConstant(input, rw));
      }
    }
    for (NodeId id = rw.graph().first(); id.has_value(); id = rw.graph().next(id)) {
      const Node node = rw.node(id);
      if (std::find(casts_.begin(), casts_.end(), node.op()) == casts_.end() || !IsWide(node)) continue;
      const AttrValue& dtype = node.attr("dtype");
      if (dtype.kind != AttrKind::kDType) continue;
      TARE_RETURN_IF_ERROR(rw.Amend(node, {{"dtype", AttrValue::OfDType(DType::kI32)}}));
    }
    return absl::OkStatus();
  }

 private:
  static bool IsWide(Node node) { return node.is_tensor() && node.tensor().dtype == DType::kI64; }

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
  Op copy_;
};

}  // namespace

absl::StatusOr<Pass> MakeNarrowIntegers(Context& context, const PassOptions& options) {
  return MakeGraph<NarrowIntegers>(context, options);
}

}  // namespace tare
