// Broadcasting, axes and reduced shapes.
#include <algorithm>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "meta/functions.h"
#include "meta/rule_args.h"

namespace tare {
namespace {

std::string Text(RuleContext& rc, std::span<const Dim> shape) { return rc.Print(Value::Ints(shape)); }

// Shape of an operand of a broadcast: a tensor's, a list of ints itself, none for the rest.
std::span<const Dim> ShapeOf(const Value& operand) {
  switch (operand.kind) {
    case ValueKind::kTensor:
      return operand.tensor->shape;
    case ValueKind::kInts:
      return operand.dims();
    default:
      return {};
  }
}

// Writes the broadcast of `dims` into the tail of `result`.
absl::Status BroadcastInto(RuleContext& rc, std::span<Dim> result, std::span<const Dim> dims) {
  const size_t lead = result.size() - dims.size();
  for (size_t k = 0; k < dims.size(); ++k) {
    Dim& out = result[lead + k];
    const Dim in = dims[k];
    if (out == in || in == 1) continue;
    if (out == 1) {
      out = in;
      continue;
    }
    if (rc.KnownEqual(out, in)) continue;
    if (rc.EqualOrFalse(out, Dim::Static(1))) {
      out = in;
      continue;
    }
    if (rc.EqualOrFalse(in, Dim::Static(1))) continue;
    TARE_REQUIRE_EQUAL(
        rc, out, in,
        InvalidError("broadcast_c1", "shapes ", Text(rc, result), " and ", Text(rc, dims), " do not broadcast: extent ",
                     rc.Print(Value::Int(out)), " meets ", rc.Print(Value::Int(in)), " at axis ",
                     static_cast<int64_t>(k) - static_cast<int64_t>(dims.size()),
                     "; extents must be equal or one of them 1"));
    if (in.is_static()) out = in;
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> BroadcastFunction(RuleContext& rc, std::span<const Value> values) {
  const bool is_list = values.size() == 1 && values[0].kind == ValueKind::kList;
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, BroadcastOperands(rc, is_list ? values[0].items() : values));
  return Value::Ints(shape);
}

// A condition: the first shape can be expanded to the second.
absl::StatusOr<Value> ExpandableFunction(RuleContext& rc, std::span<const Value> values) {
  const std::span<const Dim> from = ShapeOf(values[0]), to = ShapeOf(values[1]);
  if (from.size() > to.size()) return Value::Bool(false);
  llvm::SmallVector<ExprId, 4> conditions;
  const size_t lead = to.size() - from.size();
  for (size_t k = 0; k < from.size(); ++k) {
    const Dim a = from[k], b = to[lead + k];
    if (a == 1 || a == b || rc.KnownEqual(a, b)) continue;
    if (a.is_static() && b.is_static()) return Value::Bool(false);
    if (rc.EqualOrFalse(a, Dim::Static(1))) continue;
    conditions.push_back(rc.syms().Eq(a, b));
  }
  if (conditions.empty()) return Value::Bool(true);
  return Value::SymBool(conditions.size() == 1 ? conditions[0] : rc.syms().Make(ExprKind::kAnd, conditions));
}

absl::StatusOr<Value> SameShapeFunction(RuleContext& rc, std::span<const Value> values) {
  const std::span<const Dim> a = ShapeOf(values[0]), b = ShapeOf(values[1]);
  if (a.size() != b.size()) return Value::Bool(false);
  for (size_t k = 0; k < a.size(); ++k) {
    TARE_ASSIGN_OR_RETURN(const bool equal, rc.Equal(a[k], b[k]));
    if (!equal) return Value::Bool(false);
  }
  return Value::Bool(true);
}

absl::StatusOr<Value> NumelFunction(RuleContext& rc, std::span<const Value> values) {
  return Value::Int(Numel(rc, ShapeOf(values[0])));
}

absl::StatusOr<Value> AxisFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const Dim axis = args.Int(0);
  const int64_t rank = args.Constant(1);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const int wrapped, WrapAxis(rc, axis, static_cast<int>(rank)));
  return Value::Int(Dim::Static(wrapped));
}

absl::StatusOr<Value> AxesFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> axes = args.Ints(0);
  const int rank = static_cast<int>(args.Constant(1));
  TARE_RETURN_IF_ERROR(args.status());
  TARE_RETURN_IF_ERROR(WrapAxes(rc, axes, rank).status());
  const std::span<Dim> wrapped = rc.NewDims(axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    TARE_ASSIGN_OR_RETURN(const int axis, WrapAxis(rc, axes[k], rank));
    wrapped[k] = Dim::Static(axis);
  }
  return Value::Ints(wrapped);
}

absl::StatusOr<Value> IsAxisFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const Dim axis = args.Int(0);
  const int rank = static_cast<int>(args.Constant(1));
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Bool(WrapAxis(rc, axis, rank).ok());
}

absl::StatusOr<Value> AreAxesFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> axes = args.Ints(0);
  const int rank = static_cast<int>(args.Constant(1));
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Bool(WrapAxes(rc, axes, rank).ok());
}

// reduce(x, dims, keepdim): dims none or empty name every axis; reduce_exactly: empty names no axis.
enum class EmptyAxes : bool { kNone, kAll };

absl::StatusOr<Value> Reduce(RuleContext& rc, std::span<const Value> values, EmptyAxes empty) {
  RuleArgs args(rc, values);
  const std::span<const Dim> shape = ShapeOf(values[0]);
  const std::span<const Dim> axes = args.Ints(1);
  const bool all = args.IsNone(1) || (axes.empty() && empty == EmptyAxes::kAll);
  const KeepDims keep = args.Flag(2) ? KeepDims::kYes : KeepDims::kNo;
  TARE_RETURN_IF_ERROR(args.status());
  uint64_t set = ~uint64_t{0};
  if (!all) {
    TARE_ASSIGN_OR_RETURN(set, WrapAxes(rc, axes, static_cast<int>(shape.size())));
  }
  return Value::Ints(ReduceShape(rc, shape, set, keep));
}

absl::StatusOr<Value> ReduceFunction(RuleContext& rc, std::span<const Value> values) {
  return Reduce(rc, values, EmptyAxes::kAll);
}

absl::StatusOr<Value> ReduceExactlyFunction(RuleContext& rc, std::span<const Value> values) {
  return Reduce(rc, values, EmptyAxes::kNone);
}

// No reduced axis is empty, as ops without a neutral element need.
absl::StatusOr<Value> ReducesElementsFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> shape = ShapeOf(values[0]);
  const std::span<const Dim> axes = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  uint64_t set = ~uint64_t{0};
  if (!axes.empty()) {
    TARE_ASSIGN_OR_RETURN(set, WrapAxes(rc, axes, static_cast<int>(shape.size())));
  }
  for (size_t k = 0; k < shape.size(); ++k) {
    if ((set >> k & 1) != 0 && rc.EqualOrFalse(shape[k], Dim::Static(0))) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// with_extent(shape, axis, extent): that axis has another extent.
absl::StatusOr<Value> WithExtentFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> shape = ShapeOf(values[0]);
  const Dim axis = args.Int(1);
  const Dim extent = args.Int(2);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const int wrapped, WrapAxis(rc, axis, static_cast<int>(shape.size())));
  const std::span<Dim> result = rc.NewDims(shape.size());
  for (size_t k = 0; k < shape.size(); ++k) result[k] = static_cast<int>(k) == wrapped ? extent : shape[k];
  return Value::Ints(result);
}

absl::StatusOr<Value> OnesFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const int64_t rank = args.Constant(0);
  TARE_RETURN_IF_ERROR(args.status());
  if (rank < 0 || rank > kMaxRank) return InvalidError("rank_c1", "rank ", rank, " is not in 0 … ", kMaxRank);
  const std::span<Dim> result = rc.NewDims(static_cast<size_t>(rank));
  for (Dim& dim : result) dim = Dim::Static(1);
  return Value::Ints(result);
}

constexpr RuleFunctionRow kRows[] = {
    {"broadcast", "broadcast(operand, …) -> shape",
     "Common shape of tensors and shapes, right-aligned; numbers and none have no dims.", 1, -1, BroadcastFunction},
    {"expandable", "expandable(from, to) -> bool", "`from` broadcasts to `to` without changing it.", 2, 2,
     ExpandableFunction},
    {"same_shape", "same_shape(a, b) -> bool", "Both tensors or shapes have the same extents.", 2, 2,
     SameShapeFunction},
    {"numel", "numel(x) -> int", "Number of elements of a tensor or shape.", 1, 1, NumelFunction},
    {"is_axis", "is_axis(dim, rank) -> bool", "dim names an axis, from the front or, negative, from the end.", 2, 2,
     IsAxisFunction},
    {"are_axes", "are_axes(dims, rank) -> bool", "dims name distinct axes.", 2, 2, AreAxesFunction},
    {"axis", "axis(dim, rank) -> int", "Axis counted from the front; rank 0 accepts 0 and -1.", 2, 2, AxisFunction},
    {"axes", "axes(dims, rank) -> list", "Axes counted from the front; none may be named twice.", 2, 2, AxesFunction},
    {"reduce", "reduce(x, dims, keepdim) -> shape", "Shape without the named axes; none or [] names all.", 3, 3,
     ReduceFunction},
    {"reduce_exactly", "reduce_exactly(x, dims, keepdim) -> shape", "As reduce, but [] names no axis.", 3, 3,
     ReduceExactlyFunction},
    {"reduces_elements", "reduces_elements(x, dims) -> bool", "No axis that is reduced is empty.", 2, 2,
     ReducesElementsFunction},
    {"with_extent", "with_extent(x, axis, extent) -> shape", "The shape with another extent at one axis.", 3, 3,
     WithExtentFunction},
    {"ones", "ones(rank) -> shape", "A shape of that many ones.", 1, 1, OnesFunction},
};

}  // namespace

Dim Numel(RuleContext& rc, std::span<const Dim> shape) {
  Dim numel = Dim::Static(1);
  for (const Dim dim : shape) numel = rc.syms().Mul(numel, dim);
  return numel;
}

absl::StatusOr<std::span<const Dim>> Broadcast(RuleContext& rc, std::span<const Dim> a, std::span<const Dim> b) {
  const Value both[] = {Value::Ints(a), Value::Ints(b)};
  return BroadcastOperands(rc, both);
}

absl::StatusOr<std::span<const Dim>> BroadcastOperands(RuleContext& rc, std::span<const Value> operands) {
  size_t rank = 0;
  bool same = true;  // all operands are the very same extents: the common case
  std::span<const Dim> first;
  for (const Value& operand : operands) {
    const std::span<const Dim> shape = ShapeOf(operand);
    if (&operand == operands.data()) first = shape;
    same = same && std::ranges::equal(first, shape);
    rank = std::max(rank, shape.size());
  }
  if (same) return first;
  if (rank > kMaxRank) return InvalidError("rank_c1", "rank ", rank, " is above ", kMaxRank);
  const std::span<Dim> result = rc.NewDims(rank);
  for (Dim& dim : result) dim = Dim::Static(1);
  for (const Value& operand : operands) TARE_RETURN_IF_ERROR(BroadcastInto(rc, result, ShapeOf(operand)));
  return result;
}

absl::Status RequireExpandable(RuleContext& rc, std::span<const Dim> from, std::span<const Dim> to) {
  const auto error = [&] {
    return InvalidError("broadcast_c2", "shape ", Text(rc, from), " does not expand to ", Text(rc, to));
  };
  if (from.size() > to.size()) return error();
  const size_t lead = to.size() - from.size();
  for (size_t k = 0; k < from.size(); ++k) {
    if (from[k] == 1 || from[k] == to[lead + k] || rc.KnownEqual(from[k], to[lead + k])) continue;
    if (rc.EqualOrFalse(from[k], Dim::Static(1))) continue;
    TARE_REQUIRE_EQUAL(rc, from[k], to[lead + k], error());
  }
  return absl::OkStatus();
}

absl::StatusOr<int> WrapAxis(RuleContext& rc, Dim axis, int rank) {
  TARE_ASSIGN_OR_RETURN(const int64_t value, rc.Concrete(axis));
  const int64_t bound = std::max(rank, 1);
  if (value < -bound || value >= bound) {
    return InvalidError("axis_c1", "axis ", value, " is not in ", -bound, " … ", bound - 1, " (rank ", rank, ")");
  }
  return static_cast<int>(value < 0 ? value + bound : value);
}

absl::StatusOr<uint64_t> WrapAxes(RuleContext& rc, std::span<const Dim> axes, int rank) {
  uint64_t set = 0;
  for (const Dim axis : axes) {
    TARE_ASSIGN_OR_RETURN(const int wrapped, WrapAxis(rc, axis, rank));
    if ((set >> wrapped & 1) != 0) {
      return InvalidError("axis_c2", "axes ", Text(rc, axes), " name axis ", wrapped, " twice");
    }
    set |= uint64_t{1} << wrapped;
  }
  return set;
}

std::span<const Dim> ReduceShape(RuleContext& rc, std::span<const Dim> shape, uint64_t axes, KeepDims keep) {
  const std::span<Dim> result = rc.NewDims(shape.size());
  size_t size = 0;
  for (size_t k = 0; k < shape.size(); ++k) {
    if ((axes >> k & 1) == 0) {
      result[size++] = shape[k];
    } else if (keep == KeepDims::kYes) {
      result[size++] = Dim::Static(1);
    }
  }
  return result.first(size);
}

std::span<const RuleFunctionRow> ShapeFunctions() { return kRows; }

}  // namespace tare
