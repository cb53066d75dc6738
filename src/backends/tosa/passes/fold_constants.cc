#include <algorithm>
#include <memory>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "eval/eval.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

constexpr int64_t kMaxFoldedBytes = int64_t{1} << 31;
constexpr int64_t kSmallBytes = 1 << 14;           // results up to this size may be larger than what they are made of
constexpr int kMaxInnerNodes = 16, kMaxDepth = 8;  // between constants and a quantisation that is folded

// Computes ahead of time what depends on constants alone.
//
//   TRANSPOSE(%weight, [0, 2, 3, 1])   =>   a constant
//
// Any pure op with a reference kernel. A result larger than its operands stays an op, unless it is small. What
// dequantises stays too: it says what the integers behind it mean; but integers that come of such values through
// floating point, quantize(op(dequantize(constant))), are constants. With `keep_rescales`, for accelerators that do a
// rescale within its user and fall back to 32-bit arithmetic for a wide constant, a rescale to int32 stays.
class FoldConstants final : public GraphPass {
 public:
  FoldConstants(const Context& context, bool keep_rescales)
      : qdq_(context),
        reshape_(TosaOps::Find(context, "RESHAPE")),
        rescale_(keep_rescales ? TosaOps::Find(context, "RESCALE") : Op{}) {}
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
    Context& context = rw.context();
    if (node.num_operands() == 0 || !node.is_tensor() || node.num_uses() == 0) return absl::OkStatus();
    if (rw.graph_id() != GraphId{0}) return absl::OkStatus();
    if (qdq_.IsDequantize(node.op()) || Stays(node) || rw.StorageOf(node).mutated) return absl::OkStatus();
    Sources sources;
    sources.inner_left = qdq_.IsQuantize(node.op()) ? kMaxInnerNodes : 0;
    if (!ComesOfConstants(context, node, kMaxDepth, sources)) return absl::OkStatus();
    if (BytesOf(node) > std::max(2 * sources.bytes, kSmallBytes)) return absl::OkStatus();
    Payload payload;
    if (IsReshaped(context, node)) {
      payload = node.operand(0).constant()->payload;
    } else {
      const std::optional<Tensor> value = TensorOf(node, rw);
      if (!value.has_value() || value->size_bytes() != BytesOf(node)) return absl::OkStatus();
      payload.owner = value->owner();
      payload.bytes = value->bytes();
    }
    const TensorMeta meta = DenseMeta(context, node.tensor().dtype, *StaticShape(node.tensor()));
    TARE_ASSIGN_OR_RETURN(const Node folded, rw.AddConstant(sources.name, meta, payload));
    return rw.ReplaceUses(node, folded);
  }

  // The bytes of a constant under another shape.
  bool IsReshaped(const Context& context, Node node) const {
    if (node.op() != reshape_ || node.operand(0).op() != op::placeholder) return false;
    const TensorMeta& source = node.operand(0).tensor();
    return source.dtype != DType::kBool && source.offset == 0 && IsContiguous(context, source) &&
           static_cast<int64_t>(node.operand(0).constant()->payload.bytes.size()) == BytesOf(node);
  }

  // The constants that a value is computed of.
  struct Sources {
    int inner_left = 0;  // nodes that may lie between
    int64_t bytes = 0;
    std::string name;  // of the first
  };

  // 0: not known, or too many.
  static int64_t BytesOf(Node node) {
    const auto count = ElementCount(node.tensor());
    const int64_t bytes = StoredBytesOf(node.tensor().dtype);
    return !count.has_value() || bytes == 0 || *count > kMaxFoldedBytes / bytes ? 0 : *count * bytes;
  }

  bool ComesOfConstants(const Context& context, Node node, int depth, Sources& sources) const {
    if (node.op() == op::placeholder) {
      const Constant* constant = node.constant();
      if (constant == nullptr || constant->payload.missing || !node.is_tensor()) return false;
      if (sources.name.empty()) sources.name = constant->name;
      sources.bytes += BytesOf(node);
      return true;
    }
    if (depth == 0 || node.num_operands() == 0 || !node.is_tensor() || BytesOf(node) == 0) return false;
    if (node.op() == op::getitem) node = node.operand(0);  // one of several results
    if (node.num_operands() == 0 || !IsFoldable(context, node.op()) || !CanEvaluate(context, node.op())) return false;
    for (int i = 0; i < node.num_operands(); ++i) {
      const bool inner = node.operand(i).op() != op::placeholder;
      if (inner && sources.inner_left-- == 0) return false;
      if (!ComesOfConstants(context, node.operand(i), depth - 1, sources)) return false;
    }
    return true;
  }

  // Nothing where a kernel refuses: left to whoever needs the elements.
  std::optional<Tensor> TensorOf(Node node, Rewriter& rw) const {
    if (node.op() == op::placeholder) {
      absl::StatusOr<Tensor> tensor = ConstantTensor(rw.context(), *node.constant());
      return tensor.ok() ? std::optional<Tensor>(*std::move(tensor)) : std::nullopt;
    }
    if (node.op() == op::getitem) {
      const std::optional<Value> all = ValueOf(node.operand(0), rw);
      const auto index = static_cast<size_t>(node.integer("index").value_or(-1));
      if (!all.has_value() || all->kind != ValueKind::kList || index >= all->items.size() ||
          all->items[index].kind != ValueKind::kTensor)
        return std::nullopt;
      return all->items[index].tensor;
    }
    std::optional<Value> value = ValueOf(node, rw);
    if (!value.has_value() || value->kind != ValueKind::kTensor) return std::nullopt;
    return std::move(value->tensor);
  }

  std::optional<Value> ValueOf(Node node, Rewriter& rw) const {
    std::vector<Value> operands;
    for (int i = 0; i < node.num_operands(); ++i) {
      std::optional<Tensor> operand = TensorOf(node.operand(i), rw);
      if (!operand.has_value()) return std::nullopt;
      operands.push_back(Value(*std::move(operand)));
    }
    absl::StatusOr<Value> value =
        EvaluateCall(rw.context(), node.op(), rw.graph().attrs(node.id()), operands, node.quant(), node.meta());
    if (!value.ok()) return std::nullopt;
    return *std::move(value);
  }

  QdqOps qdq_;
  Op reshape_;
  Op rescale_;  // no value: no rescale stays
};

}  // namespace

absl::StatusOr<Pass> MakeFoldConstants(Context& context, const PassOptions& options) {
  TARE_ASSIGN_OR_RETURN(const bool keep_rescales, OnlyFlag(options, "fold-constants", "keep_rescales"));
  return Pass(std::shared_ptr<const GraphPass>(std::make_shared<const FoldConstants>(context, keep_rescales)));
}

}  // namespace tare
