#include <cmath>
#include <cstdint>

#include "ir/context.h"
#include "meta/op_names.h"
#include "passes/builtin_passes.h"

namespace tare {
namespace {

struct QdqOps {
  Op quantize, dequantize;
  bool per_channel;
};

constexpr QdqOps kPairs[] = {
    {op::quantized_decomposed_quantize_per_tensor_default, op::quantized_decomposed_dequantize_per_tensor_default,
     false},
    {op::quantized_decomposed_quantize_per_tensor_tensor, op::quantized_decomposed_dequantize_per_tensor_tensor, false},
    {op::quantized_decomposed_quantize_per_channel_default, op::quantized_decomposed_dequantize_per_channel_default,
     true},
};

// Drops a dequantize and the quantize after it when their parameters are equal.
//
//   %f = dequantize(%q, s, z);  %r = quantize(%f, s, z);  use(%r)   =>   use(%q)
//
// Exact: with 16 bits or fewer, rounding brings every code back to itself. Codes outside of
// [quant_min, quant_max] would be clamped, so %q must be known to have none.
class CancelQdq final : public RewritePass {
 public:
  explicit CancelQdq(const Context&) {
    for (const QdqOps& pair : kPairs) targets_.push_back(pair.quantize);
  }
  std::string_view name() const override { return "cancel-qdq"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node quantize, Rewriter& rw) const override {
    const QdqOps* pair = kPairs;
    while (pair->quantize != quantize.op()) ++pair;
    const Node dequantize = quantize.arg("input");
    if (!dequantize.has_value() || dequantize.op() != pair->dequantize) return absl::OkStatus();
    const Node source = dequantize.arg("input");
    if (!source.has_value() || !source.is_tensor() || source.meta() != quantize.meta()) return absl::OkStatus();
    if (pair->per_channel) {
      if (!SameArg(quantize, dequantize, "scales") || !SameArg(quantize, dequantize, "zero_points") ||
          quantize.integer("axis") != dequantize.integer("axis"))
        return absl::OkStatus();
    } else if (!SameArg(quantize, dequantize, "scale") || !SameArg(quantize, dequantize, "zero_point")) {
      return absl::OkStatus();
    }
    if (!SameArg(quantize, dequantize, "quant_min") || !SameArg(quantize, dequantize, "quant_max"))
      return absl::OkStatus();
    if (dequantize.tensor().dtype != DType::kF32 && dequantize.tensor().dtype != DType::kF64) return absl::OkStatus();
    if (!IsInRange(source, quantize)) return absl::OkStatus();
    if (!rw.CanForwardCopy(quantize, source)) return absl::OkStatus();
    return rw.ReplaceUses(quantize, source);
  }

 private:
  static bool SameArg(Node a, Node b, std::string_view name) {
    const AttrValue& x = a.attr(name);
    const AttrValue& y = b.attr(name);
    if (x.kind == AttrKind::kOperand || y.kind == AttrKind::kOperand) {
      const Node p = a.arg(name), q = b.arg(name);
      return p.has_value() && p == q;
    }
    if (x.kind == AttrKind::kFloat && (!std::isfinite(x.real) || x.real <= 0)) return false;
    return !x.is_none() && x == y;
  }

  // Every code of `source` is between quant_min and quant_max of `quantize`.
  bool IsInRange(Node source, Node quantize) const {
    const DType dtype = source.tensor().dtype;
    if (!IsInteger(dtype) || BitsOf(dtype) > 16) return false;
    const std::optional<int64_t> low = quantize.integer("quant_min"), high = quantize.integer("quant_max");
    if (!low.has_value() || !high.has_value()) return false;
    const bool is_signed = dtype == DType::kI4 || dtype == DType::kI8 || dtype == DType::kI16;
    const int bits = BitsOf(dtype);
    const int64_t min = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t max = is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
    if (*low <= min && *high >= max) return true;
    for (const Op op : targets_) {
      if (source.op() != op) continue;
      return source.integer("quant_min").value_or(INT64_MIN) >= *low &&
             source.integer("quant_max").value_or(INT64_MAX) <= *high;
    }
    return false;
  }

  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeCancelQdq(Context& context, const PassOptions& options) {
  return MakeRewrite<CancelQdq>(context, options);
}

}  // namespace tare
