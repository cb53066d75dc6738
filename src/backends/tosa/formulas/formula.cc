#include "backends/tosa/formulas/formula.h"

#include <algorithm>
#include <cmath>

namespace tare {

DType FormulaCall::computed() const {
  const DType to = dtype();
  return IsInteger(to) && to != DType::kI64 ? DType::kI32 : to;
}

DType FormulaCall::Holding(DType dtype, Node like) const {
  if (!IsInteger(dtype) || dtype == DType::kI64) return dtype;
  const bool small = BitsOf(dtype) <= 16 && like.has_value() && like.is_tensor() && IsInteger(like.tensor().dtype);
  if (!small || like.tensor().dtype == DType::kI32) return DType::kI32;
  const bool casts =
      emit.rewriter().Infer(emit.ops().cast, {{"input", like}, {"dtype", AttrValue::OfDType(DType::kI32)}}).ok();
  return casts ? DType::kI32 : DType::kF32;
}

Node FormulaCall::Whole(Node value) const { return emit.ok() ? emit.Cast(value, dtype()) : Node(); }

Node FormulaCall::In(std::string_view name, std::optional<DType> wanted) const {
  if (!emit.ok()) return Node();
  const DType to = wanted.value_or(computed());
  if (const Node tensor = node.arg(name); tensor.has_value() && tensor.is_tensor()) return m.Convert(tensor, to);
  std::optional<double> number = node.number(name);
  if (const std::optional<bool> flag = node.flag(name); !number.has_value() && flag.has_value()) number = *flag ? 1 : 0;
  if (!number.has_value()) return Refuse("an argument is neither a tensor nor a constant");
  if (!IsFloating(to) && *number != std::floor(*number)) return Refuse("a fraction among integers");
  return emit.Scalar("number", to, result.tensor().shape.size(), *number);
}

Node FormulaCall::Replacing(std::string_view name) const {
  if (q == nullptr) return In(name, dtype());
  if (second.has_value()) return second;
  const std::optional<double> number = node.number(name);
  if (!number.has_value()) return Refuse("an argument is neither a tensor nor a constant");
  return emit.Scalar("number", q->storage, result.tensor().shape.size(), static_cast<double>(QuantizeOne(*q, *number)));
}

Node FormulaCall::Done(Node value) const {
  value = m.Convert(value, dtype());
  const std::vector<int64_t> shape = emit.ShapeOf(result);
  if (!emit.ok()) return Node();
  // The FP profile alone does not reshape integers; places are small enough for f32.
  const bool as_float = dtype() == DType::kI32 && emit.ShapeOf(value) != shape &&
                        !emit.rewriter().Infer(emit.ops().reshape, {{"input1", value}, {"shape", shape}}).ok();
  if (!as_float || value.op() != emit.ops().argmax) return emit.Reshape(value, shape);
  return emit.Cast(emit.Reshape(emit.Cast(value, DType::kF32), shape), DType::kI32);
}

int64_t FormulaCall::Axis(std::string_view name, size_t rank) const {
  const std::optional<int64_t> axis = node.integer(name);
  const auto extent = static_cast<int64_t>(rank);
  if (!axis.has_value() || *axis < -extent || *axis >= extent) {
    Refuse("an axis that is not constant or not there");
    return 0;
  }
  return *axis < 0 ? *axis + extent : *axis;
}

Node Broadcast(Emitter& emit, Node x, std::span<const int64_t> shape) {
  const Node ranked = emit.ToRank(x, shape.size());
  const std::vector<int64_t> own = emit.ShapeOf(ranked);
  if (!emit.ok()) return Node();
  std::vector<int64_t> multiples;
  for (size_t i = 0; i < shape.size(); ++i) multiples.push_back(own[i] == shape[i] ? 1 : shape[i]);
  if (std::equal(own.begin(), own.end(), shape.begin(), shape.end())) return ranked;
  return emit.Insert(emit.ops().tile, {{"input1", ranked}, {"multiples", multiples}});
}

Node Take(Emitter& emit, Node x, size_t axis, std::span<const int64_t> indices) {
  constexpr int64_t kMaxIndices = int64_t{1} << 24;
  std::vector<int64_t> shape = emit.ShapeOf(x);
  if (!emit.ok()) return Node();
  bool in_order = static_cast<int64_t>(indices.size()) == shape[axis];
  for (size_t i = 0; i < indices.size() && in_order; ++i) in_order = indices[i] == static_cast<int64_t>(i);
  if (in_order) return x;
  int64_t batch = 1, row = 1;
  for (size_t i = 0; i < shape.size(); ++i) (i < axis ? batch : row) *= i == axis ? 1 : shape[i];
  const auto count = static_cast<int64_t>(indices.size());
  if (count == 0 || batch > kMaxIndices / count) {
    emit.Refuse("tosa_lower_c9", "too many or no elements are taken");
    return Node();
  }
  std::vector<int64_t> all;
  for (int64_t i = 0; i < batch; ++i) all.insert(all.end(), indices.begin(), indices.end());
  const Node values = emit.Reshape(x, std::vector<int64_t>{batch, shape[axis], row});
  const Node rows = emit.Integers("indices", DType::kI32, std::vector<int64_t>{batch, count}, all);
  const Node taken = GatherRows(emit, values, rows);
  shape[axis] = count;
  return emit.Reshape(taken, shape);
}

Node Carried(Emitter& emit, Node x) {
  if (!emit.ok() || x.tensor().dtype != DType::kBool) return x;
  const bool bytes =
      emit.rewriter().Infer(emit.ops().cast, {{"input", x}, {"dtype", AttrValue::OfDType(DType::kI8)}}).ok();
  return TensorMath(emit).Convert(x, bytes ? DType::kI8 : DType::kF32);
}

Node GatherRows(Emitter& emit, Node values, Node rows) {
  const Node found = emit.Insert(emit.ops().gather, {{"values", Carried(emit, values)}, {"indices", rows}});
  return emit.ok() ? TensorMath(emit).Convert(found, values.tensor().dtype) : found;
}

}  // namespace tare
