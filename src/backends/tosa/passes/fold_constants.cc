#include <algorithm>
#include <memory>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "eval/eval.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr int64_t kMaxFoldedBytes = int64_t{1} << 31;
constexpr int64_t kSmallBytes = 1 << 14;  // results up to this size may be larger than what they are made of

// Computes ahead of time what depends on constants alone.
//
//   TRANSPOSE(%weight, [0, 2, 3, 1])   =>   a constant
//
// Any pure op with a reference kernel. A result larger than its operands stays an op, unless it is small. What
// dequantises stays too: it says what the integers behind it mean. With `keep_rescales`, for accelerators that do a
// rescale within its user and fall back to 32-bit arithmetic for a wide constant, a rescale to int32 stays.
class FoldConstants final : public GraphPass {
 public:
  FoldConstants(const Context& context, bool keep_rescales)
      : qdq_(context), rescale_(keep_rescales ? TosaOps::Find(context, "RESCALE") : Op{}) {}
  std::string_view name() const override {
    return rescale_.has_value() ? "fold-constants(keep_rescales=true)" : "fold-constants";
  }
  std::span<const Op> targets() const override { return {}; }

  absl::Status Run(Rewriter& rw) const override {
    for (NodeId id = rw.graph().first(); id.has_value();) {
      const Node node = rw.node(id);
      id = rw.graph().next(id);
      TARE_RETURN_IF_ERROR(Fold(node, rw));
    }
    return absl::OkStatus();
  }

 private:
  static bool IsFoldable(const Context& context, Op op) {
    const uint16_t traits = context.ops.Get(op).traits;
    return (traits & kPure) != 0 && (traits & (kMutates | kRandom | kHigherOrder | kPseudo | kDeclared)) == 0;
  }

  bool Stays(Node node) const {
    return rescale_.has_value() && node.op() == rescale_ && node.tensor().dtype == DType::kI32 &&
           BitsOf(node.operand(0).tensor().dtype) <= 16;
  }

  absl::Status Fold(Node node, Rewriter& rw) const {
    const Context& context = rw.context();
    if (node.num_operands() == 0 || !node.is_tensor() || node.num_uses() == 0) return absl::OkStatus();
    for (int i = 0; i < node.num_operands(); ++i)
      if (node.operand(i).op() != op::placeholder) return absl::OkStatus();
    if (!IsFoldable(context, node.op()) || qdq_.IsDequantize(node.op())) return absl::OkStatus();
    if (Stays(node)) return absl::OkStatus();
    if (rw.graph_id() != GraphId{0} || !CanEvaluate(context, node.op())) return absl::OkStatus();
    const auto count = ElementCount(node.tensor());
    const int64_t bytes = StoredBytesOf(node.tensor().dtype);
    if (!count.has_value() || bytes == 0 || *count > kMaxFoldedBytes / bytes) return absl::OkStatus();
    if (rw.StorageOf(node).mutated) return absl::OkStatus();

    std::vector<const Constant*> constants;
    int64_t source_bytes = 0;
    for (int i = 0; i < node.num_operands(); ++i) {
      const Constant* constant = node.operand(i).constant();
      if (constant == nullptr || constant->payload.missing || !node.operand(i).is_tensor()) return absl::OkStatus();
      source_bytes +=
          ElementCount(node.operand(i).tensor()).value_or(0) * StoredBytesOf(node.operand(i).tensor().dtype);
      constants.push_back(constant);
    }
    if (*count * bytes > std::max(2 * source_bytes, kSmallBytes)) return absl::OkStatus();
    std::vector<Value> operands;
    for (const Constant* constant : constants) {
      absl::StatusOr<Tensor> tensor = ConstantTensor(context, *constant);
      if (!tensor.ok()) return absl::OkStatus();  // left to whoever needs the bytes
      operands.push_back(Value(*std::move(tensor)));
    }
    const absl::StatusOr<Value> value =
        EvaluateCall(context, node.op(), rw.graph().attrs(node.id()), operands, node.quant(), node.meta());
    if (!value.ok() || value->kind != ValueKind::kTensor) return absl::OkStatus();
    const std::span<const std::byte> result = value->tensor.bytes();
    if (static_cast<int64_t>(result.size()) != *count * bytes) return absl::OkStatus();
    const std::string name(constants[0]->name);
    TARE_ASSIGN_OR_RETURN(
        const Node folded,
        rw.AddConstant(name, DenseMeta(rw.context(), node.tensor().dtype, *StaticShape(node.tensor())),
                       std::vector<std::byte>(result.begin(), result.end())));
    return rw.ReplaceUses(node, folded);
  }

  QdqOps qdq_;
  Op rescale_;  // no value: no rescale stays
};

}  // namespace

absl::StatusOr<Pass> MakeFoldConstants(Context& context, const PassOptions& options) {
  bool keep_rescales = false;
  for (const auto& [name, value] : options) {
    const bool* given = std::get_if<bool>(&value);
    if (name != "keep_rescales" || given == nullptr)
      return InvalidError("pass_c2", "fold-constants has one option, keep_rescales = true or false, not ", name);
    keep_rescales = *given;
  }
  return Pass(std::shared_ptr<const GraphPass>(std::make_shared<const FoldConstants>(context, keep_rescales)));
}

}  // namespace tare
