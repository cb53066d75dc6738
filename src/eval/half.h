// f16 and bf16: kernels never see them. Operands are widened to f32 before a call, results rounded after it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/tensor.h"
#include "ir/context.h"

namespace tare {

inline DType WidenedDType(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype; }

// Copies share elements where nothing is to be widened.
absl::StatusOr<std::vector<Value>> WidenHalves(std::span<const Value> values,
                                               const std::shared_ptr<MemoryBudget>& budget);
// Rounds f32 tensors to nearest even where `meta` says f16 or bf16.
absl::Status NarrowHalves(const Context& context, const Meta& meta, Value& value,
                          const std::shared_ptr<MemoryBudget>& budget);

}  // namespace tare
