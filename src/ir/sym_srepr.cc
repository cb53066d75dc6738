// Text of expressions for torch: SymPy's srepr with torch's functions.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "ir/sym_impl.h"

namespace tare {
namespace {

struct SreprPrinter {
  const SymStore& store;
  std::string out;

  void Call(std::string_view head, std::span<const ExprId> args) {
    absl::StrAppend(&out, TextPiece(head), "(");
    for (size_t i = 0; i < args.size(); ++i) {
      if (i > 0) out += ", ";
      Print(args[i]);
    }
    out += ')';
  }

  void Symbol(ExprId id) {
    const SymbolRow& row = store.symbol(id);
    absl::StrAppend(&out, "Symbol('", TextPiece(row.name), "'");
    switch (row.kind) {
      case SymbolKind::kBacked:
        out += row.min > 0 ? ", positive=True, integer=True" : ", integer=True";
        break;
      case SymbolKind::kUnbacked:
        out += ", integer=True";
        break;
      case SymbolKind::kFloat:
      case SymbolKind::kUnbackedFloat:
        break;
    }
    out += ')';
  }

  // A float that is an integer's: ToFloat(x), 4.0.
  bool IsWhole(ExprId id) const {
    if (store.kind(id) == ExprKind::kToFloat) return true;
    if (store.kind(id) != ExprKind::kFloatConst) return false;
    const double value = store.float_value(id);
    return value == std::trunc(value) && std::fabs(value) < 9007199254740992.0;  // 2^53
  }
  void Whole(ExprId id) {
    if (store.kind(id) == ExprKind::kToFloat) return Print(store.args(id)[0]);
    absl::StrAppend(&out, "Integer(", static_cast<int64_t>(store.float_value(id)), ")");
  }

  void Print(ExprId id) {
    if (!id.has_value()) {
      out += "nan";
      return;
    }
    const std::span<const ExprId> args = store.args(id);
    const bool real = store.type(id) == ExprType::kFloat;
    switch (store.kind(id)) {
      case ExprKind::kIntConst:
        absl::StrAppend(&out, "Integer(", store.int_value(id), ")");
        return;
      case ExprKind::kFloatConst: {
        const double value = store.float_value(id);
        if (std::isinf(value)) {
          out += value < 0 ? "-oo" : "oo";
        } else if (std::isnan(value)) {
          out += "nan";
        } else {
          absl::StrAppend(&out, "Float('", FloatText(value), "', precision=53)");
        }
        return;
      }
      case ExprKind::kBoolConst:
        out += store.bool_value(id) ? "true" : "false";
        return;
      case ExprKind::kSymbol:
        return Symbol(id);
      case ExprKind::kAdd:
        return Call("Add", args);
      case ExprKind::kMul:
        return Call("Mul", args);
      case ExprKind::kPow:
        if (real) return Call("FloatPow", args);
        return Call(store.kind(args[1]) == ExprKind::kIntConst ? "Pow" : "PowByNatural", args);
      case ExprKind::kFloorDiv:
        return Call("FloorDiv", args);
      case ExprKind::kMod: {
        // torch's Mod is for operands >= 0, PythonMod for any.
        const bool plain = store.RangeOf(store.ToDim(args[0]), nullptr).min >= 0;
        return Call(plain ? "Mod" : "PythonMod", args);
      }
      case ExprKind::kMax:
        return Call("Max", args);
      case ExprKind::kMin:
        return Call("Min", args);
      case ExprKind::kTrueDiv:
        if (IsWhole(args[0]) && IsWhole(args[1])) {
          out += "IntTrueDiv(";
          Whole(args[0]);
          out += ", ";
          Whole(args[1]);
          out += ')';
          return;
        }
        return Call("FloatTrueDiv", args);
      case ExprKind::kToFloat:
        return Call("ToFloat", args);
      case ExprKind::kTrunc:
        return Call("TruncToInt", args);
      case ExprKind::kFloor:
        return Call("FloorToInt", args);
      case ExprKind::kCeil:
        return Call("CeilToInt", args);
      case ExprKind::kRound:
        return Call("RoundToInt", args);
      case ExprKind::kSqrt:
        return Call("OpaqueUnaryFn_sqrt", args);
      case ExprKind::kFloatCall: {
        const std::string_view name = store.name(id);
        if (name == kIndicatorName || name == "RoundDecimal") return Call(name, args);
        if (name == "trunc") return Call("TruncToFloat", args);
        return Call(absl::StrCat("OpaqueUnaryFn_", TextPiece(name)), args);
      }
      case ExprKind::kEq:
        return Call("Equality", args);
      case ExprKind::kNe:
        return Call("Unequality", args);
      case ExprKind::kLt:
        return Call("StrictLessThan", args);
      case ExprKind::kLe:
        return Call("LessThan", args);
      case ExprKind::kAnd:
        return Call("And", args);
      case ExprKind::kOr:
        return Call("Or", args);
      case ExprKind::kNot:
        return Call("Not", args);
      case ExprKind::kWhere:
        out += "Piecewise(ExprCondPair(";
        Print(args[1]);
        out += ", ";
        Print(args[0]);
        out += "), ExprCondPair(";
        Print(args[2]);
        out += ", true))";
        return;
    }
  }
};

}  // namespace

std::string SymStore::PrintSrepr(ExprId a) const {
  SreprPrinter printer{*this, {}};
  printer.Print(a);
  return std::move(printer.out);
}

}  // namespace tare
