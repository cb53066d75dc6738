// Shapes of matrix products.
#include <algorithm>
#include <string>

#include "meta/einsum.h"
#include "meta/functions.h"
#include "meta/rule_args.h"

namespace tare {
namespace {

std::string Text(RuleContext& rc, std::span<const Dim> shape) { return rc.Print(Value::Ints(shape)); }

// Vectors take part as one row (left) or one column (right) that is dropped from the result.
absl::StatusOr<Value> MatmulFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> left = args.Tensor(0).shape;
  const std::span<const Dim> right = args.Tensor(1).shape;
  TARE_RETURN_IF_ERROR(args.status());
  if (left.empty() || right.empty()) {
    return InvalidError("matmul_c1", "shapes ", Text(rc, left), " and ", Text(rc, right),
                        ": both need at least one axis; use mul for numbers");
  }
  const bool row = left.size() > 1, column = right.size() > 1;
  const Dim inner = right[column ? right.size() - 2 : 0];
  TARE_REQUIRE_EQUAL(
      rc, left.back(), inner,
      InvalidError("matmul_c2", "shapes ", Text(rc, left), " and ", Text(rc, right), " do not multiply: inner extents ",
                   rc.Print(Value::Int(left.back())), " and ", rc.Print(Value::Int(inner)), " differ"));
  const std::span<const Dim> left_batch = row ? left.first(left.size() - 2) : std::span<const Dim>();
  const std::span<const Dim> right_batch = column ? right.first(right.size() - 2) : std::span<const Dim>();
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> batch, Broadcast(rc, left_batch, right_batch));
  const std::span<Dim> result = rc.NewDims(batch.size() + (row ? 1 : 0) + (column ? 1 : 0));
  std::ranges::copy(batch, result.begin());
  if (row) result[batch.size()] = left[left.size() - 2];
  if (column) result.back() = right.back();
  return Value::Ints(result);
}

constexpr RuleFunctionRow kRows[] = {
    {"matmul", "matmul(a, b) -> shape", "Shape of the product of vectors, matrices or batches of matrices.", 2, 2,
     MatmulFunction},
    {"einsum", "einsum(equation, tensors) -> tensor", "Sum of products over named axes.", 2, 2, EinsumFunction},
};

}  // namespace

std::span<const RuleFunctionRow> ContractFunctions() { return kRows; }

}  // namespace tare
