// Calls and their values as text: what a table of tests is made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/tensor.h"

namespace tare {

inline constexpr std::string_view kTestSpec = "TOSA-1.1+INT+FP+int16+int4+bf16+fft+shape";

// `i8[2,2] 1 2 3 4`, `f32[] nan`, `bool[2] true false`; a single value fills the tensor.
absl::StatusOr<Tensor> ParseTensor(std::string_view text);
std::string PrintTensor(const Tensor& tensor);
// Tensors apart by `; `, numbers as they are, `none`.
std::string PrintValue(const Value& value);

// Evaluates `op(%a, %b, …)` on inputs named %a, %b, … in order; a quantisation column may follow the call.
// `error: id` when it fails.
std::string RunCall(std::string_view call, const std::vector<std::string_view>& inputs,
                    std::string_view spec = kTestSpec);
// The same of a program in text form without metadata.
std::string RunProgram(std::string_view text, const std::vector<std::string_view>& inputs,
                       std::string_view spec = kTestSpec);

}  // namespace tare
