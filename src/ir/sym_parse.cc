// Text to expressions: one closed grammar for infix, Python guard text and SymPy's srepr. Nothing
// is looked up but symbols and the functions of a table; nesting and length are bounded.
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "ir/sym.h"
#include "ir/sym_bits.h"
#include "ir/sym_functions.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {
namespace {

constexpr size_t kMaxNameText = 256;
constexpr int64_t kMaxShift = 62;

absl::StatusOr<ExprId> Built(ExprId id) {
  if (!id.has_value()) return InvalidError("expr_c4", "expression overflows, divides by zero or grows too large");
  return id;
}

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNameChar(char c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// As PyTorch's SymPy functions are named.
std::optional<BitOperation> BitOperationOf(std::string_view name) {
  if (name == "BitwiseFn_bitwise_and") return BitOperation::kAnd;
  if (name == "BitwiseFn_bitwise_or") return BitOperation::kOr;
  if (name == "BitwiseFn_bitwise_xor") return BitOperation::kXor;
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, SymStore& store, SymbolScope& scope) : text_(text), store_(store), scope_(scope) {}

  absl::StatusOr<ExprId> Run() {
    TARE_ASSIGN_OR_RETURN(const ExprId result, Level(0));
    SkipSpace();
    if (at_ != text_.size()) return Wrong("unexpected text");
    return result;
  }

 private:
  using Args = llvm::SmallVector<ExprId, 8>;

  absl::Status Wrong(std::string_view what) const {
    return InvalidError("expr_c1", "expression: ", what, " at byte ", at_);
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool Take(std::string_view token) {
    SkipSpace();
    if (text_.substr(at_, token.size()) != token) return false;
    if (IsNameChar(token.back()) && at_ + token.size() < text_.size() && IsNameChar(text_[at_ + token.size()]))
      return false;
    at_ += token.size();
    return true;
  }
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  absl::Status Need(ExprId id, bool boolean) const {
    if ((store_.type(id) == ExprType::kBool) == boolean) return absl::OkStatus();
    return Wrong(boolean ? "a condition is needed" : "a number is needed");
  }
  absl::StatusOr<ExprId> Make(ExprKind kind, std::span<const ExprId> args, std::string_view name = {}) {
    const bool logic = kind == ExprKind::kAnd || kind == ExprKind::kOr || kind == ExprKind::kNot;
    const bool equality = kind == ExprKind::kEq || kind == ExprKind::kNe;
    if (equality) {
      TARE_RETURN_IF_ERROR(Need(args[1], store_.type(args[0]) == ExprType::kBool));
    } else if (kind == ExprKind::kWhere) {
      TARE_RETURN_IF_ERROR(Need(args[0], true));
      TARE_RETURN_IF_ERROR(Need(args[2], store_.type(args[1]) == ExprType::kBool));
    } else {
      for (const ExprId arg : args) TARE_RETURN_IF_ERROR(Need(arg, logic));
    }
    return Built(store_.Make(kind, args, name));
  }
  absl::StatusOr<ExprId> Make2(ExprKind kind, ExprId a, ExprId b) {
    const ExprId pair[] = {a, b};
    return Make(kind, pair);
  }

  // Operators from weak to strong; one level of C++ recursion per bracket or prefix of the text.
  struct Operator {
    std::string_view token;
    int level;
    ExprKind kind;
    enum Way : uint8_t { kPlain, kSwap, kMinus, kShift } way;
  };
  const Operator* NextOperator() {
    static constexpr Operator kOperators[] = {
        {"or", 0, ExprKind::kOr, Operator::kPlain},       {"and", 1, ExprKind::kAnd, Operator::kPlain},
        {"==", 3, ExprKind::kEq, Operator::kPlain},       {"!=", 3, ExprKind::kNe, Operator::kPlain},
        {"<=", 3, ExprKind::kLe, Operator::kPlain},       {">=", 3, ExprKind::kLe, Operator::kSwap},
        {"<<", 6, ExprKind::kMul, Operator::kShift},      {">>", 6, ExprKind::kFloorDiv, Operator::kShift},
        {"<", 3, ExprKind::kLt, Operator::kPlain},        {">", 3, ExprKind::kLt, Operator::kSwap},
        {"|", 4, ExprKind::kOr, Operator::kPlain},        {"&", 5, ExprKind::kAnd, Operator::kPlain},
        {"+", 7, ExprKind::kAdd, Operator::kPlain},       {"-", 7, ExprKind::kAdd, Operator::kMinus},
        {"**", 10, ExprKind::kPow, Operator::kPlain},     {"*", 8, ExprKind::kMul, Operator::kPlain},
        {"//", 8, ExprKind::kFloorDiv, Operator::kPlain}, {"/", 8, ExprKind::kTrueDiv, Operator::kPlain},
        {"%", 8, ExprKind::kMod, Operator::kPlain},
    };
    SkipSpace();
    for (const Operator& op : kOperators) {
      const size_t before = at_;
      if (Take(op.token)) {
        at_ = before;
        return &op;
      }
    }
    return nullptr;
  }

  absl::StatusOr<ExprId> Combine(const Operator& op, ExprId a, ExprId b) {
    switch (op.way) {
      case Operator::kPlain:
        return Make2(op.kind, a, b);
      case Operator::kSwap:
        return Make2(op.kind, b, a);
      case Operator::kMinus: {
        TARE_ASSIGN_OR_RETURN(const ExprId minus, Negate(b));
        return Make2(op.kind, a, minus);
      }
      case Operator::kShift:
        return Shift(op.kind, a, b);
    }
    return Wrong("unknown operator");
  }
  absl::StatusOr<ExprId> Negate(ExprId a) { return Make2(ExprKind::kMul, store_.OfDim(store_.Int(-1)), a); }
  absl::StatusOr<ExprId> Shift(ExprKind kind, ExprId a, ExprId b) {
    TARE_RETURN_IF_ERROR(Need(b, false));
    const ExprId two = store_.OfDim(Dim::Static(2));
    if (store_.kind(b) == ExprKind::kIntConst && (store_.int_value(b) < 0 || store_.int_value(b) > kMaxShift)) {
      return Built(ExprId{});
    }
    TARE_ASSIGN_OR_RETURN(const ExprId power, Make2(ExprKind::kPow, two, b));
    return Make2(kind, a, power);
  }

  absl::StatusOr<ExprId> Level(int level) {
    if (++depth_ > kMaxExprDepth) return InvalidError("expr_c3", "expression is nested deeper than ", kMaxExprDepth);
    TARE_ASSIGN_OR_RETURN(ExprId left, Prefix());
    while (const Operator* op = NextOperator()) {
      if (op->level < level) break;
      at_ += op->token.size();
      // A power binds to the right; comparisons chain as in Python: a < b < c.
      TARE_ASSIGN_OR_RETURN(const ExprId right, Level(op->level == 10 ? 9 : op->level + 1));
      const bool comparison = op->level == 3;
      TARE_ASSIGN_OR_RETURN(ExprId both, Combine(*op, left, right));
      for (ExprId last = right; comparison;) {
        const Operator* next = NextOperator();
        if (next == nullptr || next->level != 3) break;
        at_ += next->token.size();
        TARE_ASSIGN_OR_RETURN(const ExprId more, Level(4));
        TARE_ASSIGN_OR_RETURN(const ExprId link, Combine(*next, last, more));
        TARE_ASSIGN_OR_RETURN(both, Make2(ExprKind::kAnd, both, link));
        last = more;
      }
      left = both;
    }
    --depth_;
    return left;
  }

  absl::StatusOr<ExprId> Prefix() {
    // A run of signs is a loop, not recursion.
    if (Take("not")) {
      TARE_ASSIGN_OR_RETURN(const ExprId a, Level(2));
      return Make(ExprKind::kNot, {&a, 1});
    }
    if (Take("~")) {
      TARE_ASSIGN_OR_RETURN(const ExprId a, Level(9));
      return Make(ExprKind::kNot, {&a, 1});
    }
    if (Peek() == '-' || Peek() == '+') {
      const bool minus = text_[at_++] == '-';
      if (minus && IsDigit(Peek())) return Number(true);
      TARE_ASSIGN_OR_RETURN(const ExprId a, Level(9));
      TARE_RETURN_IF_ERROR(Need(a, false));
      return minus ? Negate(a) : a;
    }
    return Primary();
  }

  absl::StatusOr<ExprId> Primary() {
    const char c = Peek();
    if (c == '(') {
      ++at_;
      TARE_ASSIGN_OR_RETURN(const ExprId inner, Level(0));
      if (!Take(")")) return Wrong("`)` expected");
      return inner;
    }
    if (IsDigit(c) || c == '.') return Number(false);
    if (!IsNameStart(c)) return Wrong(c == '\0' ? "ends too early" : "unexpected character");
    std::string_view name = Name();
    if (Peek() == '[') return Path(name);
    if (Peek() == '(') {
      ++at_;
      return Call(name);
    }
    if (name.find('.') != std::string_view::npos) return Wrong("attribute");
    if (name == "true" || name == "True") return store_.Bool(true);
    if (name == "false" || name == "False") return store_.Bool(false);
    if (name == "oo" || name == "inf") return store_.Float(std::numeric_limits<double>::infinity());
    if (name == "nan") return store_.Float(std::numeric_limits<double>::quiet_NaN());
    return Symbol(name);
  }

  std::string_view Name() {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (IsNameChar(text_[at_]) || (text_[at_] == '.' && at_ + 1 < text_.size() && IsNameStart(text_[at_ + 1])))) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  absl::StatusOr<ExprId> Symbol(std::string_view name) {
    if (name.size() > kMaxNameText) return InvalidError("expr_c3", "symbol name is longer than ", kMaxNameText);
    TARE_ASSIGN_OR_RETURN(const ExprId symbol, scope_.Resolve(name));
    return Built(symbol);
  }

  // L['x'].size()[0]: the source of a value, one name for the scope.
  absl::StatusOr<ExprId> Path(std::string_view name) {
    const size_t start = at_ - name.size();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '[') {
        const size_t close = text_.find(']', at_);
        if (close == std::string_view::npos) return Wrong("`]` expected");
        at_ = close + 1;
      } else if (c == '.' && at_ + 1 < text_.size() && IsNameStart(text_[at_ + 1])) {
        ++at_;
        while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
      } else if (text_.substr(at_, 2) == "()") {
        at_ += 2;
      } else {
        break;
      }
    }
    return Symbol(text_.substr(start, at_ - start));
  }

  absl::StatusOr<ExprId> Number(bool minus) {
    SkipSpace();
    const size_t start = at_;
    bool real = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent_sign = (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && real;
      if (!IsDigit(c) && c != '.' && c != 'e' && c != 'E' && !exponent_sign) break;
      real |= !IsDigit(c) && !exponent_sign;
      ++at_;
    }
    std::string number = absl::StrCat(minus ? "-" : "", TextPiece(text_.substr(start, at_ - start)));
    if (at_ < text_.size() && IsNameChar(text_[at_])) return Wrong("number expected");
    if (real) return Real(number);
    TARE_ASSIGN_OR_RETURN(const int64_t value, Integer(number));
    // -2**2 is -(2**2).
    if (minus && Peek() == '*' && text_.substr(at_, 2) == "**") {
      at_ += 2;
      TARE_ASSIGN_OR_RETURN(const ExprId exponent, Level(9));
      TARE_ASSIGN_OR_RETURN(const int64_t base, Integer(std::string_view(number).substr(1)));
      TARE_ASSIGN_OR_RETURN(const ExprId power, Make2(ExprKind::kPow, store_.OfDim(store_.Int(base)), exponent));
      return Negate(power);
    }
    return store_.OfDim(store_.Int(value));
  }

  absl::StatusOr<ExprId> Real(std::string_view number) {
    const std::string copy(number);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || end != copy.c_str() + copy.size()) return Wrong("number expected");
    return Built(store_.Float(value));
  }

  absl::StatusOr<int64_t> Integer(std::string_view digits) {
    int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range) {
      return InvalidError("expr_c4", "expression: an integer of ", digits.size(), " digits");
    }
    if (error != std::errc() || stop != end) return Wrong("integer expected");
    return value;
  }

  absl::StatusOr<std::string_view> Quoted() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return Wrong("string expected");
    const size_t close = text_.find(quote, at_ + 1);
    if (close == std::string_view::npos) return Wrong("string does not end");
    const std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
    if (inside.find('\\') != std::string_view::npos) return Wrong("escape in a string");
    at_ = close + 1;
    return inside;
  }

  // `, name=value` up to the closing bracket: assumptions of a symbol, precision of a float.
  absl::Status Keywords() {
    while (Take(",")) {
      SkipSpace();
      const std::string_view name = at_ < text_.size() && IsNameStart(text_[at_]) ? Name() : std::string_view();
      if (name.empty() || !Take("=")) return Wrong("keyword expected");
      if (Peek() == '\'' || Peek() == '"') {
        TARE_RETURN_IF_ERROR(Quoted().status());
        continue;
      }
      const size_t start = at_;
      while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
      if (at_ == start) return Wrong("keyword's value expected");
    }
    if (!Take(")")) return Wrong("`)` expected");
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> SignedInteger() {
    SkipSpace();
    const size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return Integer(text_.substr(start, at_ - start));
  }

  absl::StatusOr<ExprId> Call(std::string_view name) {
    if (name == "Symbol") {
      TARE_ASSIGN_OR_RETURN(const std::string_view symbol, Quoted());
      if (symbol.empty() || !IsNameStart(symbol[0])) return Wrong("symbol name expected");
      for (const char c : symbol) {
        if (!IsNameChar(c)) return Wrong("symbol name expected");
      }
      TARE_RETURN_IF_ERROR(Keywords());
      return Symbol(symbol);
    }
    if (name == "Integer") {
      TARE_ASSIGN_OR_RETURN(const int64_t value, SignedInteger());
      if (!Take(")")) return Wrong("`)` expected");
      return store_.OfDim(store_.Int(value));
    }
    if (name == "Float") {
      std::string_view number;
      if (Peek() == '\'' || Peek() == '"') {
        TARE_ASSIGN_OR_RETURN(number, Quoted());
      } else {
        const size_t start = at_;
        while (at_ < text_.size() &&
               (IsNameChar(text_[at_]) || text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '+')) {
          ++at_;
        }
        number = text_.substr(start, at_ - start);
      }
      for (const char c : number) {
        if (!IsDigit(c) && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+') return Wrong("number expected");
      }
      TARE_RETURN_IF_ERROR(Keywords());
      return Real(number);
    }
    if (name == "Rational") {
      TARE_ASSIGN_OR_RETURN(const int64_t p, SignedInteger());
      if (!Take(",")) return Wrong("`,` expected");
      TARE_ASSIGN_OR_RETURN(const int64_t q, SignedInteger());
      if (!Take(")")) return Wrong("`)` expected");
      if (q == 0) return Built(ExprId{});
      return store_.Float(static_cast<double>(p) / static_cast<double>(q));
    }
    if (name == "Piecewise") return Piecewise();

    Args args;
    if (!Take(")")) {
      do {
        TARE_ASSIGN_OR_RETURN(const ExprId arg, Level(0));
        args.push_back(arg);
      } while (Take(","));
      if (!Take(")")) return Wrong("`)` or `,` expected");
    }
    return Function(name, args);
  }

  absl::Status Arity(std::string_view name, size_t count, int min_args, int max_args) const {
    if (count >= static_cast<size_t>(min_args) && count <= static_cast<size_t>(max_args)) return absl::OkStatus();
    return InvalidError("expr_c1", "expression: ", name, " with ", count, " arguments");
  }

  absl::StatusOr<ExprId> Function(std::string_view name, Args& args) {
    if (const ExprFunction* head = FindExprFunction(name)) {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), head->min_args, head->max_args));
      if (head->swap) std::swap(args[0], args[1]);
      return Make(head->kind, args, head->kind == ExprKind::kFloatCall ? name : std::string_view());
    }
    if (name == "Identity") {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), 1, 1));
      return args[0];
    }
    if (name == "CeilDiv") {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), 2, 2));
      TARE_ASSIGN_OR_RETURN(const ExprId minus, Negate(args[0]));
      TARE_ASSIGN_OR_RETURN(const ExprId quotient, Make2(ExprKind::kFloorDiv, minus, args[1]));
      return Negate(quotient);
    }
    if (name == "ModularIndexing") {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), 3, 3));
      TARE_ASSIGN_OR_RETURN(const ExprId quotient, Make2(ExprKind::kFloorDiv, args[0], args[1]));
      return Make2(ExprKind::kMod, quotient, args[2]);
    }
    if (name == "LShift" || name == "RShift") {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), 2, 2));
      return Shift(name == "LShift" ? ExprKind::kMul : ExprKind::kFloorDiv, args[0], args[1]);
    }
    if (const std::optional<BitOperation> operation = BitOperationOf(name)) {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), 2, 2));
      for (const ExprId arg : args) {
        if (store_.type(arg) != ExprType::kInt) return Wrong("integer expected");
      }
      const ExprId bits = MakeBits(store_, *operation, args[0], args[1]);
      if (!bits.has_value()) return InvalidError("expr_c2", "expression: ", name, " where neither side is a number");
      return bits;
    }
    if (name == "FloatPow") {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), 2, 2));
      TARE_ASSIGN_OR_RETURN(const ExprId base, Make(ExprKind::kToFloat, {&args[0], 1}));
      return Make2(ExprKind::kPow, base, args[1]);
    }
    if (name == "TruncToFloat") {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), 1, 1));
      return Make(ExprKind::kFloatCall, args, "trunc");
    }
    if (const std::string_view function = FloatFunction(name); !function.empty()) {
      TARE_RETURN_IF_ERROR(Arity(name, args.size(), 1, 1));
      return Make(ExprKind::kFloatCall, args, function);
    }
    return InvalidError("expr_c2", "expression: unknown function `", name.substr(0, 64), "`");
  }

  // Piecewise(ExprCondPair(e, c), …, ExprCondPair(e, true)); pairs may be plain tuples.
  absl::StatusOr<ExprId> Piecewise() {
    Args values, conditions;
    do {
      if (!Take("ExprCondPair(") && !Take("(")) return Wrong("ExprCondPair expected");
      TARE_ASSIGN_OR_RETURN(const ExprId value, Level(0));
      if (!Take(",")) return Wrong("`,` expected");
      TARE_ASSIGN_OR_RETURN(const ExprId condition, Level(0));
      if (!Take(")")) return Wrong("`)` expected");
      TARE_RETURN_IF_ERROR(Need(condition, true));
      values.push_back(value);
      conditions.push_back(condition);
    } while (Take(","));
    if (!Take(")")) return Wrong("`)` expected");
    if (conditions.back() != store_.Bool(true)) return Wrong("Piecewise without a last case `true`");
    ExprId result = values.back();
    for (size_t i = values.size() - 1; i > 0; --i) {
      const ExprId list[] = {conditions[i - 1], values[i - 1], result};
      TARE_ASSIGN_OR_RETURN(result, Make(ExprKind::kWhere, list));
    }
    return result;
  }

  std::string_view text_;
  SymStore& store_;
  SymbolScope& scope_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<ExprId> ParseExpr(std::string_view text, SymStore& store, SymbolScope& scope) {
  if (text.size() > kMaxExprText) {
    return InvalidError("expr_c3", "expression of ", text.size(), " bytes; at most ", kMaxExprText, " are read");
  }
  return Parser(text, store, scope).Run();
}

}  // namespace tare
