// In what order elements lie in memory where values enter the part of a program that a target runs.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "backends/tosa/legality.h"
#include "ir/inferrer.h"
#include "ir/program.h"

namespace tare {

// A .tosa file has no strides: its tensors are row-major. User inputs that only TOSA operators outside of `outside`
// read are declared so; other values of another order, channels-last say, are cloned into it before the first such
// operator. Constants are written row-major whatever their strides. Cost: linear in nodes.
absl::Status SettleMemoryOrder(Program& program, Inferrer& inferrer, const std::vector<Outside>& outside);

}  // namespace tare
