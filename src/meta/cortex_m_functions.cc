// Functions only the cortex_m and dim_order dialects use.
// Source: ExecuTorch 1.5.1, backends/cortex_m/passes/passes_utils.py.
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/rule_context.h"

namespace tare {
namespace {

absl::StatusOr<Value> ChannelsLastStrides(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const auto shape = args.Ints(0);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const auto strides, FormatStrides(rc, shape, MemoryFormat::kChannelsLast));
  return Value::Ints(strides);
}

// Rank 4 and: one channel, or one pixel, or N and H are the two outermost dims in memory.
absl::StatusOr<bool> CountsAsChannelsLast(RuleContext& rc, const TensorMeta& tensor) {
  if (tensor.shape.size() != 4) return false;
  const Dim one = Dim::Static(1);
  if (rc.EqualOrFalse(tensor.shape[1], one)) return true;
  if (rc.EqualOrFalse(tensor.shape[2], one) && rc.EqualOrFalse(tensor.shape[3], one)) return true;
  // C and W lie inside H, and H inside N.
  const auto& strides = tensor.strides;
  TARE_ASSIGN_OR_RETURN(const bool h_in_n, rc.LessEqual(strides[2], strides[0]));
  TARE_ASSIGN_OR_RETURN(const bool c_in_h, rc.Less(strides[1], strides[2]));
  TARE_ASSIGN_OR_RETURN(const bool w_in_h, rc.LessEqual(strides[3], strides[2]));
  return h_in_n && c_in_h && w_in_h;
}

absl::StatusOr<Value> CountsAsChannelsLastFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& tensor = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const bool answer, CountsAsChannelsLast(rc, tensor));
  return Value::Bool(answer);
}

// Equal ranks, both channels-last, equal channels, and one of them has nothing but channels.
absl::StatusOr<Value> ChannelBroadcast(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta &a = args.Tensor(0), &b = args.Tensor(1);
  TARE_RETURN_IF_ERROR(args.status());
  for (const TensorMeta* tensor : {&a, &b}) {
    TARE_ASSIGN_OR_RETURN(const bool last, CountsAsChannelsLast(rc, *tensor));
    if (!last) return Value::Bool(false);
  }
  TARE_ASSIGN_OR_RETURN(const bool same, rc.Equal(a.shape[1], b.shape[1]));
  return Value::Bool(
      same && (rc.EqualOrFalse(Numel(rc, a.shape), a.shape[1]) || rc.EqualOrFalse(Numel(rc, b.shape), b.shape[1])));
}

constexpr RuleFunctionRow kRows[] = {
    {"channel_broadcast", "channel_broadcast(x, x) -> bool",
     "Both are channels-last with equal channels and one has nothing but channels.", 2, 2, ChannelBroadcast},
    {"channels_last_strides", "channels_last_strides(shape) -> strides", "Strides of a channels-last tensor of rank 4.",
     1, 1, ChannelsLastStrides},
    {"counts_as_channels_last", "counts_as_channels_last(x) -> bool",
     "Rank 4 with one channel, one pixel, or channels-last strides.", 1, 1, CountsAsChannelsLastFunction},
};

}  // namespace

std::span<const RuleFunctionRow> CortexMFunctions() { return kRows; }

}  // namespace tare
