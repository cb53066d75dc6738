#include <algorithm>

#include "ir/notation.h"
#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {
namespace {

constexpr size_t kMaxItems = 1 << 20;  // of one list

Dim AtLeastOne(SymStore& syms, Dim dim) {
  return dim.is_static() ? Dim::Static(std::max<int64_t>(dim.value(), 1)) : syms.Max(dim, Dim::Static(1));
}

absl::StatusOr<llvm::SmallVector<Dim, 8>> ReadDims(Context& context, Cursor& cursor, SymbolScope& scope,
                                                   std::string_view close) {
  llvm::SmallVector<Dim, 8> dims;
  if (cursor.Take(close)) return dims;
  const std::string stops = Cat(",", close);
  do {
    if (dims.size() == static_cast<size_t>(kMaxRank)) return cursor.Error("more than 64 dims");
    TARE_ASSIGN_OR_RETURN(const Dim dim, ReadDim(context, cursor, scope, stops));
    dims.push_back(dim);
  } while (cursor.Take(","));
  TARE_RETURN_IF_ERROR(cursor.Expect(close));
  return dims;
}

// After the dtype, at `[`.
absl::StatusOr<MetaId> ReadTensor(Context& context, Cursor& cursor, SymbolScope& scope, DType dtype) {
  TARE_RETURN_IF_ERROR(cursor.Expect("["));
  TARE_ASSIGN_OR_RETURN(const auto shape, ReadDims(context, cursor, scope, "]"));
  llvm::SmallVector<Dim, 8> strides(shape.size());
  Dim stride = Dim::Static(1);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = context.syms.Mul(stride, AtLeastOne(context.syms, shape[i]));
  }
  TensorMeta tensor;
  tensor.dtype = dtype;
  if (cursor.Take("{")) {
    TARE_ASSIGN_OR_RETURN(strides, ReadDims(context, cursor, scope, "}"));
    if (strides.size() != shape.size()) return cursor.Error("as many strides as dims are needed");
  }
  if (cursor.Take("@")) {
    if (cursor.Take("(")) {
      TARE_ASSIGN_OR_RETURN(tensor.offset, ReadDim(context, cursor, scope, ")"));
      TARE_RETURN_IF_ERROR(cursor.Expect(")"));
    } else {
      const size_t start = cursor.offset();
      const std::string_view word = cursor.Word();
      Cursor inside(word);
      absl::StatusOr<Dim> offset = ReadDim(context, inside, scope, "");
      if (!offset.ok()) return cursor.ErrorAt(start, "expected a storage offset");
      tensor.offset = *offset;
    }
  }
  if (cursor.Take("<")) {
    do {
      const std::string_view word = cursor.PeekWord();
      if (const std::optional<Layout> layout = LayoutByName(word)) {
        cursor.Word();
        tensor.layout = *layout;
        continue;
      }
      const size_t start = cursor.offset();
      const std::optional<Device> device = DeviceByName(cursor.Until(",>"));
      if (!device) return cursor.ErrorAt(start, "expected a layout or a device");
      tensor.device = *device;
    } while (cursor.Take(","));
    TARE_RETURN_IF_ERROR(cursor.Expect(">"));
  }
  tensor.shape = {shape.data(), shape.size()};
  tensor.strides = {strides.data(), strides.size()};
  return context.metas.Tensor(tensor);
}

absl::StatusOr<MetaId> ReadMetaAt(Context& context, Cursor& cursor, SymbolScope& scope, int depth) {
  if (depth > kMaxAttrDepth) return cursor.Error("lists are nested too deeply");
  const char c = cursor.Peek();
  if (c == '(' || c == '[') {
    const std::string_view close = c == '(' ? ")" : "]";
    cursor.Take(c == '(' ? "(" : "[");
    std::vector<MetaId> items;
    if (!cursor.Take(close)) {
      do {
        if (items.size() == kMaxItems) return cursor.Error("too many items");
        TARE_ASSIGN_OR_RETURN(items.emplace_back(), ReadMetaAt(context, cursor, scope, depth + 1));
      } while (cursor.Take(","));
      TARE_RETURN_IF_ERROR(cursor.Expect(close));
    }
    return c == '(' ? context.metas.Tuple(items) : context.metas.List(items);
  }
  if (c == '"') {
    TARE_ASSIGN_OR_RETURN(const std::string text, cursor.QuotedText());
    return context.metas.String(text);
  }
  const size_t start = cursor.offset();
  const std::string_view word = cursor.Word();
  if (word == "none") return context.metas.None();
  if (word == "token") return context.metas.Token();
  if (word == "object") {
    TARE_RETURN_IF_ERROR(cursor.Expect("("));
    Meta meta;
    meta.kind = MetaKind::kObject;
    TARE_ASSIGN_OR_RETURN(const std::string text, cursor.QuotedText());
    meta.text = text;
    TARE_RETURN_IF_ERROR(cursor.Expect(")"));
    return context.metas.Intern(meta);
  }
  const std::optional<DType> dtype = DTypeByName(word);
  if (dtype && cursor.Peek() == '[') return ReadTensor(context, cursor, scope, *dtype);
  const ExprType type = word == "int" ? ExprType::kInt : word == "float" ? ExprType::kFloat : ExprType::kBool;
  if (word == "int" || word == "float" || word == "bool") {
    if (!cursor.Take("(")) {
      if (type == ExprType::kInt) return context.metas.Int(Dim::Invalid());
      return type == ExprType::kFloat ? context.metas.Float({}) : context.metas.Bool({});
    }
    TARE_ASSIGN_OR_RETURN(const ExprId expr, ReadExpr(context, cursor, scope, ")"));
    if (context.syms.type(expr) != type) return cursor.ErrorAt(start, "the expression is of another type");
    TARE_RETURN_IF_ERROR(cursor.Expect(")"));
    if (type == ExprType::kInt) return context.metas.Int(context.syms.ToDim(expr));
    return type == ExprType::kFloat ? context.metas.Float(expr) : context.metas.Bool(expr);
  }
  return cursor.ErrorAt(start, "expected metadata");
}

}  // namespace

absl::StatusOr<ExprId> ReadExpr(Context& context, Cursor& cursor, SymbolScope& scope, std::string_view stops) {
  cursor.Peek();
  const size_t start = cursor.offset();
  const std::string_view text = cursor.Until(stops);
  if (text.empty()) return cursor.ErrorAt(start, "expected a value");
  absl::StatusOr<ExprId> expr = ParseExpr(text, context.syms, scope);
  if (!expr.ok()) {
    const auto message = expr.status().message();
    return cursor.ErrorAt(start, {message.data(), message.size()});
  }
  return expr;
}

SymbolRow TextSymbols::DefaultRow(std::string_view name) {
  const auto starts = [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; };
  SymbolRow row;
  row.name = name;
  row.kind = starts("zuf")  ? SymbolKind::kUnbackedFloat
             : starts("zf") ? SymbolKind::kFloat
             : starts("u")  ? SymbolKind::kUnbacked
                            : SymbolKind::kBacked;
  row.min = row.kind == SymbolKind::kUnbacked ? 0 : 2;
  return row;
}

absl::Status TextSymbols::Declare(const SymbolRow& row) {
  const bool is_float = row.kind == SymbolKind::kFloat || row.kind == SymbolKind::kUnbackedFloat;
  const ExprId expr = is_float ? syms_.FloatSymbol(row) : syms_.OfDim(syms_.Symbol(row));
  if (!known_.try_emplace(std::string(row.name), expr).second) {
    return InvalidError("text_c1", "symbol ", row.name, " is there already");
  }
  return absl::OkStatus();
}

absl::StatusOr<ExprId> TextSymbols::Resolve(std::string_view name) {
  const auto found = known_.find(std::string(name));
  if (found != known_.end()) return found->second;
  TARE_RETURN_IF_ERROR(Declare(DefaultRow(name)));
  return known_.find(std::string(name))->second;
}

absl::StatusOr<Dim> ReadDim(Context& context, Cursor& cursor, SymbolScope& scope, std::string_view stops) {
  cursor.Peek();
  const size_t start = cursor.offset();
  if (const std::optional<int64_t> value = cursor.TakeInteger()) {
    const char after = cursor.Peek();
    if (after == '\0' || stops.find(after) != std::string_view::npos) return context.syms.Int(*value);
  }
  cursor.Rewind(start);
  TARE_ASSIGN_OR_RETURN(const ExprId expr, ReadExpr(context, cursor, scope, stops));
  if (context.syms.type(expr) != ExprType::kInt) return cursor.ErrorAt(start, "expected an integer");
  const Dim dim = context.syms.ToDim(expr);
  if (!dim.is_valid()) return cursor.ErrorAt(start, "the number does not fit in 64 bits");
  return dim;
}

absl::StatusOr<MetaId> ReadMeta(Context& context, Cursor& cursor, SymbolScope& scope) {
  return ReadMetaAt(context, cursor, scope, 0);
}

}  // namespace tare
