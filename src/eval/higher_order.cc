// Ops with bodies. Source: torch/_higher_order_ops.
#include "eval/graph_run.h"
#include "ir/status.h"

namespace tare {

absl::StatusOr<Value> RunHigherOrder(Evaluation&, std::string_view op, std::span<const NamedAttr>,
                                     std::span<const Value>, int) {
  return UnimplementedError("eval_c10", "no kernel evaluates ", op);
}

}  // namespace tare
