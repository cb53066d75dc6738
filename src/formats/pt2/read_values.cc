// Numbers, symbols and tensor metadata.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/reader.h"
#include "formats/pt2/utf8.h"

namespace tare::pt2 {
namespace {

// Old writers clip infinity to the ends of int64.
constexpr int64_t kClippedMax = INT64_MAX - 1;

bool IsSymbolChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The name in `Symbol('s0', …)` or a bare `s0`; "" for anything else.
std::string_view BareSymbol(std::string_view text) {
  if (absl::string_view view(text.data(), text.size()); absl::ConsumePrefix(&view, "Symbol(")) {
    if (view.empty() || (view[0] != '\'' && view[0] != '"') || view.back() != ')') return {};
    const size_t end = view.find(view[0], 1);
    if (end == view.npos || view.find('(') != view.npos || view.find(')') + 1 != view.size()) return {};
    text = std::string_view(view.data() + 1, end - 1);
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), IsSymbolChar) ? text : std::string_view{};
}

constexpr JsonField kSymExprFields[] = {{"expr_str"}, {"hint", false}};

// The expression of `{"expr_str", "hint"}`; the hint is checked for its form.
absl::StatusOr<ExprId> ReadSymExpr(Reader& reader, const Json& json, ExprType type) {
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kSymExprFields));
  const Json text_json = json.At("expr_str", fields.found[0]);
  TARE_ASSIGN_OR_RETURN(const std::string_view text, text_json.String());
  absl::StatusOr<ExprId> expr = reader.symbols.Parse(text);
  if (!expr.ok()) return Prefixed(text_json.Where() + ": ", expr.status());
  if (reader.context.syms.type(*expr) != type)
    return text_json.Error("json_c2", "expression ", Printable(text), " is not of the kind expected here");
  if (fields.Given(1)) {
    const Json hint = json.At("hint", fields.found[1]);
    TARE_ASSIGN_OR_RETURN(const Json::Union tag, hint.Tag());
    const Json value = hint.At(tag.tag, tag.value);
    if (tag.tag == "as_int") {
      TARE_RETURN_IF_ERROR(value.Int().status());
    } else if (tag.tag == "as_bool") {
      TARE_RETURN_IF_ERROR(value.Bool().status());
    } else if (tag.tag == "as_float") {
      TARE_RETURN_IF_ERROR(value.Float().status());
    } else {
      return hint.Error("json_c4", "unknown tag ", Printable(tag.tag));
    }
  }
  return *expr;
}

template <size_t kNames>
absl::StatusOr<std::optional<int64_t>> ReadBound(const Json& range, std::string_view name,
                                                 const JsonFields<kNames>& fields, size_t index) {
  if (!fields.Given(index)) return std::nullopt;
  TARE_ASSIGN_OR_RETURN(const int64_t value, range.At(name, fields.found[index]).Int());
  return value;
}

// Elements and bytes of a tensor whose numbers are all static; refuses what 64 bits cannot address.
absl::Status CheckExtent(const Json& json, const TensorMeta& meta) {
  int64_t elements = 1;
  bool overflow = false, empty = false;
  for (const Dim dim : meta.shape) {
    if (!dim.is_static()) return absl::OkStatus();
    empty |= dim.value() == 0;
    overflow |=
        __builtin_mul_overflow(elements, std::max<int64_t>(dim.value(), 1), &elements) || elements > kMaxElements;
  }
  if (overflow) return json.Error("graph_c1", "sizes: too many elements");
  if (!meta.offset.is_static()) return absl::OkStatus();
  int64_t reach = meta.offset.value();
  for (size_t i = 0; i < meta.strides.size() && !empty; ++i) {
    if (!meta.strides[i].is_static()) return absl::OkStatus();
    int64_t step = 0;
    if (meta.shape[i].value() < 2) continue;
    overflow |= __builtin_mul_overflow(meta.shape[i].value() - 1, meta.strides[i].value(), &step) ||
                __builtin_add_overflow(reach, step, &reach);
  }
  if (overflow || reach > kMaxElements)
    return json.Error("graph_c1", "storage_offset and strides reach beyond ", kMaxElements, " elements");
  return absl::OkStatus();
}

using Dims = llvm::SmallVector<Dim, 8>;

absl::Status ReadDims(Reader& reader, const Json& json, std::string_view what, Dims* dims) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, json.Array());
  int64_t index = 0;
  for (const simdjson::dom::element element : array) {
    if (index == kMaxRank) return json.Error("graph_c2", "more than ", kMaxRank, " dims");
    const Json item = json.At(index, element);
    TARE_ASSIGN_OR_RETURN(const Dim dim, ReadDim(reader, item));
    if (!dim.is_static() && reader.context.syms.RangeOf(dim, nullptr).max < 0)
      return item.Error("graph_c3", what, " ", reader.context.syms.Print(dim), " is negative");
    dims->push_back(dim);
    ++index;
  }
  return absl::OkStatus();
}

}  // namespace

void FileSymbols::CollectHints(simdjson::dom::element root) {
  std::vector<simdjson::dom::element> stack{root};
  while (!stack.empty()) {
    const simdjson::dom::element element = stack.back();
    stack.pop_back();
    if (element.is_array()) {
      for (const simdjson::dom::element child : ArrayOf(element)) {
        if (child.is_object() || child.is_array()) stack.push_back(child);
      }
    } else if (element.is_object()) {
      std::string_view text;
      std::optional<int64_t> hint;
      for (const auto& [key, child] : ObjectOf(element)) {
        if (key == "expr_str" && child.is_string()) text = child.get_string().value_unsafe();
        if (key == "hint" && child.is_object()) {
          const auto value = child["as_int"];
          if (value.error() == simdjson::SUCCESS && value.is_int64()) hint = value.get_int64().value_unsafe();
        } else if (child.is_object() || child.is_array()) {
          stack.push_back(child);
        }
      }
      if (const std::string_view name = BareSymbol(text); !name.empty() && hint) hints_.emplace(name, *hint);
    }
  }
}

absl::StatusOr<ExprId> FileSymbols::Resolve(std::string_view name) {
  if (const auto found = symbols_.find(name); found != symbols_.end()) return found->second;
  if (name.empty() || !std::all_of(name.begin(), name.end(), IsSymbolChar) || (name[0] >= '0' && name[0] <= '9') ||
      name == "null" || name == "None" || name == "nan")
    return InvalidError("expr_c5", "symbol name \"", Printable(name), "\"");
  SymbolRow row;
  row.name = context_.strings.Intern(name);
  row.kind = name.starts_with("zuf")  ? SymbolKind::kUnbackedFloat
             : name.starts_with("zf") ? SymbolKind::kFloat
             : name.starts_with("u")  ? SymbolKind::kUnbacked
                                      : SymbolKind::kBacked;
  const bool is_float = row.kind == SymbolKind::kFloat || row.kind == SymbolKind::kUnbackedFloat;
  if (row.kind != SymbolKind::kBacked) row.min = INT64_MIN;
  if (const auto range = ranges_.find(std::string(name)); range != ranges_.end() && !is_float) {
    row.min = range->second.min;
    row.max = range->second.max;
  }
  if (const auto hint = hints_.find(name); hint != hints_.end() && row.kind == SymbolKind::kBacked) {
    if (hint->second < row.min || hint->second > row.max)
      return InvalidError("graph_c4", "hint ", hint->second, " of symbol ", name, " lies outside its range");
    row.hint = hint->second;
  }
  const ExprId expr = is_float ? context_.syms.FloatSymbol(row) : context_.syms.OfDim(context_.syms.Symbol(row));
  symbols_.emplace(row.name, expr);
  return expr;
}

absl::StatusOr<ExprId> FileSymbols::Parse(std::string_view text) {
  if (const auto found = parsed_.find(text); found != parsed_.end()) return found->second;
  TARE_ASSIGN_OR_RETURN(const ExprId expr, ParseExpr(text, context_.syms, *this));
  parsed_.emplace(text, expr);
  return expr;
}

absl::StatusOr<Dim> ReadDim(Reader& reader, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const Json::Union tag, json.Tag());
  const Json value = json.At(tag.tag, tag.value);
  if (tag.tag == "as_int") {
    TARE_ASSIGN_OR_RETURN(const int64_t number, value.Int());
    if (number < 0) return value.Error("graph_c3", number, " is negative");
    return Dim::Static(number);
  }
  if (tag.tag != "as_expr") return json.Error("json_c4", "unknown tag ", Printable(tag.tag));
  TARE_ASSIGN_OR_RETURN(const ExprId expr, ReadSymExpr(reader, value, ExprType::kInt));
  return reader.context.syms.ToDim(expr);
}

absl::StatusOr<MetaId> ReadSymIntValue(Reader& reader, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const Json::Union tag, json.Tag());
  const Json value = json.At(tag.tag, tag.value);
  if (tag.tag == "as_int") {
    TARE_ASSIGN_OR_RETURN(const int64_t number, value.Int());
    return reader.context.metas.Int(reader.context.syms.Int(number));
  }
  if (tag.tag != "as_expr") return json.Error("json_c4", "unknown tag ", Printable(tag.tag));
  TARE_ASSIGN_OR_RETURN(const ExprId expr, ReadSymExpr(reader, value, ExprType::kInt));
  return reader.context.metas.Int(reader.context.syms.ToDim(expr));
}

absl::StatusOr<MetaId> ReadSymFloatValue(Reader& reader, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const Json::Union tag, json.Tag());
  const Json value = json.At(tag.tag, tag.value);
  if (tag.tag == "as_float") {
    TARE_ASSIGN_OR_RETURN(const double number, value.Float());
    return reader.context.metas.Float(reader.context.syms.Float(number));
  }
  if (tag.tag != "as_expr") return json.Error("json_c4", "unknown tag ", Printable(tag.tag));
  TARE_ASSIGN_OR_RETURN(const ExprId expr, ReadSymExpr(reader, value, ExprType::kFloat));
  return reader.context.metas.Float(expr);
}

absl::StatusOr<MetaId> ReadSymBoolValue(Reader& reader, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const Json::Union tag, json.Tag());
  const Json value = json.At(tag.tag, tag.value);
  if (tag.tag == "as_bool") {
    TARE_ASSIGN_OR_RETURN(const bool flag, value.Bool());
    return reader.context.metas.Bool(reader.context.syms.Bool(flag));
  }
  if (tag.tag != "as_expr") return json.Error("json_c4", "unknown tag ", Printable(tag.tag));
  TARE_ASSIGN_OR_RETURN(const ExprId expr, ReadSymExpr(reader, value, ExprType::kBool));
  return reader.context.metas.Bool(expr);
}

absl::StatusOr<DType> ReadDType(const Json& json) {
  TARE_ASSIGN_OR_RETURN(const int64_t number, json.Int());
  const std::optional<DType> dtype = DTypeBySerialized(number);
  if (!dtype) return json.Error("json_c4", "unknown dtype ", number);
  return *dtype;
}

absl::StatusOr<Layout> ReadLayout(const Json& json) {
  constexpr Layout kLayouts[] = {Layout::kSparseCoo, Layout::kSparseCsr, Layout::kSparseCsc, Layout::kSparseBsr,
                                 Layout::kSparseBsc, Layout::kMkldnn,    Layout::kStrided};
  TARE_ASSIGN_OR_RETURN(const int64_t number, json.Int());
  if (number < 1 || number > 7) return json.Error("json_c4", "unknown layout ", number);
  return kLayouts[number - 1];
}

// The types torch.device knows (c10/core/DeviceType.h).
constexpr std::string_view kDeviceTypes[] = {"cpu",    "cuda",   "meta", "ipu", "xpu",  "mkldnn",       "opengl",
                                             "opencl", "ideep",  "hip",  "ve",  "fpga", "maia",         "xla",
                                             "lazy",   "vulkan", "mps",  "hpu", "mtia", "privateuseone"};

absl::StatusOr<Device> ReadDevice(const Json& json) {
  static constexpr JsonField kFields[] = {{"type"}, {"index", false}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  const Json type_json = json.At("type", fields.found[0]);
  TARE_ASSIGN_OR_RETURN(const std::string_view type, type_json.String());
  if (std::find(std::begin(kDeviceTypes), std::end(kDeviceTypes), type) == std::end(kDeviceTypes))
    return type_json.Error("json_c4", "unknown device type ", Printable(type));
  Device device;
  device.type = type == "cpu"    ? DeviceType::kCpu
                : type == "cuda" ? DeviceType::kCuda
                : type == "meta" ? DeviceType::kMeta
                                 : DeviceType::kOther;
  if (fields.Given(1)) {
    const Json index = json.At("index", fields.found[1]);
    TARE_ASSIGN_OR_RETURN(const int64_t number, index.Int());
    if (number < -1 || number > INT8_MAX) return index.Error("json_c4", "device index ", number);
    device.index = static_cast<int8_t>(number);
  }
  return device;
}

absl::StatusOr<TensorValue> ReadTensorMeta(Reader& reader, const Json& json) {
  static constexpr JsonField kFields[] = {{"dtype"},   {"sizes"},          {"requires_grad"}, {"device"},
                                          {"strides"}, {"storage_offset"}, {"layout"}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  TensorMeta meta;
  TensorValue value;
  Dims shape, strides;
  TARE_ASSIGN_OR_RETURN(meta.dtype, ReadDType(json.At("dtype", fields.found[0])));
  TARE_RETURN_IF_ERROR(ReadDims(reader, json.At("sizes", fields.found[1]), "size", &shape));
  TARE_ASSIGN_OR_RETURN(value.requires_grad, json.At("requires_grad", fields.found[2]).Bool());
  TARE_ASSIGN_OR_RETURN(meta.device, ReadDevice(json.At("device", fields.found[3])));
  TARE_ASSIGN_OR_RETURN(meta.layout, ReadLayout(json.At("layout", fields.found[6])));
  TARE_RETURN_IF_ERROR(ReadDims(reader, json.At("strides", fields.found[4]), "stride", &strides));
  TARE_ASSIGN_OR_RETURN(meta.offset, ReadDim(reader, json.At("storage_offset", fields.found[5])));
  if (strides.size() != shape.size()) {
    if (meta.layout == Layout::kStrided)
      return json.Error("graph_c2", "strides has ", strides.size(), " entries, sizes has ", shape.size());
    strides.resize(shape.size());  // without meaning for other layouts
  }
  meta.shape = {shape.data(), shape.size()};
  meta.strides = {strides.data(), strides.size()};
  TARE_RETURN_IF_ERROR(CheckExtent(json, meta));
  value.meta = reader.context.metas.Tensor(meta);
  return value;
}

absl::Status ReadRanges(Reader& reader, const Json& json) {
  static constexpr JsonField kFields[] = {{"min_val", false}, {"max_val", false}};
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, json.Object());
  for (const auto& [key, element] : object) {
    const Json range = json.At(key, element);
    TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(range, kFields));
    TARE_ASSIGN_OR_RETURN(const std::optional<int64_t> min, ReadBound(range, "min_val", fields, 0));
    TARE_ASSIGN_OR_RETURN(const std::optional<int64_t> max, ReadBound(range, "max_val", fields, 1));
    SymbolRange bounds;
    if (min && *min > -kClippedMax) bounds.min = *min;
    if (max && *max < kClippedMax) bounds.max = *max;
    if (bounds.min > bounds.max) return range.Error("graph_c4", "range ", bounds.min, " to ", bounds.max, " is empty");
    if (!reader.program.ranges.emplace(std::string(key), bounds).second)
      return json.Error("json_c3", "key ", Printable(key), " occurs twice");
  }
  return absl::OkStatus();
}

}  // namespace tare::pt2
