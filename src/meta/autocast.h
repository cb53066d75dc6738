// Automatic mixed precision: what a body under autocast does to the arguments of its ops.
#pragma once

#include <span>
#include <string_view>

#include "ir/dtype.h"
#include "meta/rule_context.h"

namespace tare {

enum class AutocastPolicy : uint8_t { kNone, kLower, kF32, kWidest };

// Of an op on CPUs. Source: aten/src/ATen/autocast_mode.h, the lists for CPU.
AutocastPolicy AutocastPolicyOf(std::string_view op_name);

// `args` as the op gets them under autocast to `dtype`: floating tensors other than f64 are cast. kWidest
// casts to f32 where one of them is f32.
std::span<const Value> Autocast(RuleContext& rc, AutocastPolicy policy, DType dtype, std::span<const Value> args);

}  // namespace tare
