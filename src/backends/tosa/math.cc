#include "backends/tosa/math.h"

#include <algorithm>

#include "backends/tosa/constants.h"

namespace tare {

Node TensorMath::Number(Node like, double value) {
  if (!emit_.ok()) return Node();
  return emit_.Scalar("number", like.tensor().dtype, like.tensor().shape.size(), value);
}

Node TensorMath::Unary(std::string_view tosa_op, Node x) {
  if (!emit_.ok()) return Node();
  const Op op = TosaOps::Find(emit_.rewriter().context(), tosa_op);
  const Schema* schema = emit_.rewriter().context().ops.schema(op);
  return emit_.Insert(op, {{schema->args[0].name, x}});
}

Node TensorMath::Binary(std::string_view tosa_op, Node a, Node b) {
  if (!emit_.ok()) return Node();
  const size_t rank = std::max(a.tensor().shape.size(), b.tensor().shape.size());
  const Node left = emit_.ToRank(a, rank), right = emit_.ToRank(b, rank);
  return emit_.Insert(TosaOps::Find(emit_.rewriter().context(), tosa_op), {{"input1", left}, {"input2", right}});
}

Node TensorMath::Clamp(Node x, double low, double high) {
  return emit_.Insert(emit_.ops().clamp, {{"input", x}, {"min_val", low}, {"max_val", high}});
}

Node TensorMath::Truncate(Node x) {
  const Node below = Less(x, 0), up = Unary("CEIL", x), down = Unary("FLOOR", x);
  return Select(below, up, down);
}

Node TensorMath::Convert(Node x, DType to) {
  if (!emit_.ok()) return Node();
  const DType from = x.tensor().dtype;
  if (from == to) return x;
  const bool constant_double = from == DType::kF64 && x.constant() != nullptr;
  if ((from == DType::kI64 && x.op() == op::placeholder) || constant_double) {
    // The edge of the program takes the cast of an input over; that of a constant folds.
    const Op copy = emit_.rewriter().context().ops.Find("aten._to_copy.default");
    const DType narrow = constant_double ? DType::kF32 : DType::kI32;
    return Convert(emit_.Insert(copy, {{"self", x}, {"dtype", AttrValue::OfDType(narrow)}}), to);
  }
  if (from == DType::kI64 || to == DType::kI64) emit_.Refuse("tosa_lower_c13", "64-bit integers are not converted");
  if (!emit_.ok()) return Node();
  if (from == DType::kBool && IsFloating(to)) {
    const size_t rank = x.tensor().shape.size();
    const Node one = emit_.Scalar("one", to, rank, 1), zero = emit_.Scalar("zero", to, rank, 0);
    return Select(x, one, zero);
  }
  if (to == DType::kBool) {
    // The FP profile alone has no cast from integers to bool.
    const bool cast = IsInteger(from) &&
                      emit_.rewriter().Infer(emit_.ops().cast, {{"input", x}, {"dtype", AttrValue::OfDType(to)}}).ok();
    if (cast) return emit_.Cast(x, to);
    return Not(Equal(IsInteger(from) ? emit_.Cast(x, DType::kF32) : x, 0));
  }
  // CAST rounds.
  return emit_.Cast(IsFloating(from) && !IsFloating(to) ? Truncate(x) : x, to);
}

Node TensorMath::Select(Node condition, Node a, Node b) {
  if (!emit_.ok()) return Node();
  const size_t rank = std::max({condition.tensor().shape.size(), a.tensor().shape.size(), b.tensor().shape.size()});
  const Node first = emit_.ToRank(condition, rank), second = emit_.ToRank(a, rank), third = emit_.ToRank(b, rank);
  return emit_.Insert(emit_.ops().select, {{"condition", first}, {"input1", second}, {"input2", third}});
}

Node TensorMath::Reduce(std::string_view tosa_op, Node x, std::span<const int64_t> axes) {
  const std::vector<int64_t> shape = emit_.ShapeOf(x);
  for (const int64_t axis : axes)
    if (emit_.ok() && shape[static_cast<size_t>(axis)] != 1)
      x = emit_.Insert(TosaOps::Find(emit_.rewriter().context(), tosa_op), {{"input", x}, {"axis", axis}});
  return x;
}

Node TensorMath::Mean(Node x, std::span<const int64_t> axes) {
  const std::vector<int64_t> shape = emit_.ShapeOf(x);
  if (!emit_.ok()) return Node();
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(shape[static_cast<size_t>(axis)]);
  return Mul(Reduce("REDUCE_SUM", x, axes), 1.0 / count);
}

Node TensorMath::Variance(Node x, Node mean, std::span<const int64_t> axes, double less) {
  const std::vector<int64_t> shape = emit_.ShapeOf(x);
  if (!emit_.ok()) return Node();
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(shape[static_cast<size_t>(axis)]);
  const Node distance = Sub(x, mean);
  return Mul(Reduce("REDUCE_SUM", Mul(distance, distance), axes), 1.0 / std::max(0.0, count - less));
}

Node TensorMath::Product(Node a, Node b) {
  if (!emit_.ok()) return Node();
  const DType dtype = a.tensor().dtype;
  return emit_.Cast(emit_.Insert(emit_.ops().matmul, {{"input1", a}, {"input2", b}}), dtype);
}

Node TensorMath::Softmax(Node x, int64_t axis) {
  const int64_t axes[] = {axis};
  const Node exponential = Unary("EXP", Sub(x, Reduce("REDUCE_MAX", x, axes)));
  return Mul(exponential, Unary("RECIPROCAL", Reduce("REDUCE_SUM", exponential, axes)));
}

std::vector<int64_t> AxesOf(Node node, std::string_view argument, size_t rank) {
  if (rank == 0) return {};  // where ATen lets 0 and -1 name the only element
  std::vector<int64_t> axes = node.ints(argument);
  if (axes.empty())
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  for (int64_t& axis : axes)
    if (axis < 0) axis += static_cast<int64_t>(rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace tare
