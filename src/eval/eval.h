// Reference execution: what a program computes, node by node, on the CPU.
//
// Integer TOSA operators answer bit for bit as the TOSA 1.0 specification says; float operators in f32 (f16 and
// bf16 computed in f32 and rounded after each node). ATen operators follow PyTorch on CPU up to the order
// of summation. Results are row-major; views are copies or share elements that never change.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/tensor.h"
#include "ir/program.h"

namespace tare {

struct EvalOptions {
  int64_t memory_limit_bytes = int64_t{4} << 30;  // of all values alive at a time, constants included
  // Called with each node of the main graph once its value is known.
  std::function<void(NodeId, const Value&)> on_value;
};

struct EvalResult {
  std::vector<Value> outputs;  // pair with Program::outputs
  int64_t peak_bytes = 0;
};

// `inputs` pair with the user inputs of the program, in order. A value is dropped after its last use.
// Errors: InvalidArgument [eval_c4] inputs that do not fit the placeholders, [eval_c8] a kernel's result
// contradicts the node's metadata, [eval_c9] a constant without or with too few bytes, others of kernels;
// Unimplemented [eval_c10] an op without a kernel, [eval_c11] a mutation that others may see;
// ResourceExhausted [eval_c3]. Each with the node as payload.
absl::StatusOr<EvalResult> Evaluate(const Program& program, std::span<const Value> inputs,
                                    const EvalOptions& options = {});

// One call on constants, for constant folding. `attrs` in normal form, `meta` what inference says of the result.
absl::StatusOr<Value> EvaluateCall(const Context& context, Op op, AttrsId attrs, std::span<const Value> operands,
                                   QuantId quant, MetaId meta, const EvalOptions& options = {});
// Whether there is a kernel.
bool CanEvaluate(const Context& context, Op op);

// The elements of a constant, gathered by its strides. Errors: [eval_c9], [eval_c2].
absl::StatusOr<Tensor> ConstantTensor(const Context& context, const Constant& constant,
                                      const std::shared_ptr<MemoryBudget>& budget = nullptr);

}  // namespace tare
