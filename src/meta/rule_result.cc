// Results of rules as interned metadata, within the limits of meta.h.
#include <optional>

#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/rule_eval.h"
#include "meta/rule_operators.h"

namespace tare {
namespace {

constexpr int kMaxNesting = 8;  // of tuples and lists

bool IsNegative(RuleContext& rc, Dim dim) { return !dim.is_static() && rc.syms().Constant(dim).value_or(0) < 0; }

absl::StatusOr<MetaId> InternTensor(RuleContext& rc, const TensorMeta& tensor) {
  if (tensor.shape.size() > static_cast<size_t>(kMaxRank)) {
    return InvalidError("rank_limit", "rank ", tensor.shape.size(), " exceeds ", kMaxRank);
  }
  int64_t elements = 1;
  bool overflow = false, empty = false;
  for (Dim dim : tensor.shape) {
    if (!dim.is_valid()) return InvalidError("overflow", "a size does not fit 64 bits");
    if (dim.is_static()) {
      empty |= dim == 0;
      if (dim != 0) overflow |= __builtin_mul_overflow(elements, dim.value(), &elements) || elements > kMaxElements;
    } else if (const auto constant = rc.syms().Constant(dim); constant && *constant < 0) {
      return InvalidError("negative_size", "the result would have size ", *constant);
    }
  }
  if (overflow && !empty) return InvalidError("numel_overflow", "the result has too many elements");
  for (Dim stride : tensor.strides) {
    if (!stride.is_valid()) return InvalidError("overflow", "a stride does not fit 64 bits");
    if (IsNegative(rc, stride)) {
      return InvalidError("negative_stride", "the result would have the stride ", rc.syms().Print(stride));
    }
  }
  if (!tensor.offset.is_valid()) return InvalidError("overflow", "the storage offset does not fit 64 bits");
  if (IsNegative(rc, tensor.offset)) {
    return InvalidError("negative_offset", "the result would begin at ", rc.syms().Print(tensor.offset));
  }
  return rc.context().metas.Tensor(tensor);
}

absl::StatusOr<MetaId> Intern(RuleContext& rc, const Value& value, int depth) {
  MetaStore& metas = rc.context().metas;
  switch (value.kind) {
    case ValueKind::kTensor:
      return InternTensor(rc, *value.tensor);
    case ValueKind::kNone:
      return metas.None();
    case ValueKind::kInt:
      if (!value.dim.is_valid()) return InvalidError("overflow", "the result does not fit 64 bits");
      return metas.Int(value.dim);
    case ValueKind::kFloat:
      return metas.Float(rc.syms().Float(value.real));
    case ValueKind::kSymFloat:
      if (!value.expr.has_value()) return InvalidError("overflow", "the result has no value");
      return metas.Float(value.expr);
    case ValueKind::kBool:
      return metas.Bool(rc.syms().Bool(value.flag));
    case ValueKind::kSymBool:
      if (!value.expr.has_value()) return InvalidError("overflow", "the result has no value");
      return metas.Bool(value.expr);
    case ValueKind::kString:
      return metas.String(value.text());
    case ValueKind::kInts:
    case ValueKind::kList:
    case ValueKind::kTuple: {
      if (depth > kMaxNesting) return InvalidError("rule_c9", "the result is nested too deep");
      llvm::SmallVector<MetaId, 8> items;
      for (size_t i = 0; i < LengthOf(value); ++i) {
        TARE_ASSIGN_OR_RETURN(const MetaId item, Intern(rc, ItemOf(value, i), depth + 1));
        items.push_back(item);
      }
      return value.kind == ValueKind::kTuple ? metas.Tuple(items) : metas.List(items);
    }
    default:
      return InvalidError("rule_c8", rc.Print(value), " is no result");
  }
}

}  // namespace

absl::StatusOr<MetaId> InternResult(RuleContext& rc, const Value& result) { return Intern(rc, result, 0); }

}  // namespace tare
