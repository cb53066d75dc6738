// Numbers, symbols and tensor metadata.
#include "formats/pt2/writer.h"

namespace tare::pt2 {

void WriteExpr(Writer& writer, ExprId expr) {
  SymStore& syms = writer.context.syms;
  for (const ExprId symbol : syms.Symbols(expr)) {
    const SymbolRow& row = syms.symbol(symbol);
    writer.symbols.emplace(std::string(row.name), row);
  }
  writer.json.BeginObject().Key("expr_str").String(syms.PrintSrepr(expr)).Key("hint");
  const std::optional<int64_t> hint = syms.type(expr) == ExprType::kFloat ? std::nullopt : syms.Hint(expr);
  if (!hint) {
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
