// Numbers, symbols and tensor metadata.
#include <algorithm>
#include <cmath>

#include "formats/pt2/writer.h"

namespace tare::pt2 {
namespace {

// Value of a float expression under the hints of its symbols; none for what has no hint. Expressions
// are at most kMaxExprDepth deep.
std::optional<double> FloatHint(const SymStore& syms, ExprId expr) {
  if (syms.type(expr) == ExprType::kInt) {
    const std::optional<int64_t> hint = syms.Hint(expr);
    return hint ? std::optional<double>(static_cast<double>(*hint)) : std::nullopt;
  }
  const ExprKind kind = syms.kind(expr);
  if (kind == ExprKind::kFloatConst) return syms.float_value(expr);
  std::vector<double> args;
  for (const ExprId arg : syms.args(expr)) {
    if (syms.type(arg) == ExprType::kBool) return std::nullopt;
    const std::optional<double> value = FloatHint(syms, arg);
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  if (args.empty()) return std::nullopt;
  double result = args[0];
  switch (kind) {
    case ExprKind::kAdd:
      for (size_t i = 1; i < args.size(); ++i) result += args[i];
      return result;
    case ExprKind::kMul:
      for (size_t i = 1; i < args.size(); ++i) result *= args[i];
      return result;
    case ExprKind::kMax:
      return *std::max_element(args.begin(), args.end());
    case ExprKind::kMin:
      return *std::min_element(args.begin(), args.end());
    case ExprKind::kPow:
      return args.size() == 2 ? std::optional(std::pow(args[0], args[1])) : std::nullopt;
    case ExprKind::kTrueDiv:
      return args.size() == 2 && args[1] != 0 ? std::optional(args[0] / args[1]) : std::nullopt;
    case ExprKind::kToFloat:
      return result;
    case ExprKind::kSqrt:
      return result >= 0 ? std::optional(std::sqrt(result)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

void WriteExpr(Writer& writer, ExprId expr) {
  SymStore& syms = writer.context.syms;
  for (const ExprId symbol : syms.Symbols(expr)) {
    const SymbolRow& row = syms.symbol(symbol);
    writer.symbols.emplace(std::string(row.name), row);
  }
  writer.json.BeginObject().Key("expr_str").String(syms.PrintSrepr(expr)).Key("hint");
  const bool is_float = syms.type(expr) == ExprType::kFloat;
  const std::optional<double> real = is_float ? FloatHint(syms, expr) : std::nullopt;
  const std::optional<int64_t> hint = is_float ? std::nullopt : syms.Hint(expr);
  if (real) {
    writer.json.BeginObject().Key("as_float").Float(*real).EndObject();
  } else if (!hint) {
    writer.json.Null();
  } else if (syms.type(expr) == ExprType::kBool) {
    writer.json.BeginObject().Key("as_bool").Bool(*hint != 0).EndObject();
  } else {
    writer.json.BeginObject().Key("as_int").Int(*hint).EndObject();
  }
  writer.json.EndObject();
}

void WriteDim(Writer& writer, Dim dim) {
  writer.json.BeginObject();
  if (const std::optional<int64_t> value = writer.context.syms.Constant(dim)) {
    writer.json.Key("as_int").Int(*value);
  } else {
    writer.json.Key("as_expr");
    WriteExpr(writer, dim.expr());
  }
  writer.json.EndObject();
}

int SerializedLayout(Layout layout) {
  switch (layout) {
    case Layout::kSparseCoo:
      return 1;
    case Layout::kSparseCsr:
      return 2;
    case Layout::kSparseCsc:
      return 3;
    case Layout::kSparseBsr:
      return 4;
    case Layout::kSparseBsc:
      return 5;
    case Layout::kMkldnn:
      return 6;
    case Layout::kStrided:
      return 7;
  }
  return 0;
}

absl::Status WriteDevice(Writer& writer, Device device) {
  std::string_view type;
  switch (device.type) {
    case DeviceType::kCpu:
      type = "cpu";
      break;
    case DeviceType::kCuda:
      type = "cuda";
      break;
    case DeviceType::kMeta:
      type = "meta";
      break;
    case DeviceType::kOther:
      return CannotWrite("a device other than cpu, cuda and meta");
  }
  writer.json.BeginObject().Key("type").String(type).Key("index");
  if (device.index < 0) {
    writer.json.Null();
  } else {
    writer.json.Int(device.index);
  }
  writer.json.EndObject();
  return absl::OkStatus();
}

absl::Status WriteTensorMeta(Writer& writer, const TensorMeta& meta, bool requires_grad, std::string_view name) {
  const int dtype = Row(meta.dtype).serialized;
  if (dtype < 0) return CannotWrite("value ", name, " of dtype ", Name(meta.dtype));
  JsonWriter& json = writer.json;
  json.BeginObject().Key("dtype").Int(dtype).Key("sizes").BeginArray();
  for (const Dim dim : meta.shape) {
    if (!dim.is_valid()) return CannotWrite("value ", name, ": a size that overflows");
    WriteDim(writer, dim);
  }
  json.EndArray().Key("requires_grad").Bool(requires_grad).Key("device");
  TARE_RETURN_IF_ERROR(WriteDevice(writer, meta.device));
  json.Key("strides").BeginArray();
  for (const Dim dim : meta.strides) {
    if (!dim.is_valid()) return CannotWrite("value ", name, ": a stride that overflows");
    WriteDim(writer, dim);
  }
  json.EndArray().Key("storage_offset");
  if (!meta.offset.is_valid()) return CannotWrite("value ", name, ": a storage offset that overflows");
  WriteDim(writer, meta.offset);
  json.Key("layout").Int(SerializedLayout(meta.layout)).EndObject();
  return absl::OkStatus();
}

}  // namespace tare::pt2
