// Sizes of tensors that are made from numbers.
#include <cmath>
#include <numeric>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "meta/functions.h"
#include "meta/rule_args.h"

namespace tare {
namespace {

// The same list; every extent must be 0 or more.
absl::StatusOr<Value> CheckedSizeFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> size = args.Ints(0);
  TARE_RETURN_IF_ERROR(args.status());
  if (size.size() > kMaxRank) return InvalidError("rank_c1", "rank ", size.size(), " is above ", kMaxRank);
  for (const Dim dim : size) {
    if (dim.is_static()) continue;
    TARE_REQUIRE(rc, rc.syms().Le(Dim::Static(0), dim),
                 InvalidError("size_c1", "size ", rc.Print(Value::Ints(size)), " has the negative extent ",
                              rc.Print(Value::Int(dim))));
  }
  return Value::Ints(size);
}

absl::StatusOr<Value> StridesInOrderFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> shape = args.Ints(0);
  const std::span<const Dim> axes = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_RETURN_IF_ERROR(WrapAxes(rc, axes, static_cast<int>(shape.size())).status());
  llvm::SmallVector<int, 8> order;
  for (const Dim axis : axes) {
    TARE_ASSIGN_OR_RETURN(const int wrapped, WrapAxis(rc, axis, static_cast<int>(shape.size())));
    order.push_back(wrapped);
  }
  if (order.size() != shape.size()) {
    return InvalidError("order_c1", "order ", rc.Print(Value::Ints(axes)), " does not name the ", shape.size(),
                        " axes of ", rc.Print(Value::Ints(shape)));
  }
  return Value::Ints(StridesInOrder(rc, shape, order));
}

// column_major(shape): of batches of matrices, which follow each other whole. Shapes of fewer dims are contiguous.
absl::StatusOr<Value> ColumnMajorFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> shape = args.Ints(0);
  TARE_RETURN_IF_ERROR(args.status());
  llvm::SmallVector<int, 8> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() >= 2) std::swap(order[order.size() - 2], order.back());
  return Value::Ints(StridesInOrder(rc, shape, order));
}

bool IsWhole(const Value& number) { return number.kind == ValueKind::kInt || number.kind == ValueKind::kBool; }

Dim WholeOf(const Value& number) {
  return number.kind == ValueKind::kBool ? Dim::Static(number.flag ? 1 : 0) : number.dim;
}

absl::StatusOr<double> RealOf(RuleContext& rc, const Value& number) {
  if (number.kind == ValueKind::kFloat) return number.real;
  if (!IsWhole(number)) {
    return InvalidError("arange_c1", rc.Print(number), " is no real number known at compile time");
  }
  TARE_ASSIGN_OR_RETURN(const int64_t whole, rc.Concrete(WholeOf(number)));
  return static_cast<double>(whole);
}

constexpr double kMaxWhole = 9.2e18;  // below 2^63, where a double still converts

// Integer as torch makes it of a number: towards 0.
absl::StatusOr<Dim> Truncated(RuleContext& rc, const Value& number) {
  if (IsWhole(number)) return WholeOf(number);
  TARE_ASSIGN_OR_RETURN(const double real, RealOf(rc, number));
  if (!(std::abs(real) < kMaxWhole)) return InvalidError("arange_c2", rc.Print(number), " is not finite or too large");
  return rc.syms().Int(static_cast<int64_t>(std::trunc(real)));
}

absl::Status CheckRange(RuleContext& rc, Dim start, Dim end, Dim step) {
  SymStore& syms = rc.syms();
  const Dim zero = Dim::Static(0);
  TARE_REQUIRE(rc, syms.Ne(step, zero), InvalidError("arange_c3", "step is 0"));
  TARE_ASSIGN_OR_RETURN(const bool upward, rc.Less(zero, step));
  TARE_REQUIRE(rc, upward ? syms.Le(start, end) : syms.Le(end, start),
               InvalidError("arange_c4", "a step of ", rc.Print(Value::Int(step)), " does not lead from ",
                            rc.Print(Value::Int(start)), " to ", rc.Print(Value::Int(end))));
  return absl::OkStatus();
}

// Number of elements of a range.
//
//   whole numbers or an i64 result:  (end - start + step - sign(step)) // step, of truncated numbers
//   else:                            ceil((end - start) / step), in double precision
//
// Errors: InvalidArgument [arange_c1] … [arange_c5]. Source: torch/_refs/__init__.py, arange.
absl::StatusOr<Value> ArangeLengthFunction(RuleContext& rc, std::span<const Value> values) {
  const Value &start = values[0], &end = values[1], &step = values[2];
  const bool whole = IsWhole(start) && IsWhole(end) && IsWhole(step);
  const bool to_i64 = values[3].kind == ValueKind::kDType && values[3].dtype == DType::kI64;
  SymStore& syms = rc.syms();
  if (!whole) {
    TARE_ASSIGN_OR_RETURN(const double from, RealOf(rc, start));
    TARE_ASSIGN_OR_RETURN(const double to, RealOf(rc, end));
    TARE_ASSIGN_OR_RETURN(const double by, RealOf(rc, step));
    if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(by)) {
      return InvalidError("arange_c2", "a range from ", from, " to ", to, " by ", by, " is not finite");
    }
    if (by == 0) return InvalidError("arange_c3", "step is 0");
    if (by > 0 ? to < from : to > from) {
      return InvalidError("arange_c4", "a step of ", by, " does not lead from ", from, " to ", to);
    }
    if (!to_i64) {
      const double length = std::ceil((to - from) / by);
      if (!(length < kMaxWhole)) return InvalidError("arange_c5", "the range has ", length, " elements");
      return Value::Int(Dim::Static(static_cast<int64_t>(length)));
    }
  }
  TARE_ASSIGN_OR_RETURN(const Dim from, Truncated(rc, start));
  TARE_ASSIGN_OR_RETURN(const Dim to, Truncated(rc, end));
  TARE_ASSIGN_OR_RETURN(const Dim by, Truncated(rc, step));
  TARE_RETURN_IF_ERROR(CheckRange(rc, from, to, by));
  TARE_ASSIGN_OR_RETURN(const bool upward, rc.Less(Dim::Static(0), by));
  const Dim reach = syms.Add(syms.Sub(to, from), syms.Sub(by, syms.Int(upward ? 1 : -1)));
  return Value::Int(syms.FloorDiv(reach, by));
}

absl::StatusOr<Value> ArangeDTypeFunction(RuleContext& rc, std::span<const Value> values) {
  for (const Value& number : values) {
    if (!IsWhole(number)) return Value::OfDType(rc.default_dtype());
  }
  return Value::OfDType(DType::kI64);
}

// given_strides(size, strides): torch takes a negative stride for "contiguous with the next dim", where sizes are
// numbers. Source: c10/core/TensorImpl.h, set_sizes_and_strides.
absl::StatusOr<Value> GivenStridesFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> size = args.Ints(0), given = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  const auto is_number = [&](Dim dim) { return syms.Constant(dim).has_value(); };
  if (size.size() != given.size() || !std::ranges::all_of(size, is_number) || !std::ranges::all_of(given, is_number)) {
    return Value::Ints(given);
  }
  const std::span<Dim> strides = rc.NewDims(given.size());
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = given[i];
    if (*syms.Constant(given[i]) >= 0) continue;
    const bool last = i + 1 == strides.size();
    strides[i] = last ? Dim::Static(1) : syms.Mul(syms.Max(size[i + 1], Dim::Static(1)), strides[i + 1]);
  }
  return Value::Ints(strides);
}

constexpr RuleFunctionRow kRows[] = {
    {"checked_size", "checked_size(size) -> shape", "The size itself; an error where an extent is negative.", 1, 1,
     CheckedSizeFunction},
    {"strides_in_order", "strides_in_order(shape, axes) -> strides", "Dense strides; axes are named outermost first.",
     2, 2, StridesInOrderFunction},
    {"column_major", "column_major(shape) -> strides", "Strides of a batch of matrices that are stored by columns.", 1,
     1, ColumnMajorFunction},
    {"given_strides", "given_strides(size, strides) -> strides",
     "The strides, a negative one replaced by what a contiguous tensor has there; of symbols as they are.", 2, 2,
     GivenStridesFunction},
    {"arange_length", "arange_length(start, end, step, dtype) -> int", "Number of elements of a range.", 4, 4,
     ArangeLengthFunction},
    {"arange_dtype", "arange_dtype(start, end, step) -> dtype",
     "i64 where all three are whole numbers, else the default float.", 3, 3, ArangeDTypeFunction},
};

}  // namespace

std::span<const RuleFunctionRow> FactoryFunctions() { return kRows; }

}  // namespace tare
