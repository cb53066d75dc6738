// Functions of the rules in ops/tosa.toml. Source: TOSA 1.0 and 1.1 specifications; where ExecuTorch's
// dialect differs from them it is followed (see the rows).
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>

#include "llvm/ADT/SmallVector.h"
#include "meta/rule_args.h"
#include "meta/rule_context.h"
#include "meta/sym_int.h"
#include "meta/tosa_spec.h"

namespace tare {
namespace {

absl::StatusOr<Value> Spec(RuleContext& rc, std::span<const Value>) {
  return Value::String(rc.spec().empty() ? std::string_view("no TOSA specification") : rc.spec());
}

absl::StatusOr<Value> SpecHas(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::string_view token = args.Text(0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Bool(TosaSpecHas(rc.spec(), token));
}

// Cuts the first part off `rest`, up to the separator. Parts are a few characters long.
std::string_view NextPart(std::string_view& rest, char separator) {
  size_t end = 0;
  while (end < rest.size() && rest[end] != separator) ++end;
  const std::string_view part(rest.data(), end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

bool Listed(std::string_view name, std::string_view list) {
  while (!list.empty()) {
    if (NextPart(list, ',') == name) return true;
  }
  return false;
}

bool MeetsNeeds(std::string_view spec, std::string_view needs) {
  while (!needs.empty()) {
    if (!TosaSpecHas(spec, NextPart(needs, '+'))) return false;
  }
  return true;
}

// `i8,i16:INT bf16:FP+bf16 bool`: is `name` in a group whose needs the spec meets?
bool InTypeTable(std::string_view spec, std::string_view name, std::string_view table) {
  while (!table.empty()) {
    std::string_view needs = NextPart(table, ' ');
    if (Listed(name, NextPart(needs, ':')) && MeetsNeeds(spec, needs)) return true;
  }
  return false;
}

absl::StatusOr<Value> TosaType(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  const std::string_view table = args.Text(1);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Bool(InTypeTable(rc.spec(), Name(dtype), table));
}

// Input, weight and bias of the convolutions.
absl::StatusOr<Value> TosaConvTypes(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType input = args.Type(0), weight = args.Type(1);
  const bool has_bias = !args.IsNone(2);
  const DType bias = has_bias ? args.Type(2) : input;
  TARE_RETURN_IF_ERROR(args.status());
  if (input == DType::kI8 || input == DType::kI16) {
    const bool narrow = weight == DType::kI4 && input == DType::kI8 && TosaSpecHas(rc.spec(), "int4");
    const bool wide = bias == DType::kI48 && input == DType::kI16 && TosaSpecHas(rc.spec(), "int16");
    return Value::Bool(TosaSpecHas(rc.spec(), "INT") && (weight == DType::kI8 || narrow) &&
                       (!has_bias || bias == DType::kI32 || wide));
  }
  const bool fp8 = input == DType::kF8E4M3FN || input == DType::kF8E5M2;
  return Value::Bool(TosaSpecHas(rc.spec(), "FP") && weight == input &&
                     (!has_bias || bias == (fp8 ? DType::kF16 : input)) &&
                     InTypeTable(rc.spec(), Name(input), "f16,f32 bf16:bf16 f8e4m3fn:fp8e4m3 f8e5m2:fp8e5m2"));
}

// Accumulator of average pooling.
absl::StatusOr<Value> TosaAccType(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType input = args.Type(0), acc = args.Type(1);
  TARE_RETURN_IF_ERROR(args.status());
  switch (input) {
    case DType::kI8:
    case DType::kI16:
      return Value::Bool(acc == DType::kI32);
    case DType::kF16:
      return Value::Bool(acc == DType::kF16 || acc == DType::kF32);
    case DType::kF32:
    case DType::kBF16:
      return Value::Bool(acc == DType::kF32);
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return Value::Bool(acc == DType::kF16);
    default:
      return Value::Bool(false);
  }
}

struct CastRow {
  std::string_view from, to;  // dtypes, comma-separated
  std::string_view needs;     // tokens, +-separated
};
constexpr CastRow kCasts[] = {
    {"bool", "i8,i16,i32", "INT"},        {"i8", "bool,i16,i32", "INT"},
    {"i16", "bool,i8,i32", "INT"},        {"i32", "bool,i8,i16", "INT"},
    {"f16", "f32,i8,i16,i32", "FP"},      {"f32", "bool,f16,i8,i16,i32", "FP"},
    {"i8,i16,i32", "f16,f32", "FP"},      {"bool", "f32", "FP"},
    {"bf16", "f32,i8,i16,i32", "bf16"},   {"f32,i8,i16,i32", "bf16", "bf16"},
    {"f16,f32", "f8e4m3fn", "fp8e4m3"},   {"f8e4m3fn", "f16,f32", "fp8e4m3"},
    {"bf16", "f8e4m3fn", "bf16+fp8e4m3"}, {"f8e4m3fn", "bf16", "bf16+fp8e4m3"},
    {"f16,f32", "f8e5m2", "fp8e5m2"},     {"f8e5m2", "f16,f32", "fp8e5m2"},
    {"bf16", "f8e5m2", "bf16+fp8e5m2"},   {"f8e5m2", "bf16", "bf16+fp8e5m2"},
    {"bool,i32", "i64", "int64"},         {"i64", "bool,i32", "int64"},
};

absl::StatusOr<Value> TosaCast(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType from = args.Type(0), to = args.Type(1);
  TARE_RETURN_IF_ERROR(args.status());
  for (const CastRow& row : kCasts) {
    if (Listed(Name(from), row.from) && Listed(Name(to), row.to) && MeetsNeeds(rc.spec(), row.needs)) {
      return Value::Bool(true);
    }
  }
  return Value::Bool(false);
}

// Zero points of RESCALE: 0 for wide signed types, 0 or 32768 for unsigned 16 bits, else the type's range.
absl::StatusOr<Value> TosaZeroPoint(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  const int64_t zero_point = args.Constant(1);
  const bool is_unsigned = args.Flag(2);
  TARE_RETURN_IF_ERROR(args.status());
  if (is_unsigned) {
    if (dtype == DType::kI16) return Value::Bool(zero_point == 0 || zero_point == 32768);
    return Value::Bool(zero_point >= 0 && zero_point <= 255);
  }
  if (dtype == DType::kI48 || dtype == DType::kI32 || dtype == DType::kI16) return Value::Bool(zero_point == 0);
  if (dtype == DType::kI8) return Value::Bool(zero_point >= -128 && zero_point <= 127);
  return Value::Bool(true);
}

// Bounds of CLAMP: integers within the dtype's range for integer dtypes; ordered and not NaN for all.
absl::StatusOr<Value> TosaClampBounds(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  TARE_RETURN_IF_ERROR(args.status());
  double bounds[2];
  for (int i = 0; i < 2; ++i) {
    const Value& value = args.Any(1 + i);
    if (value.kind == ValueKind::kInt) {
      const std::optional<int64_t> constant = rc.syms().Constant(value.dim);
      if (!constant) return Value::Bool(false);
      if (IsInteger(dtype)) {
        const int64_t limit = int64_t{1} << (BitsOf(dtype) - 1);
        if (*constant < -limit || *constant >= limit) return Value::Bool(false);
      }
      bounds[i] = static_cast<double>(*constant);
    } else {
      if (value.kind != ValueKind::kFloat || IsInteger(dtype) || std::isnan(value.real)) return Value::Bool(false);
      bounds[i] = value.real;
    }
  }
  return Value::Bool(bounds[0] <= bounds[1]);
}

// Extents of a window operator: floor((in + pads - (dilation * (k - 1) + 1)) / stride) + 1 per dim.
// pad holds before, after per dim. Source: TOSA 1.0, CONV2D, AVG_POOL2D.
absl::StatusOr<Value> TosaWindow(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const auto in = args.Ints(0), kernel = args.Ints(1), stride = args.Ints(2), pad = args.Ints(3),
             dilation = args.Ints(4);
  TARE_RETURN_IF_ERROR(args.status());
  const size_t n = in.size();
  if (kernel.size() != n || stride.size() != n || pad.size() != 2 * n || dilation.size() != n) {
    return InvalidError("tosa_window_c1", "a window over ", n, " dims needs ", n,
                        " kernel extents, strides and dilations and ", 2 * n, " pads; there are ", kernel.size(), ", ",
                        stride.size(), ", ", dilation.size(), " and ", pad.size());
  }
  const std::span<Dim> out = rc.NewDims(n);
  for (size_t i = 0; i < n; ++i) {
    const Dim zero = Dim::Static(0);
    TARE_ASSIGN_OR_RETURN(const bool bad_stride, rc.LessEqual(stride[i], zero));
    if (bad_stride)
      return InvalidError("tosa_window_c2", "stride ", rc.Print(Value::Int(stride[i])), " is not positive");
    const SymInt reach = (SymInt(rc.syms(), kernel[i]) - 1) * dilation[i] + 1;
    const SymInt room = SymInt(rc.syms(), in[i]) + pad[2 * i] + pad[2 * i + 1] - reach;
    out[i] = FloorDiv(room, stride[i]) + 1;
  }
  return Value::Ints(out);
}

// Equal extents except along one axis.
absl::StatusOr<Value> SameDimsBut(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const auto a = args.Ints(0), b = args.Ints(1);
  const int64_t axis = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  if (a.size() != b.size()) return Value::Bool(false);
  for (size_t i = 0; i < a.size(); ++i) {
    if (static_cast<int64_t>(i) == axis) continue;
    TARE_ASSIGN_OR_RETURN(const bool equal, rc.Equal(a[i], b[i]));
    if (!equal) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// Symbolic extents pass: they are checked where they become numbers.
absl::StatusOr<Value> IsPowerOfTwo(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::optional<int64_t> value = rc.syms().Constant(args.Int(0));
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Bool(!value || (*value > 0 && std::has_single_bit(static_cast<uint64_t>(*value))));
}

absl::StatusOr<Value> Log2(RuleContext& rc, std::span<const Value> values, bool up) {
  RuleArgs args(rc, values);
  const int64_t value = args.Constant(0);
  TARE_RETURN_IF_ERROR(args.status());
  if (value <= 0) return InvalidError("log2_c1", "logarithm of ", value);
  const uint64_t bits = static_cast<uint64_t>(value);
  const int floor = std::bit_width(bits) - 1;
  return Value::Int(Dim::Static(floor + (up && !std::has_single_bit(bits) ? 1 : 0)));
}
absl::StatusOr<Value> Log2Ceil(RuleContext& rc, std::span<const Value> values) { return Log2(rc, values, true); }
absl::StatusOr<Value> Log2Floor(RuleContext& rc, std::span<const Value> values) { return Log2(rc, values, false); }

constexpr RuleFunctionRow kRows[] = {
    {"is_power_of_two", "is_power_of_two(int) -> bool", "True for 1, 2, 4, 8, … and for symbolic integers.", 1, 1,
     IsPowerOfTwo},
    {"log2_ceil", "log2_ceil(int) -> int", "Logarithm to base 2, rounded up.", 1, 1, Log2Ceil},
    {"log2_floor", "log2_floor(int) -> int", "Logarithm to base 2, rounded down.", 1, 1, Log2Floor},
    {"same_dims_but", "same_dims_but(shape, shape, axis) -> bool", "Equal ranks and extents, except along the axis.", 3,
     3, SameDimsBut},
    {"spec", "spec() -> text", "The TOSA specification in force.", 0, 0, Spec},
    {"spec_has", "spec_has(token) -> bool", "Whether the specification has that profile, extension, flag or version.",
     1, 1, SpecHas},
    {"tosa_acc_type", "tosa_acc_type(dtype, acc_dtype) -> bool",
     "Whether average pooling of a dtype may accumulate in another.", 2, 2, TosaAccType},
    {"tosa_cast", "tosa_cast(from, to) -> bool", "Whether CAST converts between the dtypes.", 2, 2, TosaCast},
    {"tosa_clamp_bounds", "tosa_clamp_bounds(dtype, min, max) -> bool",
     "Whether the bounds of CLAMP are ordered and fit the dtype.", 3, 3, TosaClampBounds},
    {"tosa_conv_types", "tosa_conv_types(input, weight, bias) -> bool",
     "Whether the dtypes of a convolution go together.", 3, 3, TosaConvTypes},
    {"tosa_type", "tosa_type(dtype, table) -> bool",
     "Whether the dtype is in a group of the table whose needs the specification meets.", 2, 2, TosaType},
    {"tosa_window", "tosa_window(in, kernel, stride, pad, dilation) -> shape",
     "Extents after a convolution or pooling; pad holds before and after per dim.", 5, 5, TosaWindow},
    {"tosa_zero_point", "tosa_zero_point(dtype, zero_point, unsigned) -> bool",
     "Whether RESCALE accepts the zero point.", 3, 3, TosaZeroPoint},
};

}  // namespace

std::span<const RuleFunctionRow> TosaFunctions() { return kRows; }

}  // namespace tare
