// The rule function einsum(equation, tensors) -> tensor.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "meta/functions.h"

namespace tare {

// Errors: InvalidArgument [einsum_c1] … [einsum_c7].
absl::StatusOr<Value> EinsumFunction(RuleContext& rc, std::span<const Value> values);

}  // namespace tare
