// Functions of the rules of higher-order ops: what their bodies take and give.
#include <string>

#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/rule_context.h"
#include "meta/rule_operators.h"

namespace tare {
namespace {

absl::StatusOr<BodyMetas> BodyOf(RuleContext& rc, const Value& value) {
  if (value.kind != ValueKind::kGraph) {
    return InvalidError("body_c2", "an argument that must be a graph is ", rc.Print(value));
  }
  return rc.Body(value.graph);
}

absl::StatusOr<Value> BodyInputs(RuleContext& rc, std::span<const Value> values) {
  TARE_ASSIGN_OR_RETURN(const BodyMetas body, BodyOf(rc, values[0]));
  const std::span<Value> inputs = rc.NewValues(body.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = rc.ValueOf(body.inputs[i]);
  return Value::List(inputs);
}

absl::StatusOr<Value> BodyResults(RuleContext& rc, std::span<const Value> values) {
  TARE_ASSIGN_OR_RETURN(const BodyMetas body, BodyOf(rc, values[0]));
  const std::span<Value> results = rc.NewValues(body.results.size());
  for (size_t i = 0; i < results.size(); ++i) results[i] = rc.ValueOf(body.results[i]);
  return Value::Tuple(results);
}

absl::StatusOr<Value> BodyIsSingle(RuleContext& rc, std::span<const Value> values) {
  TARE_ASSIGN_OR_RETURN(const BodyMetas body, BodyOf(rc, values[0]));
  return Value::Bool(body.single_tensor_return);
}

// The operands an op passes to a body fit its inputs: as many, of equal rank and dtype.
absl::StatusOr<Value> FitsBody(RuleContext& rc, std::span<const Value> values) {
  TARE_ASSIGN_OR_RETURN(const BodyMetas body, BodyOf(rc, values[0]));
  const std::span<const Value> given = values[1].items();
  if (given.size() != body.inputs.size()) return Value::Bool(false);
  for (size_t i = 0; i < given.size(); ++i) {
    const Value input = rc.ValueOf(body.inputs[i]);
    if (input.kind != ValueKind::kTensor || given[i].kind != ValueKind::kTensor) continue;
    if (input.tensor->dtype != given[i].tensor->dtype) return Value::Bool(false);
    if (input.tensor->shape.size() != given[i].tensor->shape.size()) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// What a round of a loop returns fits what the next one takes: tensors of equal dtype and extents for
// tensors, numbers for numbers.
// Source: torch/_higher_order_ops/utils.py, check_meta_consistency.
absl::StatusOr<Value> Carries(RuleContext& rc, std::span<const Value> values) {
  const size_t count = LengthOf(values[0]);
  if (count != LengthOf(values[1])) return Value::Bool(false);
  for (size_t i = 0; i < count; ++i) {
    const Value returned = ItemOf(values[0], i), taken = ItemOf(values[1], i);
    const bool tensor = returned.kind == ValueKind::kTensor;
    if (tensor != (taken.kind == ValueKind::kTensor)) return Value::Bool(false);
    if (!tensor) continue;
    const TensorMeta &a = *returned.tensor, &b = *taken.tensor;
    if (a.dtype != b.dtype || a.shape.size() != b.shape.size()) return Value::Bool(false);
    for (size_t k = 0; k < a.shape.size(); ++k)
      if (!rc.EqualOrFalse(a.shape[k], b.shape[k])) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// A result of its own storage.
const TensorMeta* Fresh(RuleContext& rc, const TensorMeta& tensor) {
  TensorMeta fresh = tensor;
  fresh.offset = Dim::Static(0);
  fresh.strides = PreserveStrides(rc, tensor);
  return rc.NewTensor(fresh);
}

absl::StatusOr<Value> FreshFunction(RuleContext& rc, std::span<const Value> values) {
  if (values[0].kind != ValueKind::kTensor) return values[0];
  return Value::Tensor(Fresh(rc, *values[0].tensor));
}

// Results of two branches as one: equal extents stay, others become symbols of the node. A number
// that differs becomes a symbol too.
// Source: torch/_higher_order_ops/cond.py, _merge_output.
absl::StatusOr<Value> MergeBranches(RuleContext& rc, std::span<const Value> values) {
  TARE_ASSIGN_OR_RETURN(const BodyMetas yes, BodyOf(rc, values[0]));
  TARE_ASSIGN_OR_RETURN(const BodyMetas no, BodyOf(rc, values[1]));
  if (yes.results.size() != no.results.size()) {
    return InvalidError("merge_c1", "branches return ", yes.results.size(), " and ", no.results.size(), " values");
  }
  const std::span<Value> merged = rc.NewValues(yes.results.size());
  int minted = 0;
  const auto merge = [&](Dim a, Dim b) { return rc.KnownEqual(a, b) ? a : rc.MintInt(minted++, 0, INT64_MAX); };
  for (size_t i = 0; i < merged.size(); ++i) {
    const Value a = rc.ValueOf(yes.results[i]), b = rc.ValueOf(no.results[i]);
    if (a.kind == ValueKind::kTensor && b.kind == ValueKind::kTensor) {
      const TensorMeta &x = *a.tensor, &y = *b.tensor;
      if (x.dtype != y.dtype || x.shape.size() != y.shape.size()) {
        return InvalidError("merge_c2", "branches return ", rc.Print(a), " and ", rc.Print(b));
      }
      TensorMeta result = x;
      result.offset = Dim::Static(0);
      const std::span<Dim> shape = rc.NewDims(x.shape.size());
      bool same = true;
      for (size_t k = 0; k < shape.size(); ++k) {
        shape[k] = merge(x.shape[k], y.shape[k]);
        same &= shape[k] == x.shape[k];
      }
      result.shape = shape;
      result.strides = same ? PreserveStrides(rc, x) : ContiguousStrides(rc, shape);
      merged[i] = Value::Tensor(rc.NewTensor(result));
    } else if (a.kind == ValueKind::kInt && b.kind == ValueKind::kInt) {
      merged[i] = Value::Int(merge(a.dim, b.dim));
    } else if (a.kind == b.kind) {
      merged[i] = a;
    } else {
      return InvalidError("merge_c2", "branches return ", rc.Print(a), " and ", rc.Print(b));
    }
  }
  return Value::Tuple(merged);
}

// "torch.ops.aten.mm.default" -> "aten.mm.default".
std::string_view OpNameOf(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  return target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target;
}

absl::StatusOr<Value> Call(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::string_view target = args.Text(0);
  TARE_RETURN_IF_ERROR(args.status());
  return rc.CallOp(OpNameOf(target), values[1].items());
}

absl::StatusOr<Value> Tuple(RuleContext& rc, std::span<const Value> values) {
  if (values[0].kind == ValueKind::kTuple) return values[0];
  if (values[0].kind == ValueKind::kList) return Value::Tuple(values[0].items());
  const std::span<const Dim> dims = values[0].dims();
  const std::span<Value> items = rc.NewValues(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) items[i] = Value::Int(dims[i]);
  return Value::Tuple(items);
}

constexpr RuleFunctionRow kRows[] = {
    {"body_inputs", "body_inputs(graph) -> list", "What a body takes.", 1, 1, BodyInputs},
    {"body_is_single", "body_is_single(graph) -> bool", "A body returns one bare tensor.", 1, 1, BodyIsSingle},
    {"body_results", "body_results(graph) -> tuple", "What a body returns.", 1, 1, BodyResults},
    {"call", "call(op, list) -> result", "The result of an op that is an argument itself.", 2, 2, Call},
    {"carries", "carries(list, list) -> bool", "What a round of a loop returns fits what the next one takes.", 2, 2,
     Carries},
    {"fits_body", "fits_body(graph, list) -> bool", "Operands match a body's inputs in number, dtype and rank.", 2, 2,
     FitsBody},
    {"fresh", "fresh(x) -> x", "The same tensor in storage of its own.", 1, 1, FreshFunction},
    {"merge_branches", "merge_branches(graph, graph) -> tuple",
     "Results of two branches as one; extents that differ become symbols.", 2, 2, MergeBranches},
    {"tuple", "tuple(list) -> tuple", "The items of a list as results.", 1, 1, Tuple},
};

}  // namespace

std::span<const RuleFunctionRow> HigherOrderFunctions() { return kRows; }

}  // namespace tare
