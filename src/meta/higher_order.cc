// Functions of the rules of higher-order ops: what their bodies take and give.
#include <array>
#include <string>
#include <vector>

#include "meta/bind.h"
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

// What is known of the arguments of an op that was made functional: by name, those it writes by the index
// of their base and how they look at it.
// Source: torch/_higher_order_ops/auto_functionalize.py, read_view_information_from_args.
class Functionalized {
 public:
  explicit Functionalized(RuleContext& rc, std::span<const Value> values) : rc_(rc), values_(values) {}

  const Value* Find(std::string_view prefix, std::string_view suffix) const {
    const std::span<const NamedAttr> names = rc_.rest();
    for (size_t i = 0; i < names.size() && i < values_.size(); ++i) {
      const std::string_view name = names[i].name;
      if (name.size() == prefix.size() + suffix.size() && name.starts_with(prefix) && name.ends_with(suffix)) {
        return &values_[i];
      }
    }
    return nullptr;
  }

  // The tensor that `prefix` describes, or none.
  absl::StatusOr<Value> Written(std::string_view prefix) const {
    const Value* base = Find(prefix, "_base_index");
    const Value* bases = Find("_all_bases", "");
    if (base == nullptr || base->is_none()) return Value();
    const auto index = base->kind == ValueKind::kInt && base->dim.is_static() ? base->dim.value() : -1;
    if (bases == nullptr || !IsList(*bases) || index < 0 || static_cast<size_t>(index) >= LengthOf(*bases)) {
      return InvalidError("functionalized_c2", prefix, "_base_index names no base");
    }
    const Value whole = ItemOf(*bases, static_cast<size_t>(index));
    if (const Value* offset = Find(prefix, "_storage_offset")) {
      const Value *size = Find(prefix, "_size"), *stride = Find(prefix, "_stride");
      if (size == nullptr || stride == nullptr)
        return InvalidError("functionalized_c3", prefix, " has no size or stride");
      return rc_.CallOp("aten.as_strided.default", std::array{whole, *size, *stride, *offset});
    }
    if (const Value* dim = Find(prefix, "_slice_dim")) {
      const Value *start = Find(prefix, "_slice_start"), *end = Find(prefix, "_slice_end");
      return rc_.CallOp("aten.slice.Tensor",
                        std::array{whole, *dim, start != nullptr ? *start : Value(), end != nullptr ? *end : Value()});
    }
    return whole;
  }

 private:
  RuleContext& rc_;
  std::span<const Value> values_;
};

// The results of an op made functional, then what it wrote: its bases, or in the first version its
// written arguments.
absl::StatusOr<Value> CallFunctionalized(RuleContext& rc, std::span<const Value> values) {
  const std::span<const Value> rest = values[0].items();
  if (rest.empty() || rest[0].kind != ValueKind::kString) {
    return InvalidError("functionalized_c1", "the first argument must be an op");
  }
  const std::string_view name = OpNameOf(rest[0].text());
  const Op op = rc.context().ops.Find(name);
  const Schema* schema = op.has_value() ? rc.context().ops.schema(op) : nullptr;
  const Functionalized given(rc, rest);
  const Value* bases = given.Find("_all_bases", "");
  std::vector<Value> written;
  const std::span<Value> args = rc.NewValues(schema != nullptr ? schema->args.size() : 0);
  for (size_t i = 0; i < args.size(); ++i) {
    const SchemaArg& arg = schema->args[i];
    const Value* direct = given.Find(arg.name, "");
    const std::string prefix = Cat("_", arg.name);
    if (direct != nullptr) {
      args[i] = *direct;
      if (arg.writes) written.push_back(args[i]);
    } else if (const Value* length = given.Find(prefix, "_length"); length != nullptr && !length->is_none()) {
      TARE_ASSIGN_OR_RETURN(const int64_t count, rc.Concrete(length->dim));
      if (count < 0 || static_cast<size_t>(count) > rc.rest().size()) {
        return InvalidError("functionalized_c2", prefix, "_length is ", count);
      }
      const std::span<Value> items = rc.NewValues(static_cast<size_t>(count));
      for (size_t k = 0; k < items.size(); ++k) {
        TARE_ASSIGN_OR_RETURN(items[k], given.Written(Cat(prefix, "_", k)));
      }
      args[i] = Value::List(items);
    } else {
      TARE_ASSIGN_OR_RETURN(args[i], given.Written(prefix));
      if (args[i].is_none() && !arg.writes) {
        TARE_ASSIGN_OR_RETURN(args[i], DefaultOf(rc, arg));
      }
    }
  }
  TARE_ASSIGN_OR_RETURN(const Value result, rc.CallOp(name, args));
  std::vector<Value> results;
  if (result.kind == ValueKind::kTuple) {
    results.assign(result.items().begin(), result.items().end());
  } else {
    results.push_back(result);
  }
  if (bases != nullptr && IsList(*bases)) {
    for (size_t i = 0; i < LengthOf(*bases); ++i) results.push_back(ItemOf(*bases, i));
  } else {
    results.insert(results.end(), written.begin(), written.end());
  }
  const std::span<Value> kept = rc.NewValues(results.size());
  std::copy(results.begin(), results.end(), kept.begin());
  return Value::Tuple(kept);
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
    {"body_results", "body_results(graph) -> tuple", "What a body returns.", 1, 1, BodyResults},
    {"call", "call(op, list) -> result", "The result of an op that is an argument itself.", 2, 2, Call},
    {"call_functionalized", "call_functionalized(list) -> tuple",
     "The results of an op, then copies of what it would write; the op and its named arguments are those of the call.",
     1, 1, CallFunctionalized},
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
