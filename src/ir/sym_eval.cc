// Values of expressions once symbols have values.
#include <algorithm>
#include <cmath>

#include "ir/sym_impl.h"

namespace tare {
namespace {

struct Number {
  bool is_float = false;
  int64_t integer = 0;
  double real = 0;
  double AsFloat() const { return is_float ? real : static_cast<double>(integer); }
};
using Result = std::optional<Number>;

Result OfInt(int64_t v) { return Number{false, v, 0}; }
Result OfFloat(double v) { return Number{true, 0, v}; }

Result IntPower(int64_t base, int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  int64_t power = 1;
  if (base == 0 || base == 1) return OfInt(exponent == 0 ? 1 : base);
  if (base == -1) return OfInt(exponent % 2 == 0 ? 1 : -1);
  for (int64_t i = 0; i < exponent; ++i) {
    if (!MulTo(power, base)) return std::nullopt;
  }
  return OfInt(power);
}

Result Fold(ExprKind kind, const Number& a, const Number& b) {
  const bool real = a.is_float || b.is_float;
  const double x = a.AsFloat(), y = b.AsFloat();
  int64_t i = a.integer;
  switch (kind) {
    case ExprKind::kAdd:
      if (real) return OfFloat(x + y);
      return AddTo(i, b.integer) ? OfInt(i) : std::nullopt;
    case ExprKind::kMul:
      if (real) return OfFloat(x * y);
      return MulTo(i, b.integer) ? OfInt(i) : std::nullopt;
    case ExprKind::kPow:
      if (real) return OfFloat(std::pow(x, y));
      return IntPower(a.integer, b.integer);
    case ExprKind::kFloorDiv:
      if (y == 0) return std::nullopt;
      if (real) return OfFloat(std::floor(x / y));
      if (a.integer == INT64_MIN && b.integer == -1) return std::nullopt;
      return OfInt(FloorDivInt(a.integer, b.integer));
    case ExprKind::kMod:
      if (y == 0) return std::nullopt;
      if (real) {
        const double rest = std::fmod(x, y);
        return OfFloat(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
      }
      return OfInt(FloorModInt(a.integer, b.integer));
    case ExprKind::kMax:
      return real ? OfFloat(std::max(x, y)) : OfInt(std::max(a.integer, b.integer));
    case ExprKind::kMin:
      return real ? OfFloat(std::min(x, y)) : OfInt(std::min(a.integer, b.integer));
    case ExprKind::kTrueDiv:
      return y == 0 ? std::nullopt : OfFloat(x / y);
    case ExprKind::kEq:
      return OfInt(real ? x == y : a.integer == b.integer);
    case ExprKind::kNe:
      return OfInt(real ? x != y : a.integer != b.integer);
    case ExprKind::kLt:
      return OfInt(real ? x < y : a.integer < b.integer);
    case ExprKind::kLe:
      return OfInt(real ? x <= y : a.integer <= b.integer);
    default:
      return std::nullopt;
  }
}

// 1 when sizes and strides describe memory without gaps or overlap: sorted by stride, each stride
// is the product of the sizes before it. Sizes 0 and 1 do not count.
Result Indicator(llvm::ArrayRef<Number> args) {
  const size_t rank = args.size() / 2;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 8> dims;  // stride, size
  for (size_t i = 0; i < rank; ++i) {
    if (args[i].integer == 0) return OfInt(1);
    if (args[i].integer != 1) dims.push_back({args[rank + i].integer, args[i].integer});
  }
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected || !MulTo(expected, size)) return OfInt(0);
  }
  return OfInt(1);
}

struct Evaluator {
  const SymStore& store;
  const SymStore::Values* values;  // null: hints
  absl::flat_hash_map<ExprId, Number> done;

  Result Symbol(ExprId id) const {
    if (values == nullptr) {
      const std::optional<int64_t> hint = store.symbol(id).hint;
      return hint.has_value() && store.type(id) == ExprType::kInt ? OfInt(*hint) : std::nullopt;
    }
    const auto it = values->find(id);
    return it == values->end() ? std::nullopt : OfInt(it->second);
  }

  Result Run(ExprId id) {
    if (!id.has_value()) return std::nullopt;
    if (const auto it = done.find(id); it != done.end()) return it->second;
    const Result result = Compute(id);
    if (result.has_value()) done.emplace(id, *result);
    return result;
  }

  Result Compute(ExprId id) {
    const ExprKind kind = store.kind(id);
    const std::span<const ExprId> args = store.args(id);
    switch (kind) {
      case ExprKind::kIntConst:
        return OfInt(store.int_value(id));
      case ExprKind::kBoolConst:
        return OfInt(store.bool_value(id));
      case ExprKind::kFloatConst:
        return OfFloat(store.float_value(id));
      case ExprKind::kSymbol:
        return Symbol(id);
      case ExprKind::kAnd:
      case ExprKind::kOr:
        for (const ExprId arg : args) {
          const Result value = Run(arg);
          if (!value.has_value()) return value;
          if ((value->integer != 0) == (kind == ExprKind::kOr)) return value;
        }
        return OfInt(kind == ExprKind::kAnd);
      case ExprKind::kWhere: {
        const Result condition = Run(args[0]);
        if (!condition.has_value()) return condition;
        return Run(args[condition->integer != 0 ? 1 : 2]);
      }
      default:
        break;
    }
    llvm::SmallVector<Number, 8> list;
    for (const ExprId arg : args) {
      const Result value = Run(arg);
      if (!value.has_value()) return value;
      list.push_back(*value);
    }
    switch (kind) {
      case ExprKind::kToFloat:
        return OfFloat(list[0].AsFloat());
      case ExprKind::kTrunc:
      case ExprKind::kFloor:
      case ExprKind::kCeil:
      case ExprKind::kRound: {
        const std::optional<int64_t> integer = RoundFloat(kind, list[0].AsFloat());
        return integer.has_value() ? OfInt(*integer) : std::nullopt;
      }
      case ExprKind::kSqrt:
        return OfFloat(std::sqrt(list[0].AsFloat()));
      case ExprKind::kNot:
        return OfInt(list[0].integer == 0);
      case ExprKind::kFloatCall: {
        if (store.type(id) == ExprType::kInt) return Indicator(list);
        if (list.size() != 1) return std::nullopt;
        const std::optional<double> value = EvaluateCall(store.name(id), list[0].AsFloat());
        return value.has_value() ? OfFloat(*value) : std::nullopt;
      }
      default:
        break;
    }
    if (list.size() < 2) return std::nullopt;
    Result total = list[0];
    for (size_t i = 1; i < list.size() && total.has_value(); ++i) total = Fold(kind, *total, list[i]);
    return total;
  }
};

std::optional<int64_t> AsInteger(const Result& result) {
  if (!result.has_value() || result->is_float) return std::nullopt;
  return result->integer;
}

}  // namespace

std::optional<int64_t> SymStore::Evaluate(ExprId id, const Values& values) const {
  return AsInteger(Evaluator{*this, &values, {}}.Run(id));
}

std::optional<int64_t> SymStore::Hint(ExprId id) const { return AsInteger(Evaluator{*this, nullptr, {}}.Run(id)); }

}  // namespace tare
