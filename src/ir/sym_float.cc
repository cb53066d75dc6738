// Floats: sums and products are flat, sorted and have one constant at most, as in SymPy; nothing else
// is rearranged.
#include <algorithm>
#include <cmath>

#include "ir/sym_impl.h"

namespace tare {
namespace {

// An integer in a double without loss of its meaning, or nothing.
std::optional<int64_t> ToInt(double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return std::nullopt;
  return static_cast<int64_t>(value);
}

double RoundToEven(double value) { return std::nearbyint(value); }

}  // namespace

std::optional<double> EvaluateCall(std::string_view name, double x) {
  struct Row {
    std::string_view name;
    double (*function)(double);
  };
  static constexpr Row kRows[] = {
      {"cos", [](double v) { return std::cos(v); }},     {"sin", [](double v) { return std::sin(v); }},
      {"tan", [](double v) { return std::tan(v); }},     {"cosh", [](double v) { return std::cosh(v); }},
      {"sinh", [](double v) { return std::sinh(v); }},   {"tanh", [](double v) { return std::tanh(v); }},
      {"acos", [](double v) { return std::acos(v); }},   {"asin", [](double v) { return std::asin(v); }},
      {"atan", [](double v) { return std::atan(v); }},   {"exp", [](double v) { return std::exp(v); }},
      {"log", [](double v) { return std::log(v); }},     {"log2", [](double v) { return std::log2(v); }},
      {"asinh", [](double v) { return std::asinh(v); }}, {"trunc", [](double v) { return std::trunc(v); }},
      {"abs", [](double v) { return std::fabs(v); }},
  };
  for (const Row& row : kRows) {
    if (row.name == name) return row.function(x);
  }
  return std::nullopt;
}

std::optional<int64_t> RoundFloat(ExprKind kind, double x) {
  switch (kind) {
    case ExprKind::kTrunc:
      return ToInt(std::trunc(x));
    case ExprKind::kFloor:
      return ToInt(std::floor(x));
    case ExprKind::kCeil:
      return ToInt(std::ceil(x));
    default:
      return ToInt(RoundToEven(x));
  }
}

ExprId SymStore::Impl::ToFloat(ExprId a) {
  if (!a.has_value()) return {};
  const Expr& e = at(a);
  if (e.type == ExprType::kFloat) return a;
  if (e.type == ExprType::kBool) return {};
  if (e.kind == ExprKind::kIntConst) return Float(static_cast<double>(e.integer));
  return Intern({ExprKind::kToFloat, ExprType::kFloat, {&a, 1}});
}

// One constant at most stays in a sum or product, as in SymPy.
void SymStore::Impl::FoldConstants(ExprKind kind, ExprList& list) {
  ExprList rest;
  std::optional<double> constant;
  for (const ExprId e : list) {
    if (at(e).kind != ExprKind::kFloatConst) {
      rest.push_back(e);
    } else if (!constant.has_value()) {
      constant = at(e).real;
    } else {
      constant = kind == ExprKind::kAdd ? *constant + at(e).real : *constant * at(e).real;
    }
  }
  if (constant.has_value()) rest.push_back(Float(*constant));
  list = std::move(rest);
}

ExprId SymStore::Impl::MakeFloat(ExprKind kind, std::span<const ExprId> given, std::string_view name) {
  ExprList list;
  const bool associative =
      kind == ExprKind::kAdd || kind == ExprKind::kMul || kind == ExprKind::kMax || kind == ExprKind::kMin;
  for (const ExprId arg : given) {
    const ExprId real = ToFloat(arg);
    if (!real.has_value()) return {};
    if (associative && at(real).kind == kind) {
      list.append(args(real).begin(), args(real).end());
    } else {
      list.push_back(real);
    }
  }
  if (list.empty() || list.size() > kMaxExprNodes) return {};
  const auto constant = [&](size_t i) { return at(list[i]).real; };
  const bool all_constant =
      std::all_of(list.begin(), list.end(), [this](ExprId e) { return at(e).kind == ExprKind::kFloatConst; });
  if (all_constant) {
    double value = constant(0);
    switch (kind) {
      case ExprKind::kAdd:
        for (size_t i = 1; i < list.size(); ++i) value += constant(i);
        return Float(value);
      case ExprKind::kMul:
        for (size_t i = 1; i < list.size(); ++i) value *= constant(i);
        return Float(value);
      case ExprKind::kMax:
        for (size_t i = 1; i < list.size(); ++i) value = std::max(value, constant(i));
        return Float(value);
      case ExprKind::kMin:
        for (size_t i = 1; i < list.size(); ++i) value = std::min(value, constant(i));
        return Float(value);
      case ExprKind::kPow:
        return Float(std::pow(value, constant(1)));
      case ExprKind::kTrueDiv:
        return constant(1) == 0 ? ExprId{} : Float(value / constant(1));
      case ExprKind::kFloorDiv:
        return constant(1) == 0 ? ExprId{} : Float(std::floor(value / constant(1)));
      case ExprKind::kMod: {
        if (constant(1) == 0) return {};
        const double rest = std::fmod(value, constant(1));
        return Float(rest != 0 && (rest < 0) != (constant(1) < 0) ? rest + constant(1) : rest);
      }
      case ExprKind::kSqrt:
        return Float(std::sqrt(value));
      case ExprKind::kTrunc:
      case ExprKind::kFloor:
      case ExprKind::kCeil:
      case ExprKind::kRound: {
        const std::optional<int64_t> integer = RoundFloat(kind, value);
        return integer.has_value() ? Int(*integer) : ExprId{};
      }
      default:
        if (list.size() != 1) break;
        if (const std::optional<double> result = EvaluateCall(name, value)) return Float(*result);
    }
  }
  switch (kind) {
    case ExprKind::kAdd:
    case ExprKind::kMul:
      if (list.size() == 1) return list[0];
      FoldConstants(kind, list);
      std::sort(list.begin(), list.end(), [this](ExprId a, ExprId b) { return Compare(a, b) < 0; });
      break;
    case ExprKind::kMax:
    case ExprKind::kMin:
      SortUnique(list);
      if (list.size() == 1) return list[0];
      break;
    case ExprKind::kTrunc:
    case ExprKind::kFloor:
    case ExprKind::kCeil:
    case ExprKind::kRound: {
      const Expr& e = at(list[0]);
      if (e.kind == ExprKind::kToFloat) return e.args[0];  // exact below 2^53, and meant so above
      return Intern({kind, ExprType::kInt, list});
    }
    default:
      break;
  }
  return Intern({kind, ExprType::kFloat, list, 0, nullptr, name});
}

}  // namespace tare
