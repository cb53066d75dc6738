// Targets of nodes (`torch.ops.aten.add.Tensor`) and names of ops (`aten.add.Tensor`).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tare::pt2 {

enum class TargetKind {
  kOperator,     // torch.ops.NAMESPACE.NAME.OVERLOAD: a schema, unless nobody here knows it
  kHigherOrder,  // torch.ops.higher_order.NAME
  kScalar,       // _operator.add, torch.sym_max, math.trunc: on numbers
  kExtension,    // #NAMESPACE:NAME
  kFunction,     // a known Python function
};
struct Target {
  TargetKind kind = TargetKind::kOperator;
  std::string_view name_space;  // of kOperator
  std::string name;             // of the op
};

// Errors: InvalidArgument [graph_c5] not the target of an operator.
absl::StatusOr<Target> ParseTarget(std::string_view target);
// Whether PyTorch has this overload, `add.Tensor`, in its namespace aten.
bool IsAtenOverload(std::string_view name);
// The way back.
std::string TargetOf(std::string_view op_name);
TargetKind KindOf(std::string_view op_name);

}  // namespace tare::pt2
