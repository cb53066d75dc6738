// One call as a kernel sees it: arguments by schema name with their values, and what is known of the result.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eval/tensor.h"
#include "ir/context.h"
#include "ir/meta.h"

namespace tare {

// A Scalar argument.
struct Number {
  ValueKind kind = ValueKind::kInt;  // kInt, kFloat, kBool
  int64_t integer = 0;
  double real = 0;
  double as_real() const { return kind == ValueKind::kFloat ? real : static_cast<double>(integer); }
};

// Getters take the schema's names and fill its defaults. A getter that finds something else than it is
// asked for notes the first such error and answers with an empty value: a kernel reads its arguments, then
// returns status() once. `attrs` are in normal form; spans must outlive the call.
class KernelCall {
 public:
  KernelCall(const Context& context, Op op, std::span<const NamedAttr> attrs, std::span<const Value> operands,
             const QuantRecord* quant, const Meta* meta, std::shared_ptr<MemoryBudget> budget)
      : context_(context),
        op_(op),
        attrs_(attrs),
        operands_(operands),
        quant_(quant),
        meta_(meta),
        budget_(std::move(budget)) {}

  bool given(std::string_view name) const;  // there and not none
  const Tensor& tensor(std::string_view name);
  const Tensor* optional_tensor(std::string_view name);       // null when none
  std::vector<const Tensor*> tensors(std::string_view name);  // Tensor[] and Tensor?[]; null where none
  // A number where a tensor may be: a tensor of no axes, i64, f64 or bool.
  Tensor tensor_or_number(std::string_view name);
  bool is_number(std::string_view name) const;
  int64_t integer(std::string_view name);
  double real(std::string_view name);
  bool flag(std::string_view name);
  Number number(std::string_view name);
  std::string_view text(std::string_view name);
  std::optional<DType> dtype(std::string_view name);  // f32 for f16 and bf16: see half.h
  std::vector<int64_t> ints(std::string_view name);   // a list, the value of a shape, or a bare integer
  std::vector<std::vector<int64_t>> int_lists(std::string_view name);  // SymInt[][]
  std::vector<double> reals(std::string_view name);                    // float[]
  std::vector<int64_t> ints(std::string_view name, size_t count);      // exactly so many
  // An axis of `rank` axes, negative ones counted from the end. An axis of rank 0 may be 0 or -1.
  int axis(std::string_view name, int rank);
  absl::Status status() const { return status_; }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // Zero point of an operand in the quantisation column, 0 where nothing is stated.
  int64_t zero_point(std::string_view name) const;
  int64_t result_zero_point() const;

  // What the node states of its result (of result `index` of several); nothing when it does not. f32 for
  // f16 and bf16.
  std::optional<DType> result_dtype(size_t index = 0) const;
  // Static extents, else nothing.
  std::optional<std::vector<int64_t>> result_shape() const;

  absl::StatusOr<Tensor> Make(DType dtype, std::span<const int64_t> shape) const {
    return Tensor::Make(dtype, shape, budget_);
  }
  std::string_view op_name() const { return context_.ops.Name(op_); }
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }

 private:
  AttrValue Find(std::string_view name) const;  // default filled
  // The argument's value, an operand looked up.
  Value Resolve(const AttrValue& attr) const;
  Value Get(std::string_view name) const { return Resolve(Find(name)); }
  const Tensor& Wrong(std::string_view name, std::string_view expected);

  const Context& context_;
  Op op_;
  std::span<const NamedAttr> attrs_;
  std::span<const Value> operands_;
  const QuantRecord* quant_;
  const Meta* meta_;
  std::shared_ptr<MemoryBudget> budget_;
  absl::Status status_;
  Tensor empty_;
};

}  // namespace tare
