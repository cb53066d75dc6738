// Arithmetic on extents and other numbers of a program. Source: torch/fx/experimental/sym_node.py; Python's own
// rules for // and %.
#include <algorithm>
#include <cmath>

#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

absl::Status Undefined(const KernelCall& call) {
  return InvalidError("eval_c15", call.op_name(), ": it has no defined result");
}

bool IsReal(const Number& a) { return a.kind == ValueKind::kFloat; }

enum class Binary : uint8_t { kAdd, kSub, kMul, kFloorDiv, kMod, kPow, kMax, kMin };

absl::StatusOr<Value> OnIntegers(const KernelCall& call, Binary op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool bad = false;
  switch (op) {
    case Binary::kAdd:
      bad = __builtin_add_overflow(a, b, &result);
      break;
    case Binary::kSub:
      bad = __builtin_sub_overflow(a, b, &result);
      break;
    case Binary::kMul:
      bad = __builtin_mul_overflow(a, b, &result);
      break;
    case Binary::kFloorDiv:
    case Binary::kMod: {
      if (b == 0 || (b == -1 && a == INT64_MIN)) return Undefined(call);
      const bool inexact = a % b != 0 && (a < 0) != (b < 0);
      result = op == Binary::kFloorDiv ? a / b - (inexact ? 1 : 0) : a % b + (inexact ? b : 0);
      break;
    }
    case Binary::kPow:
      if (b < 0) return Value::Float(std::pow(static_cast<double>(a), static_cast<double>(b)));
      result = 1;
      if (a == 0 || a == 1 || a == -1) {
        result = b == 0 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : a;
      } else {
        for (int64_t i = 0; i < b && !bad; ++i) bad = __builtin_mul_overflow(result, a, &result);
      }
      break;
    case Binary::kMax:
      result = std::max(a, b);
      break;
    case Binary::kMin:
      result = std::min(a, b);
      break;
  }
  if (bad) return Undefined(call);
  return Value::Int(result);
}

double OnReals(Binary op, double a, double b) {
  switch (op) {
    case Binary::kAdd:
      return a + b;
    case Binary::kSub:
      return a - b;
    case Binary::kMul:
      return a * b;
    case Binary::kFloorDiv:
      return std::floor(a / b);
    case Binary::kMod:
      return a - std::floor(a / b) * b;
    case Binary::kPow:
      return std::pow(a, b);
    case Binary::kMax:
      return std::max(a, b);
    case Binary::kMin:
      return std::min(a, b);
  }
  return 0;
}

template <Binary kOp>
absl::StatusOr<Value> Arithmetic(KernelCall& call) {
  const Number a = call.number("a"), b = call.number("b");
  TARE_RETURN_IF_ERROR(call.status());
  if (!IsReal(a) && !IsReal(b)) return OnIntegers(call, kOp, a.integer, b.integer);
  return Value::Float(OnReals(kOp, a.as_real(), b.as_real()));
}

absl::StatusOr<Value> TrueDivide(KernelCall& call) {
  const Number a = call.number("a"), b = call.number("b");
  TARE_RETURN_IF_ERROR(call.status());
  if (b.as_real() == 0) return Undefined(call);
  return Value::Float(a.as_real() / b.as_real());
}

enum class Order : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

template <Order kOrder, typename T>
bool Holds(T a, T b) {
  switch (kOrder) {
    case Order::kEq:
      return a == b;
    case Order::kNe:
      return a != b;
    case Order::kLt:
      return a < b;
    case Order::kLe:
      return a <= b;
    case Order::kGt:
      return a > b;
    case Order::kGe:
      return a >= b;
  }
  return false;
}

template <Order kOrder>
absl::StatusOr<Value> Compare(KernelCall& call) {
  const Number a = call.number("a"), b = call.number("b");
  TARE_RETURN_IF_ERROR(call.status());
  if (IsReal(a) || IsReal(b)) return Value::Bool(Holds<kOrder>(a.as_real(), b.as_real()));
  return Value::Bool(Holds<kOrder>(a.integer, b.integer));
}

template <bool kAnd>
absl::StatusOr<Value> Logic(KernelCall& call) {
  const Number a = call.number("a"), b = call.number("b");
  TARE_RETURN_IF_ERROR(call.status());
  if (IsReal(a) || IsReal(b)) return Undefined(call);
  const int64_t result = kAnd ? a.integer & b.integer : a.integer | b.integer;
  if (a.kind == ValueKind::kBool && b.kind == ValueKind::kBool) return Value::Bool(result != 0);
  return Value::Int(result);
}

absl::StatusOr<Value> Neg(KernelCall& call) {
  const Number a = call.number("a");
  TARE_RETURN_IF_ERROR(call.status());
  if (IsReal(a)) return Value::Float(-a.real);
  return OnIntegers(call, Binary::kSub, 0, a.integer);
}

absl::StatusOr<Value> Pos(KernelCall& call) {
  const Number a = call.number("a");
  TARE_RETURN_IF_ERROR(call.status());
  return IsReal(a) ? Value::Float(a.real) : Value::Int(a.integer);
}

absl::StatusOr<Value> Not(KernelCall& call) {
  const Number a = call.number("a");
  TARE_RETURN_IF_ERROR(call.status());
  return Value::Bool(a.as_real() == 0);
}

absl::StatusOr<Value> ToReal(KernelCall& call) { return Value::Float(call.real("a")); }

double Trunc(double x) { return std::trunc(x); }
double Floor(double x) { return std::floor(x); }
double Ceil(double x) { return std::ceil(x); }
double Round(double x) { return std::nearbyint(x); }

constexpr std::string_view kA = "a";
constexpr std::string_view kX = "x";  // as module math names its argument

template <auto kRound, const std::string_view& kName = kA>
absl::StatusOr<Value> ToInteger(KernelCall& call) {
  const Number a = call.number(kName);
  TARE_RETURN_IF_ERROR(call.status());
  if (!IsReal(a)) return Value::Int(a.integer);
  const double rounded = kRound(a.real);
  if (!(rounded >= -0x1p63 && rounded < 0x1p63)) return Undefined(call);
  return Value::Int(static_cast<int64_t>(rounded));
}

double Sqrt(double x) { return std::sqrt(x); }
double Sin(double x) { return std::sin(x); }
double Cos(double x) { return std::cos(x); }
double Tan(double x) { return std::tan(x); }
double Asin(double x) { return std::asin(x); }
double Acos(double x) { return std::acos(x); }
double Atan(double x) { return std::atan(x); }
double Sinh(double x) { return std::sinh(x); }
double Cosh(double x) { return std::cosh(x); }
double Tanh(double x) { return std::tanh(x); }
double Exp(double x) { return std::exp(x); }
double Log(double x) { return std::log(x); }
double Log2(double x) { return std::log2(x); }

template <auto kFunction, const std::string_view& kName = kA>
absl::StatusOr<Value> Function(KernelCall& call) {
  return Value::Float(kFunction(call.real(kName)));
}

absl::StatusOr<Value> IfThenElse(KernelCall& call) {
  const bool condition = call.number("b").as_real() != 0;
  const Number chosen = call.number(condition ? "t" : "f");
  TARE_RETURN_IF_ERROR(call.status());
  if (chosen.kind == ValueKind::kBool) return Value::Bool(chosen.integer != 0);
  return IsReal(chosen) ? Value::Float(chosen.real) : Value::Int(chosen.integer);
}

constexpr KernelRow kRows[] = {
    {"_operator.add", Arithmetic<Binary::kAdd>},
    {"_operator.and_", Logic<true>},
    {"_operator.eq", Compare<Order::kEq>},
    {"_operator.floordiv", Arithmetic<Binary::kFloorDiv>},
    {"_operator.ge", Compare<Order::kGe>},
    {"_operator.gt", Compare<Order::kGt>},
    {"_operator.le", Compare<Order::kLe>},
    {"_operator.lt", Compare<Order::kLt>},
    {"_operator.mod", Arithmetic<Binary::kMod>},
    {"_operator.mul", Arithmetic<Binary::kMul>},
    {"_operator.ne", Compare<Order::kNe>},
    {"_operator.neg", Neg},
    {"_operator.or_", Logic<false>},
    {"_operator.pos", Pos},
    {"_operator.pow", Arithmetic<Binary::kPow>},
    {"_operator.sub", Arithmetic<Binary::kSub>},
    {"_operator.truediv", TrueDivide},
    {"math.ceil", ToInteger<Ceil, kX>},
    {"math.floor", ToInteger<Floor, kX>},
    {"math.sqrt", Function<Sqrt, kX>},
    {"math.trunc", ToInteger<Trunc, kX>},
    {"round", ToInteger<Round>},
    {"torch._sym_acos", Function<Acos>},
    {"torch._sym_asin", Function<Asin>},
    {"torch._sym_atan", Function<Atan>},
    {"torch._sym_cos", Function<Cos>},
    {"torch._sym_cosh", Function<Cosh>},
    {"torch._sym_exp", Function<Exp>},
    {"torch._sym_log", Function<Log>},
    {"torch._sym_log2", Function<Log2>},
    {"torch._sym_sin", Function<Sin>},
    {"torch._sym_sinh", Function<Sinh>},
    {"torch._sym_sqrt", Function<Sqrt>},
    {"torch._sym_tan", Function<Tan>},
    {"torch._sym_tanh", Function<Tanh>},
    {"torch.sym_float", ToReal},
    {"torch.sym_int", ToInteger<Trunc>},
    {"torch.sym_ite", IfThenElse},
    {"torch.sym_max", Arithmetic<Binary::kMax>},
    {"torch.sym_min", Arithmetic<Binary::kMin>},
    {"torch.sym_not", Not},
};

}  // namespace

std::span<const KernelRow> SymbolicKernels() { return kRows; }

}  // namespace tare
