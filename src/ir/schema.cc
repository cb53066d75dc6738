#include "ir/schema.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "ir/notation.h"
#include "ir/status.h"
#include "ir/stores.h"

namespace tare {
namespace {

constexpr size_t kMaxSchemaText = 1 << 16;
constexpr int kMaxTypeNesting = 16;
constexpr int64_t kMaxListSize = 64;  // T[n]

struct TypeRow {
  std::string_view name;
  SchemaType type;
};
constexpr TypeRow kTypes[] = {
    {"Tensor", SchemaType::kTensor}, {"int", SchemaType::kInt},          {"SymInt", SchemaType::kSymInt},
    {"float", SchemaType::kFloat},   {"SymFloat", SchemaType::kFloat},   {"bool", SchemaType::kBool},
    {"SymBool", SchemaType::kBool},  {"Scalar", SchemaType::kScalar},    {"number", SchemaType::kScalar},
    {"str", SchemaType::kString},    {"ScalarType", SchemaType::kDType}, {"MemoryFormat", SchemaType::kMemoryFormat},
    {"Layout", SchemaType::kLayout}, {"Device", SchemaType::kDevice},    {"Generator", SchemaType::kGenerator},
    {"Any", SchemaType::kAny},       {"Graph", SchemaType::kGraph},
};

// Names that schemas give as defaults, besides numbers and strings.
struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr DTypeName kTorchNames[] = {{"long", DType::kI64},    {"int", DType::kI32},    {"short", DType::kI16},
                                     {"float", DType::kF32},   {"double", DType::kF64}, {"half", DType::kF16},
                                     {"byte", DType::kU8},     {"char", DType::kI8},    {"cfloat", DType::kC64},
                                     {"cdouble", DType::kC128}};
// c10::ScalarType numbers, as schemas printed by torch give them. Not those of the export format.
constexpr DType kScalarTypes[] = {DType::kU8,  DType::kI8,  DType::kI16, DType::kI32, DType::kI64,  DType::kF16,
                                  DType::kF32, DType::kF64, DType::kC32, DType::kC64, DType::kC128, DType::kBool};
constexpr MemoryFormat kMemoryFormats[] = {MemoryFormat::kContiguous, MemoryFormat::kPreserve,
                                           MemoryFormat::kChannelsLast, MemoryFormat::kChannelsLast3d};

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

class Parser {
 public:
  Parser(std::string_view text, StringPool& pool) : text_(text), pool_(pool) {}

  absl::StatusOr<Schema> Parse() {
    if (text_.size() > kMaxSchemaText) return Error("schema is too long");
    Schema schema;
    while (at_ < text_.size() && text_[at_] != '(') ++at_;  // an operator's name may come first
    if (!Take("(")) return Error("expected '('");
    bool keyword_only = false;
    while (!Take(")")) {
      if (!schema.args.empty() || keyword_only || schema.variadic) {
        if (!Take(",")) return Error("expected ',' or ')'");
      }
      if (Take("...")) {
        schema.variadic = true;
      } else if (Take("*")) {
        keyword_only = true;
      } else {
        TARE_ASSIGN_OR_RETURN(SchemaArg arg, ParseArg());
        arg.keyword_only = keyword_only;
        if (schema.IndexOf(arg.name) >= 0) return Error(Cat("argument ", arg.name, " is there twice"));
        schema.args.push_back(std::move(arg));
      }
    }
    if (!Take("->")) return Error("expected '->'");
    if (Take("...")) return Finish(std::move(schema));
    if (!AtReturnList()) {
      TARE_ASSIGN_OR_RETURN(SchemaArg value, ParseType());
      value.name = Word();
      schema.returns.push_back(std::move(value));
      return Finish(std::move(schema));
    }
    Take("(");
    while (!Take(")")) {
      if (!schema.returns.empty() && !Take(",")) return Error("expected ',' or ')'");
      if (Take("...")) continue;
      TARE_ASSIGN_OR_RETURN(SchemaArg value, ParseType());
      value.name = Word();
      schema.returns.push_back(std::move(value));
    }
    return Finish(std::move(schema));
  }

 private:
  absl::Status Error(std::string_view what) const {
    return InvalidError("schema_c1", what, " at column ", at_ + 1, " of schema '", text_.substr(0, 200), "'");
  }
  absl::StatusOr<Schema> Finish(Schema schema) {
    Blanks();
    if (at_ != text_.size()) return Error("unexpected text after the schema");
    return schema;
  }
  void Blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool Take(std::string_view token) {
    Blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  char Peek() {
    Blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::string_view Word() {
    Blanks();
    const size_t start = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  // `(` opens a list of returns unless more of a type follows its `)`: a lone tuple type `(int, int)[]`.
  bool AtReturnList() {
    if (Peek() != '(') return false;
    int depth = 0;
    for (size_t i = at_; i < text_.size(); ++i) {
      if (text_[i] == '(') ++depth;
      if (text_[i] == ')' && --depth == 0) return text_.find_first_not_of(" \n\t", i + 1) == std::string_view::npos;
    }
    return true;
  }

  absl::Status SkipBalanced() {
    int depth = 0;
    do {
      if (at_ >= text_.size()) return Error("expected ')'");
      if (text_[at_] == '(' && ++depth > kMaxTypeNesting) return Error("types are nested too deeply");
      if (text_[at_] == ')') --depth;
      ++at_;
    } while (depth > 0);
    return absl::OkStatus();
  }

  // Alias annotations: (a) (a!) (a|b) (a -> *) (*). What else is in parentheses are type parameters.
  bool TakeAlias(SchemaArg& arg) {
    const size_t close = text_.find(')', at_);
    if (close == std::string_view::npos) return false;
    const std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
    if (inside.empty() || inside.find_first_not_of("abcdefghijklmnopqrstuvwxyz!|*-> ") != std::string_view::npos) {
      return false;
    }
    if (inside.size() > 1 && inside[1] >= 'a' && inside[1] <= 'z') return false;  // a word: Future(t) is ambiguous
    arg.alias = inside[0];
    arg.writes = inside.find('!') != std::string_view::npos;
    at_ = close + 1;
    return true;
  }

  absl::StatusOr<SchemaArg> ParseType() {
    SchemaArg arg;
    arg.type = SchemaType::kAny;
    if (Peek() == '(') {
      TARE_RETURN_IF_ERROR(SkipBalanced());
    } else {
      const std::string_view name = Word();
      if (name.empty()) return Error("expected a type");
      bool known = false;
      for (const TypeRow& row : kTypes) {
        if (row.name == name) {
          arg.type = row.type;
          known = true;
        }
      }
      const bool generic = name == "Dict" || name == "List" || name == "Future" || name == "RRef" || name == "Await";
      if (!known && generic && Peek() == '(') TARE_RETURN_IF_ERROR(SkipBalanced());
    }
    for (;;) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      if (c == '(') {
        if (!TakeAlias(arg)) return Error("expected an alias annotation");
      } else if (c == '?') {
        ++at_;
        arg.optional = true;
      } else if (c == '[') {
        ++at_;
        if (arg.list) arg.type = SchemaType::kAny;  // a list of lists
        arg.list = true;
        arg.element_optional = std::exchange(arg.optional, false);
        arg.list_size = -1;
        if (Peek() != ']') {
          int64_t size = 0;
          const std::string_view digits = Word();
          const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
          if (error != std::errc() || end != digits.data() + digits.size() || size < 0 || size > kMaxListSize) {
            return Error("expected the size of a list, at most 64");
          }
          arg.list_size = static_cast<int>(size);
        }
        if (!Take("]")) return Error("expected ']'");
      } else {
        return arg;
      }
    }
  }

  absl::StatusOr<SchemaArg> ParseArg() {
    TARE_ASSIGN_OR_RETURN(SchemaArg arg, ParseType());
    arg.name = Word();
    if (arg.name.empty()) return Error("expected the name of an argument");
    if (Take("=")) {
      arg.has_default = true;
      TARE_ASSIGN_OR_RETURN(arg.default_value, ParseDefault(arg));
    }
    return arg;
  }

  absl::StatusOr<AttrValue> ParseDefault(const SchemaArg& arg) {
    if (!Take("[")) {
      TARE_ASSIGN_OR_RETURN(const AttrValue value, ParseItem(arg.type));
      if (!arg.list || value.is_none()) return value;
      const std::vector<AttrValue> fill(arg.list_size < 0 ? 1 : arg.list_size, value);
      return MakeList(pool_, fill);
    }
    if (!arg.list && arg.type != SchemaType::kAny) return Error("a list is the default of what is no list");
    std::vector<AttrValue> items;
    while (!Take("]")) {
      if (!items.empty() && !Take(",")) return Error("expected ',' or ']'");
      TARE_ASSIGN_OR_RETURN(items.emplace_back(), ParseItem(arg.type));
    }
    return MakeList(pool_, items);
  }

  absl::StatusOr<AttrValue> ParseItem(SchemaType type) {
    const char c = Peek();
    if (c == '"' || c == '\'') {
      TARE_ASSIGN_OR_RETURN(const std::string text, ParseString(c));
      if (type != SchemaType::kDevice) return AttrValue::String(pool_.Intern(text));
      const std::optional<Device> device = DeviceByName(text);
      if (!device) return Error("expected a device");
      return AttrValue::OfDevice(*device);
    }
    if (c == '{') {  // an empty dict
      if (!Take("{") || !Take("}")) return Error("expected '}'");
      return AttrValue::Dict({});
    }
    if (c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9')) return ParseNumber(type);
    const std::string_view word = Word();
    if (word == "None") return AttrValue::None();
    if (word == "True" || word == "False") return AttrValue::Bool(word == "True");
    if (word == "inf") return AttrValue::Float(std::numeric_limits<double>::infinity());
    if (word == "nan") return AttrValue::Float(std::numeric_limits<double>::quiet_NaN());
    if (word == "Mean") return AttrValue::Int(1);  // at::Reduction
    if (word == "Sum") return AttrValue::Int(2);
    if (type == SchemaType::kDType) {
      for (const DTypeName& row : kTorchNames) {
        if (row.name == word) return AttrValue::OfDType(row.dtype);
      }
      for (int i = 0; i < kNumDTypes; ++i) {
        const DTypeRow& row = Row(static_cast<DType>(i));
        if (row.name == word || row.torch_name == word) return AttrValue::OfDType(static_cast<DType>(i));
      }
    }
    if (type == SchemaType::kMemoryFormat) {
      constexpr std::string_view kSuffix = "_format";
      std::string_view name = word;
      if (name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix) {
        name.remove_suffix(kSuffix.size());
      }
      if (const std::optional<MemoryFormat> format = MemoryFormatByName(name))
        return AttrValue::OfMemoryFormat(*format);
    }
    if (type == SchemaType::kLayout) {
      if (const std::optional<Layout> layout = LayoutByName(word)) return AttrValue::OfLayout(*layout);
    }
    return Error(Cat("unknown default '", word, "'"));
  }

  absl::StatusOr<std::string> ParseString(char quote) {
    std::string out;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return out;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    return Error("expected the end of a string");
  }

  absl::StatusOr<AttrValue> ParseNumber(SchemaType type) {
    const size_t start = at_;
    while (at_ < text_.size() && (IsNameChar(text_[at_]) || text_[at_] == '-' || text_[at_] == '+')) ++at_;
    const std::string_view token = text_.substr(start, at_ - start);
    int64_t integer = 0;
    const char* end = token.data() + token.size();
    if (const auto [stop, error] = std::from_chars(token.data(), end, integer); error == std::errc() && stop == end) {
      if (type == SchemaType::kFloat) return AttrValue::Float(static_cast<double>(integer));
      if (type == SchemaType::kDType && integer >= 0 && integer < static_cast<int64_t>(std::size(kScalarTypes))) {
        return AttrValue::OfDType(kScalarTypes[integer]);
      }
      if (type == SchemaType::kMemoryFormat && integer >= 0 && integer < 4) {
        return AttrValue::OfMemoryFormat(kMemoryFormats[integer]);
      }
      if (type == SchemaType::kLayout && integer == 0) return AttrValue::OfLayout(Layout::kStrided);
      return AttrValue::Int(integer);
    }
    const std::optional<double> real = ParseDouble(token);
    if (!real) return Error(Cat("'", token, "' is no number"));
    return AttrValue::Float(*real);
  }

  std::string_view text_;
  StringPool& pool_;
  size_t at_ = 0;
};

std::string PrintDefault(const AttrValue& v) {
  switch (v.kind) {
    case AttrKind::kNone:
      return "None";
    case AttrKind::kBool:
      return v.flag ? "True" : "False";
    case AttrKind::kInt:
      return Cat(v.integer);
    case AttrKind::kFloat:
      return PrintDouble(v.real);
    case AttrKind::kString:
      return Quote(v.text());
    case AttrKind::kDType:
      return std::string(Name(v.dtype));
    case AttrKind::kMemoryFormat:
      return Cat(Name(v.memory_format), "_format");
    case AttrKind::kLayout:
      return std::string(Name(v.layout));
    case AttrKind::kDevice:
      return Cat("\"", PrintDevice(v.device), "\"");
    case AttrKind::kInts: {
      std::string out = "[";
      for (const int64_t i : v.ints()) CatTo(out, out.size() > 1 ? ", " : "", i);
      return out + "]";
    }
    case AttrKind::kList: {
      std::string out = "[";
      for (const AttrValue& item : v.items()) CatTo(out, out.size() > 1 ? ", " : "", PrintDefault(item));
      return out + "]";
    }
    default:
      return "{}";
  }
}

std::string PrintArg(const SchemaArg& arg) {
  std::string out;
  for (const TypeRow& row : kTypes) {
    if (row.type == arg.type) {
      out = row.name;
      break;  // the first name of a type
    }
  }
  if (arg.alias != 0) CatTo(out, "(", std::string_view(&arg.alias, 1), arg.writes ? "!" : "", ")");
  if (arg.element_optional) out += "?";
  if (arg.list) CatTo(out, "[", arg.list_size < 0 ? "" : Cat(arg.list_size), "]");
  if (arg.optional) out += "?";
  if (!arg.name.empty()) CatTo(out, " ", arg.name);
  if (arg.has_default) CatTo(out, "=", PrintDefault(arg.default_value));
  return out;
}

}  // namespace

int Schema::IndexOf(std::string_view name) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

bool IsTensorLike(const SchemaArg& arg) { return arg.type == SchemaType::kTensor; }

absl::StatusOr<Schema> ParseSchema(std::string_view text, StringPool& pool) { return Parser(text, pool).Parse(); }

std::string Print(const Schema& schema) {
  std::string out = "(";
  bool keyword_only = false;
  for (const SchemaArg& arg : schema.args) {
    if (arg.keyword_only && !keyword_only) CatTo(out, out.size() > 1 ? ", " : "", "*");
    keyword_only = arg.keyword_only;
    CatTo(out, out.size() > 1 ? ", " : "", PrintArg(arg));
  }
  if (schema.variadic) CatTo(out, out.size() > 1 ? ", " : "", "...");
  out += ") -> ";
  if (schema.returns.size() == 1 && schema.returns[0].name.empty()) return out + PrintArg(schema.returns[0]);
  out += "(";
  for (size_t i = 0; i < schema.returns.size(); ++i) CatTo(out, i ? ", " : "", PrintArg(schema.returns[i]));
  return out + ")";
}

}  // namespace tare
