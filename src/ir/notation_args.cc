#include "ir/normalize.h"
#include "ir/notation.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr size_t kMaxItems = 1 << 20;  // of one list

class AttrReader {
 public:
  AttrReader(Context& context, Cursor& cursor, SymbolScope& scope, OperandScope& operands)
      : context_(context), cursor_(cursor), scope_(scope), operands_(operands) {}

  absl::StatusOr<AttrValue> Read(int depth) {
    if (depth > kMaxAttrDepth) return cursor_.Error("lists are nested too deeply");
    switch (cursor_.Peek()) {
      case '"': {
        TARE_ASSIGN_OR_RETURN(const std::string text, cursor_.QuotedText());
        return AttrValue::String(context_.strings.Intern(text));
      }
      case '[':
        return ReadList(depth);
      case '{':
        return ReadDict(depth);
      case '%': {
        const size_t start = cursor_.offset();
        cursor_.Take("%");
        TARE_ASSIGN_OR_RETURN(const std::string name, cursor_.WordOrQuoted("a name"));
        return Place(start, operands_.Node(name));
      }
      case '@': {
        const size_t start = cursor_.offset();
        cursor_.Take("@");
        TARE_ASSIGN_OR_RETURN(const std::string name, cursor_.WordOrQuoted("a name"));
        absl::StatusOr<GraphId> graph = operands_.Graph(name);
        if (!graph.ok()) return At(start, graph.status());
        return AttrValue::OfGraph(*graph);
      }
      default:
        return ReadWord();
    }
  }

 private:
  absl::Status At(size_t start, const absl::Status& status) {
    const auto message = status.message();
    return cursor_.ErrorAt(start, {message.data(), message.size()});
  }
  absl::StatusOr<AttrValue> Place(size_t start, const absl::StatusOr<uint32_t>& index) {
    if (!index.ok()) return At(start, index.status());
    return AttrValue::Operand(*index);
  }

  absl::StatusOr<AttrValue> ReadList(int depth) {
    cursor_.Take("[");
    std::vector<AttrValue> items;
    if (!cursor_.Take("]")) {
      do {
        if (items.size() == kMaxItems) return cursor_.Error("too many items");
        TARE_ASSIGN_OR_RETURN(items.emplace_back(), Read(depth + 1));
      } while (cursor_.Take(","));
      TARE_RETURN_IF_ERROR(cursor_.Expect("]"));
    }
    return MakeList(context_.strings, items);
  }

  absl::StatusOr<AttrValue> ReadDict(int depth) {
    cursor_.Take("{");
    std::vector<AttrValue> items;
    if (!cursor_.Take("}")) {
      do {
        if (items.size() >= kMaxItems) return cursor_.Error("too many items");
        TARE_ASSIGN_OR_RETURN(const std::string key, cursor_.QuotedText());
        items.push_back(AttrValue::String(context_.strings.Intern(key)));
        TARE_RETURN_IF_ERROR(cursor_.Expect(":"));
        TARE_ASSIGN_OR_RETURN(items.emplace_back(), Read(depth + 1));
      } while (cursor_.Take(","));
      TARE_RETURN_IF_ERROR(cursor_.Expect("}"));
    }
    return AttrValue::Dict(context_.strings.Copy(std::span<const AttrValue>(items)));
  }

  absl::StatusOr<double> ReadDouble(std::string_view stops) {
    const size_t start = cursor_.offset();
    const std::optional<double> value = ParseDouble(cursor_.Until(stops));
    if (!value) return cursor_.ErrorAt(start, "expected a number");
    return *value;
  }

  absl::StatusOr<AttrValue> ReadWord() {
    const size_t start = cursor_.offset();
    const std::string_view word = cursor_.Word();
    const char after = cursor_.Peek();
    if (word == "none") return AttrValue::None();
    if (word == "true" || word == "false") {
      if (after == ',' || after == ')' || after == ']' || after == '}') return AttrValue::Bool(word == "true");
    }
    if (word == "complex" && cursor_.Take("(")) {
      TARE_ASSIGN_OR_RETURN(const double re, ReadDouble(","));
      TARE_RETURN_IF_ERROR(cursor_.Expect(","));
      TARE_ASSIGN_OR_RETURN(const double im, ReadDouble(")"));
      TARE_RETURN_IF_ERROR(cursor_.Expect(")"));
      return AttrValue::Complex(re, im);
    }
    if ((word == "device" || word == "operator") && cursor_.Take("(")) {
      TARE_ASSIGN_OR_RETURN(const std::string text, cursor_.QuotedText());
      TARE_RETURN_IF_ERROR(cursor_.Expect(")"));
      if (word == "operator") return AttrValue::Operator(context_.strings.Intern(text));
      const std::optional<Device> device = DeviceByName(text);
      if (!device) return cursor_.ErrorAt(start, "unknown device");
      return AttrValue::OfDevice(*device);
    }
    const bool scalar = (word == "int" || word == "bool") && after == '(';
    const std::optional<DType> dtype = DTypeByName(word);
    if (scalar || (dtype && after == '[')) {
      cursor_.Rewind(start);
      TARE_ASSIGN_OR_RETURN(const MetaId meta, ReadMeta(context_, cursor_, scope_));
      return Place(start, operands_.Value(meta));
    }
    if (dtype) return AttrValue::OfDType(*dtype);
    if (const std::optional<MemoryFormat> format = MemoryFormatByName(word)) return AttrValue::OfMemoryFormat(*format);
    if (const std::optional<Layout> layout = LayoutByName(word)) return AttrValue::OfLayout(*layout);
    cursor_.Rewind(start);
    return ReadNumber(start);
  }

  absl::StatusOr<AttrValue> ReadNumber(size_t start) {
    const std::string_view text = cursor_.Until(",)]}");
    Cursor number(text);
    if (const std::optional<int64_t> value = number.TakeInteger(); value && number.AtEnd()) {
      return AttrValue::Int(*value);
    }
    if (const std::optional<double> value = ParseDouble(text)) return AttrValue::Float(*value);
    cursor_.Rewind(start);
    SymStore& syms = context_.syms;
    TARE_ASSIGN_OR_RETURN(const ExprId expr, ReadExpr(context_, cursor_, scope_, ",)]}"));
    switch (syms.kind(expr)) {
      case ExprKind::kIntConst:
        return AttrValue::Int(syms.int_value(expr));
      case ExprKind::kFloatConst:
        return AttrValue::Float(syms.float_value(expr));
      case ExprKind::kBoolConst:
        return AttrValue::Bool(syms.bool_value(expr));
      default:
        break;
    }
    switch (syms.type(expr)) {
      case ExprType::kInt:
        return Place(start, operands_.Value(context_.metas.Int(syms.ToDim(expr))));
      case ExprType::kFloat:
        return Place(start, operands_.Value(context_.metas.Float(expr)));
      case ExprType::kBool:
        return Place(start, operands_.Value(context_.metas.Bool(expr)));
    }
    return cursor_.ErrorAt(start, "expected a value");
  }

  Context& context_;
  Cursor& cursor_;
  SymbolScope& scope_;
  OperandScope& operands_;
};

class MetasInPlace final : public OperandScope {
 public:
  absl::StatusOr<uint32_t> Value(MetaId meta) override {
    metas.push_back(meta);
    return static_cast<uint32_t>(metas.size() - 1);
  }
  std::vector<MetaId> metas;
};

}  // namespace

absl::StatusOr<uint32_t> OperandScope::Node(std::string_view name) {
  return absl::InvalidArgumentError(Cat("%", name, " is not known here"));
}
absl::StatusOr<uint32_t> OperandScope::Value(MetaId) {
  return absl::InvalidArgumentError("metadata cannot be an argument here");
}
absl::StatusOr<GraphId> OperandScope::Graph(std::string_view name) {
  return absl::InvalidArgumentError(Cat("graph @", name, " is not known here"));
}

absl::StatusOr<AttrValue> ReadAttr(Context& context, Cursor& cursor, SymbolScope& scope, OperandScope& operands) {
  return AttrReader(context, cursor, scope, operands).Read(0);
}

absl::StatusOr<AttrsId> ReadArgs(Context& context, Cursor& cursor, Op op, SymbolScope& scope, OperandScope& operands) {
  TARE_RETURN_IF_ERROR(cursor.Expect("("));
  std::vector<NamedAttr> args;
  bool keyword = false;
  const size_t start = cursor.offset();
  if (!cursor.Take(")")) {
    do {
      if (args.size() == kMaxItems) return cursor.Error("too many arguments");
      if (cursor.Take("*")) {  // what follows was passed by keyword, until the next one
        keyword = !keyword;
        continue;
      }
      NamedAttr arg;
      const size_t offset = cursor.offset();
      if (cursor.Peek() == '"' || !cursor.PeekWord().empty()) {
        TARE_ASSIGN_OR_RETURN(const std::string name, cursor.WordOrQuoted("an argument"));
        if (cursor.Take("=") && cursor.Peek() != '=') {
          arg.name = context.strings.Intern(name);
        } else {
          cursor.Rewind(offset);
        }
      }
      arg.keyword = keyword;
      TARE_ASSIGN_OR_RETURN(arg.value, ReadAttr(context, cursor, scope, operands));
      args.push_back(arg);
    } while (cursor.Take(","));
    TARE_RETURN_IF_ERROR(cursor.Expect(")"));
  }
  absl::StatusOr<AttrsId> attrs = NormalizeArgs(context, op, args);
  if (!attrs.ok()) {
    const auto message = attrs.status().message();
    return cursor.ErrorAt(start, {message.data(), message.size()});
  }
  return attrs;
}

absl::StatusOr<Call> ReadCall(Context& context, Cursor& cursor, SymbolScope& scope) {
  const size_t start = cursor.offset();
  TARE_ASSIGN_OR_RETURN(const std::string name, cursor.WordOrQuoted("an operator"));
  Call call;
  call.op = context.ops.Find(name);
  if (!call.op.has_value()) {
    return CheckError(absl::StatusCode::kNotFound, "text_c2", Cat("unknown operator ", name));
  }
  MetasInPlace operands;
  TARE_ASSIGN_OR_RETURN(call.attrs, ReadArgs(context, cursor, call.op, scope, operands));
  if (operands.metas.size() > static_cast<size_t>(kMaxOperands)) return cursor.ErrorAt(start, "too many operands");
  call.operands = std::move(operands.metas);
  return call;
}

}  // namespace tare
