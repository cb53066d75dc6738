// Rule functions of numbers: read from tensors at run time, and computed from other numbers.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "ir/status.h"
#include "ir/sym_bits.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"

namespace tare {
namespace {

// fresh_number(dtype): the element of a tensor of that type.
absl::StatusOr<Value> FreshNumber(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const DType dtype = args.Type(0);
  TARE_RETURN_IF_ERROR(args.status());
  if (dtype == DType::kBool) return Value::SymBool(rc.syms().Eq(rc.MintInt(0, 0, 1), Dim::Static(1)));
  if (IsInteger(dtype)) return Value::Int(rc.MintInt(0, INT64_MIN, INT64_MAX));
  if (IsFloating(dtype)) return Value::SymFloat(rc.MintFloat(0));
  return InvalidError("fresh_number_c1", "an element of type ", Name(dtype), " is no number of a program");
}

std::optional<ExprId> ExprOf(SymStore& syms, const Value& value) {
  switch (value.kind) {
    case ValueKind::kInt:
      return value.dim.is_valid() ? std::optional(syms.OfDim(value.dim)) : std::nullopt;
    case ValueKind::kBool:
      return syms.Bool(value.flag);
    case ValueKind::kFloat:
      return syms.Float(value.real);
    case ValueKind::kSymBool:
    case ValueKind::kSymFloat:
      return value.expr;
    default:
      return std::nullopt;
  }
}

absl::StatusOr<Value> ValueOf(SymStore& syms, ExprId expr) {
  if (!expr.has_value()) return InvalidError("symbolic_c1", "the number overflows, or divides by 0");
  switch (syms.type(expr)) {
    case ExprType::kInt:
      return Value::Int(syms.ToDim(expr));
    case ExprType::kFloat:
      return syms.kind(expr) == ExprKind::kFloatConst ? Value::Float(syms.float_value(expr)) : Value::SymFloat(expr);
    case ExprType::kBool:
      if (expr == syms.Bool(true)) return Value::Bool(true);
      return expr == syms.Bool(false) ? Value::Bool(false) : Value::SymBool(expr);
  }
  return InvalidError("symbolic_c1", "unknown type of expression");
}

// What follows takes an expression without value (a number that overflows) and then gives one.

// A bool counts as 0 or 1.
ExprId ToNumber(SymStore& syms, ExprId expr) {
  if (!expr.has_value() || syms.type(expr) != ExprType::kBool) return expr;
  return syms.Make(ExprKind::kWhere, std::array{expr, syms.OfDim(Dim::Static(1)), syms.OfDim(Dim::Static(0))});
}

// A number of type float; ints and bools convert.
ExprId ToFloat(SymStore& syms, ExprId expr) {
  expr = ToNumber(syms, expr);
  if (!expr.has_value() || syms.type(expr) == ExprType::kFloat) return expr;
  return syms.Make(ExprKind::kToFloat, std::array{expr});
}

ExprId Negated(SymStore& syms, ExprId expr) {
  expr = ToNumber(syms, expr);
  if (!expr.has_value()) return expr;
  if (syms.type(expr) == ExprType::kInt) return syms.Make(ExprKind::kMul, std::array{syms.OfDim(syms.Int(-1)), expr});
  return syms.Make(ExprKind::kMul, std::array{syms.Float(-1), expr});
}

bool IsZero(const SymStore& syms, ExprId expr) {
  const ExprKind kind = syms.kind(expr);
  return (kind == ExprKind::kIntConst && syms.int_value(expr) == 0) ||
         (kind == ExprKind::kFloatConst && syms.float_value(expr) == 0);
}

// and, or of integers; a bool counts as 0 or 1.
absl::StatusOr<Value> BitByBit(SymStore& syms, std::string_view name, std::span<const ExprId> operands) {
  const auto is_number = [&](ExprId x) { return x.has_value() && syms.type(x) != ExprType::kFloat; };
  if (operands.size() != 2 || !is_number(operands[0]) || !is_number(operands[1])) {
    return InvalidError("symbolic_c6", name, " takes integers");
  }
  const BitOperation operation = name == "and" ? BitOperation::kAnd : BitOperation::kOr;
  const ExprId bits = MakeBits(syms, operation, ToNumber(syms, operands[0]), ToNumber(syms, operands[1]));
  if (!bits.has_value()) return UnimplementedError("symbolic_c4", name, " bit by bit of two numbers that are symbols");
  return ValueOf(syms, bits);
}

// Where functions of module math have a value: least … most, `least` itself unless it is excluded.
struct Domain {
  std::string_view name;
  int64_t least, most;
  bool least_excluded;
};
constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();
constexpr Domain kDomains[] = {
    {"sqrt", 0, kNoBound, false}, {"asin", -1, 1, false},      {"acos", -1, 1, false},
    {"log", 0, kNoBound, true},   {"log2", 0, kNoBound, true},
};

absl::Status CheckDomain(RuleContext& rc, std::string_view name, ExprId x) {
  SymStore& syms = rc.syms();
  if (!x.has_value()) return absl::OkStatus();
  const bool whole = syms.kind(x) == ExprKind::kToFloat && syms.type(syms.args(x)[0]) == ExprType::kInt;
  if (whole) x = syms.args(x)[0];  // more is known of integers
  const auto bound = [&](int64_t value) {
    return whole ? syms.OfDim(syms.Int(value)) : syms.Float(static_cast<double>(value));
  };
  const auto outside = [&] { return InvalidError("symbolic_c5", name, " has no value there"); };
  for (const Domain& domain : kDomains) {
    if (domain.name != name) continue;
    const ExprKind above = domain.least_excluded ? ExprKind::kLt : ExprKind::kLe;
    TARE_REQUIRE(rc, syms.Make(above, std::array{bound(domain.least), x}), outside());
    if (domain.most == kNoBound) continue;
    TARE_REQUIRE(rc, syms.Make(ExprKind::kLe, std::array{x, bound(domain.most)}), outside());
  }
  return absl::OkStatus();
}

struct Operation {
  std::string_view name;
  size_t arity;
  ExprKind kind;
  enum Operands : uint8_t { kCommon, kFloats, kBools, kSwapped } operands = kCommon;
};
constexpr Operation kOperations[] = {
    {"add", 2, ExprKind::kAdd},
    {"mul", 2, ExprKind::kMul},
    {"floordiv", 2, ExprKind::kFloorDiv},
    {"mod", 2, ExprKind::kMod},
    {"pow", 2, ExprKind::kPow},
    {"max", 2, ExprKind::kMax},
    {"min", 2, ExprKind::kMin},
    {"truediv", 2, ExprKind::kTrueDiv, Operation::kFloats},
    {"eq", 2, ExprKind::kEq},
    {"ne", 2, ExprKind::kNe},
    {"lt", 2, ExprKind::kLt},
    {"le", 2, ExprKind::kLe},
    {"gt", 2, ExprKind::kLt, Operation::kSwapped},
    {"ge", 2, ExprKind::kLe, Operation::kSwapped},
    {"and", 2, ExprKind::kAnd, Operation::kBools},
    {"or", 2, ExprKind::kOr, Operation::kBools},
    {"not", 1, ExprKind::kNot, Operation::kBools},
    {"float", 1, ExprKind::kToFloat, Operation::kFloats},
    {"trunc", 1, ExprKind::kTrunc, Operation::kFloats},
    {"floor", 1, ExprKind::kFloor, Operation::kFloats},
    {"ceil", 1, ExprKind::kCeil, Operation::kFloats},
    {"round", 1, ExprKind::kRound, Operation::kFloats},
    {"sqrt", 1, ExprKind::kSqrt, Operation::kFloats},
};

const Operation* FindOperation(std::string_view name) {
  for (const Operation& operation : kOperations) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

// Rounding an integer is the integer.
bool RoundsToInt(ExprKind kind) {
  return kind == ExprKind::kTrunc || kind == ExprKind::kFloor || kind == ExprKind::kCeil || kind == ExprKind::kRound;
}

// symbolic(operation, a[, b]): arithmetic on numbers of which some may be symbols.
absl::StatusOr<Value> Symbolic(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::string_view name = args.Text(0);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  std::array<ExprId, 2> operands;
  const size_t count = values.size() - 1;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<ExprId> operand = ExprOf(syms, values[i + 1]);
    if (!operand.has_value()) {
      return InvalidError("symbolic_c2", "operand ", i + 1, " of ", name, " is no number: ", rc.Print(values[i + 1]));
    }
    operands[i] = *operand;
  }
  if (name == "neg" && count == 1) return ValueOf(syms, Negated(syms, operands[0]));
  const Operation* operation = FindOperation(name == "sub" ? "add" : name);
  if (operation == nullptr || operation->arity != count) {
    return UnimplementedError("symbolic_c3", "no operation ", name, " of ", count, " numbers");
  }
  if (name == "sub") operands[1] = Negated(syms, operands[1]);
  const bool bools = operation->operands == Operation::kBools;
  bool floats = operation->operands == Operation::kFloats;
  for (size_t i = 0; i < count; ++i) {
    if (!bools) operands[i] = ToNumber(syms, operands[i]);
    if (!operands[i].has_value()) return ValueOf(syms, operands[i]);
    if (bools && syms.type(operands[i]) != ExprType::kBool) return BitByBit(syms, name, {operands.data(), count});
    floats = floats || syms.type(operands[i]) == ExprType::kFloat;
  }
  if (floats && RoundsToInt(operation->kind) && syms.type(operands[0]) == ExprType::kInt) {
    return ValueOf(syms, operands[0]);
  }
  for (size_t i = 0; i < count && floats; ++i) operands[i] = ToFloat(syms, operands[i]);
  if (operation->kind == ExprKind::kToFloat) return ValueOf(syms, operands[0]);
  if (operation->operands == Operation::kSwapped) std::swap(operands[0], operands[1]);
  TARE_RETURN_IF_ERROR(CheckDomain(rc, name, operands[0]));
  const bool divides = operation->kind == ExprKind::kFloorDiv || operation->kind == ExprKind::kMod ||
                       operation->kind == ExprKind::kTrueDiv;
  if (divides && IsZero(syms, operands[1])) return InvalidError("symbolic_c1", name, " divides by 0");
  return ValueOf(syms, syms.Make(operation->kind, std::span<const ExprId>(operands).first(count)));
}

// float_call(name, x …): a function of module math.
absl::StatusOr<Value> FloatCall(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::string_view name = args.Text(0);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  llvm::SmallVector<ExprId, 2> operands;
  for (const Value& value : values.subspan(1)) {
    const std::optional<ExprId> operand = ExprOf(syms, value);
    if (!operand.has_value()) return InvalidError("symbolic_c2", "an operand of ", name, " is no number");
    operands.push_back(ToFloat(syms, *operand));
  }
  if (!operands.empty()) TARE_RETURN_IF_ERROR(CheckDomain(rc, name, operands[0]));
  return ValueOf(syms, syms.Make(ExprKind::kFloatCall, operands, name));
}

// choose(condition, a, b): a number that depends on a symbolic condition.
absl::StatusOr<Value> Choose(RuleContext& rc, std::span<const Value> values) {
  SymStore& syms = rc.syms();
  std::array<ExprId, 3> operands;
  for (size_t i = 0; i < 3; ++i) {
    const std::optional<ExprId> operand = ExprOf(syms, values[i]);
    if (!operand.has_value()) return InvalidError("symbolic_c2", "operand ", i + 1, " of a choice is no number");
    operands[i] = *operand;
  }
  return ValueOf(syms, syms.Make(ExprKind::kWhere, operands));
}

constexpr RuleFunctionRow kRows[] = {
    {"fresh_number", "fresh_number(dtype) -> number", "A fresh symbol: an element of a tensor of that type.", 1, 1,
     FreshNumber},
    {"symbolic", "symbolic(operation, a[, b]) -> number",
     "Arithmetic on numbers: add, sub, mul, floordiv, mod and more.", 2, 3, Symbolic},
    {"float_call", "float_call(name, x, …) -> number", "A function of module math.", 2, 3, FloatCall},
    {"choose", "choose(condition, a, b) -> number", "a or b, by a condition that may be symbolic.", 3, 3, Choose},
};

}  // namespace

std::span<const RuleFunctionRow> SymbolicFunctions() { return kRows; }

}  // namespace tare
