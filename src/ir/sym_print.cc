// Text of expressions for people and our files: compact infix.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/status.h"
#include "ir/sym_impl.h"

namespace tare {
namespace {

enum Level { kLevelOr, kLevelAnd, kLevelNot, kLevelCompare, kLevelSum, kLevelProduct, kLevelUnary, kLevelAtom };

constexpr int64_t kMaxSpelledPower = 4;  // s0*s0*s0; above: s0**5

struct InfixPrinter {
  const SymStore& store;
  std::string out;

  void Open(bool parens) {
    if (parens) out += '(';
  }
  void Close(bool parens) {
    if (parens) out += ')';
  }

  void List(std::string_view name, std::span<const ExprId> args) {
    absl::StrAppend(&out, TextPiece(name), "(");
    for (size_t i = 0; i < args.size(); ++i) {
      if (i > 0) out += ',';
      Print(args[i], kLevelOr);
    }
    out += ')';
  }

  void Binary(ExprId a, std::string_view op, ExprId b, Level level, Level outer) {
    Open(outer > level);
    Print(a, level);
    out += op;
    Print(b, static_cast<Level>(level + 1));
    Close(outer > level);
  }

  // A term without its sign; true when the sign was minus.
  bool IsNegative(ExprId e) const {
    if (store.kind(e) == ExprKind::kIntConst) return store.int_value(e) < 0;
    if (store.type(e) != ExprType::kInt || store.kind(e) != ExprKind::kMul) return false;
    const ExprId first = store.args(e)[0];
    return store.kind(first) == ExprKind::kIntConst && store.int_value(first) < 0;
  }
  void Magnitude(ExprId e, Level level) {
    const auto magnitude = [this](ExprId number) {
      absl::StrAppend(&out, -static_cast<uint64_t>(store.int_value(number)));
    };
    if (store.kind(e) == ExprKind::kIntConst) return magnitude(e);
    const std::span<const ExprId> args = store.args(e);
    const std::span<const ExprId> factors = args.subspan(1);
    if (store.int_value(args[0]) == -1) {
      if (factors.size() == 1) return Print(factors[0], level);
      return Product(factors);
    }
    magnitude(args[0]);
    out += '*';
    Product(factors);
  }
  void Product(std::span<const ExprId> factors) {
    for (size_t i = 0; i < factors.size(); ++i) {
      if (i > 0) out += '*';
      Print(factors[i], kLevelUnary);
    }
  }

  void Add(ExprId id) {
    const std::span<const ExprId> args = store.args(id);
    size_t first = 0;  // a positive term, when there is one
    while (first < args.size() && IsNegative(args[first])) ++first;
    if (first == args.size() || store.kind(args[first]) == ExprKind::kIntConst) first = 0;
    Signed(args[first], true);
    for (size_t i = 0; i < args.size(); ++i) {
      if (i != first) Signed(args[i], false);
    }
  }
  void Signed(ExprId term, bool leading) {
    if (!IsNegative(term)) {
      if (!leading) out += '+';
      return Print(term, kLevelProduct);
    }
    out += '-';
    Magnitude(term, leading ? kLevelUnary : kLevelProduct);
  }

  void Print(ExprId id, Level outer) {
    if (!id.has_value()) {
      out += "<invalid>";
      return;
    }
    const std::span<const ExprId> args = store.args(id);
    const ExprKind kind = store.kind(id);
    switch (kind) {
      case ExprKind::kIntConst: {
        const bool parens = store.int_value(id) < 0 && outer > kLevelProduct;
        Open(parens);
        absl::StrAppend(&out, store.int_value(id));
        return Close(parens);
      }
      case ExprKind::kFloatConst: {
        const bool parens = std::signbit(store.float_value(id)) && outer > kLevelProduct;
        Open(parens);
        out += FloatText(store.float_value(id));
        return Close(parens);
      }
      case ExprKind::kBoolConst:
        out += store.bool_value(id) ? "true" : "false";
        return;
      case ExprKind::kSymbol:
        out += store.name(id);
        return;
      case ExprKind::kAdd:
        Open(outer > kLevelSum);
        Add(id);
        return Close(outer > kLevelSum);
      case ExprKind::kMul: {
        const bool negative = IsNegative(id);
        const Level level = negative ? kLevelUnary : kLevelProduct;
        const bool parens = negative ? outer > kLevelSum && outer != kLevelProduct : outer > level;
        Open(parens);
        if (negative) {
          out += '-';
          Magnitude(id, kLevelUnary);
        } else {
          Product(args);
        }
        return Close(parens);
      }
      case ExprKind::kPow: {
        const bool spelled = store.kind(args[1]) == ExprKind::kIntConst && store.int_value(args[1]) > 1 &&
                             store.int_value(args[1]) <= kMaxSpelledPower;
        if (!spelled) {
          Open(outer == kLevelAtom);
          Print(args[0], kLevelAtom);
          out += "**";
          Print(args[1], kLevelAtom);
          return Close(outer == kLevelAtom);
        }
        // Inside a product no brackets are needed: it is the same product.
        Open(outer == kLevelAtom);
        for (int64_t i = 0; i < store.int_value(args[1]); ++i) {
          if (i > 0) out += '*';
          Print(args[0], kLevelUnary);
        }
        return Close(outer == kLevelAtom);
      }
      case ExprKind::kFloorDiv:
        return Quotient(args, "//", outer);
      case ExprKind::kMod:
        return Quotient(args, "%", outer);
      case ExprKind::kTrueDiv:
        return Quotient(args, "/", outer);
      case ExprKind::kMax:
        return List("max", args);
      case ExprKind::kMin:
        return List("min", args);
      case ExprKind::kToFloat:
        return List("float", args);
      case ExprKind::kTrunc:
        return List("trunc", args);
      case ExprKind::kFloor:
        return List("floor", args);
      case ExprKind::kCeil:
        return List("ceil", args);
      case ExprKind::kRound:
        return List("round", args);
      case ExprKind::kSqrt:
        return List("sqrt", args);
      case ExprKind::kWhere:
        return List("where", args);
      case ExprKind::kFloatCall:
        return List(store.name(id), args);
      case ExprKind::kEq:
        return Binary(args[0], " == ", args[1], kLevelCompare, outer);
      case ExprKind::kNe:
        return Binary(args[0], " != ", args[1], kLevelCompare, outer);
      case ExprKind::kLt:
        return Binary(args[0], " < ", args[1], kLevelCompare, outer);
      case ExprKind::kLe:
        if (store.kind(args[0]) == ExprKind::kIntConst) return Binary(args[1], " >= ", args[0], kLevelCompare, outer);
        return Binary(args[0], " <= ", args[1], kLevelCompare, outer);
      case ExprKind::kAnd:
      case ExprKind::kOr: {
        const Level level = kind == ExprKind::kAnd ? kLevelAnd : kLevelOr;
        Open(outer > level);
        for (size_t i = 0; i < args.size(); ++i) {
          if (i > 0) out += kind == ExprKind::kAnd ? " and " : " or ";
          Print(args[i], static_cast<Level>(level + 1));
        }
        return Close(outer > level);
      }
      case ExprKind::kNot:
        Open(outer > kLevelNot);
        out += "not ";
        Print(args[0], kLevelCompare);
        return Close(outer > kLevelNot);
    }
  }

  // The numerator of a quotient may be a product or a quotient; in a product it stands in brackets.
  void Quotient(std::span<const ExprId> args, std::string_view op, Level outer) {
    const bool parens = outer > kLevelProduct;
    Open(parens);
    const ExprKind numerator = store.kind(args[0]);
    const bool power = numerator == ExprKind::kPow;
    Print(args[0], IsNegative(args[0]) || power ? kLevelUnary : kLevelProduct);
    out += op;
    const bool product = store.kind(args[1]) == ExprKind::kPow || store.kind(args[1]) == ExprKind::kMul;
    Print(args[1], product ? kLevelAtom : kLevelUnary);
    Close(parens);
  }
};

}  // namespace

std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text;
  for (int digits = 15; digits <= 17; ++digits) {
    text = absl::StrFormat("%.*g", digits, value);
    if (std::strtod(text.c_str(), nullptr) == value) break;
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string SymStore::Print(ExprId a) const {
  InfixPrinter printer{*this, {}};
  printer.Print(a, kLevelOr);
  return std::move(printer.out);
}

std::string SymStore::Print(Dim a) const {
  if (a.is_static()) return absl::StrCat(a.value());
  return a.is_valid() ? Print(a.expr()) : "<invalid>";
}

}  // namespace tare
