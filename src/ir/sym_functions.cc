#include "ir/sym_functions.h"

namespace tare {
namespace {

constexpr ExprFunction kHeads[] = {
    {"Add", ExprKind::kAdd, 1, kAnyArity},
    {"Mul", ExprKind::kMul, 1, kAnyArity},
    {"Pow", ExprKind::kPow, 2, 2},
    {"PowByNatural", ExprKind::kPow, 2, 2},
    {"FloorDiv", ExprKind::kFloorDiv, 2, 2},
    {"CleanDiv", ExprKind::kFloorDiv, 2, 2},
    {"Mod", ExprKind::kMod, 2, 2},
    {"PythonMod", ExprKind::kMod, 2, 2},
    {"Max", ExprKind::kMax, 1, kAnyArity},
    {"Min", ExprKind::kMin, 1, kAnyArity},
    {"max", ExprKind::kMax, 1, kAnyArity},
    {"min", ExprKind::kMin, 1, kAnyArity},
    {"Equality", ExprKind::kEq, 2, 2},
    {"Eq", ExprKind::kEq, 2, 2},
    {"Unequality", ExprKind::kNe, 2, 2},
    {"Ne", ExprKind::kNe, 2, 2},
    {"StrictLessThan", ExprKind::kLt, 2, 2},
    {"Lt", ExprKind::kLt, 2, 2},
    {"LessThan", ExprKind::kLe, 2, 2},
    {"Le", ExprKind::kLe, 2, 2},
    {"StrictGreaterThan", ExprKind::kLt, 2, 2, true},
    {"Gt", ExprKind::kLt, 2, 2, true},
    {"GreaterThan", ExprKind::kLe, 2, 2, true},
    {"Ge", ExprKind::kLe, 2, 2, true},
    {"And", ExprKind::kAnd, 0, kAnyArity},
    {"Or", ExprKind::kOr, 0, kAnyArity},
    {"Not", ExprKind::kNot, 1, 1},
    {"Where", ExprKind::kWhere, 3, 3},
    {"where", ExprKind::kWhere, 3, 3},
    {"ToFloat", ExprKind::kToFloat, 1, 1},
    {"float", ExprKind::kToFloat, 1, 1},
    {"torch.sym_float", ExprKind::kToFloat, 1, 1},
    {"FloatTrueDiv", ExprKind::kTrueDiv, 2, 2},
    {"IntTrueDiv", ExprKind::kTrueDiv, 2, 2},
    {"TrueDiv", ExprKind::kTrueDiv, 2, 2},
    {"TruncToInt", ExprKind::kTrunc, 1, 1},
    {"trunc", ExprKind::kTrunc, 1, 1},
    {"math.trunc", ExprKind::kTrunc, 1, 1},
    {"int", ExprKind::kTrunc, 1, 1},
    {"FloorToInt", ExprKind::kFloor, 1, 1},
    {"floor", ExprKind::kFloor, 1, 1},
    {"math.floor", ExprKind::kFloor, 1, 1},
    {"CeilToInt", ExprKind::kCeil, 1, 1},
    {"ceil", ExprKind::kCeil, 1, 1},
    {"ceiling", ExprKind::kCeil, 1, 1},
    {"math.ceil", ExprKind::kCeil, 1, 1},
    {"RoundToInt", ExprKind::kRound, 1, 1},
    {"round", ExprKind::kRound, 1, 1},
    {"sqrt", ExprKind::kSqrt, 1, 1},
    {"math.sqrt", ExprKind::kSqrt, 1, 1},
    {"OpaqueUnaryFn_sqrt", ExprKind::kSqrt, 1, 1},
    {"RoundDecimal", ExprKind::kFloatCall, 2, 2},
    {"IsNonOverlappingAndDenseIndicator", ExprKind::kFloatCall, 0, kAnyArity},
};
// Functions of one float, alone, after `math.` or after `OpaqueUnaryFn_`.
constexpr std::string_view kFloatFunctions[] = {"cos",  "cosh", "acos", "sin", "sinh", "asin",  "tan",
                                                "tanh", "atan", "exp",  "log", "log2", "asinh", "abs"};

}  // namespace

const ExprFunction* FindExprFunction(std::string_view name) {
  for (const ExprFunction& head : kHeads) {
    if (head.name == name) return &head;
  }
  return nullptr;
}

std::string_view FloatFunction(std::string_view name) {
  for (const std::string_view prefix : {std::string_view("math."), std::string_view("OpaqueUnaryFn_")}) {
    if (name.substr(0, prefix.size()) == prefix) name.remove_prefix(prefix.size());
  }
  for (const std::string_view known : kFloatFunctions) {
    if (known == name) return known;
  }
  return {};
}

}  // namespace tare
