// Arguments of nodes: the tag follows the value, as torch.export chooses it.
#include <algorithm>

#include "formats/pt2/targets.h"
#include "formats/pt2/writer.h"

namespace tare::pt2 {
namespace {

// What the items of a list are, for the choice of its tag.
enum class ItemKind {
  kEmpty,
  kTensor,
  kOptionalTensor,
  kInt,
  kSymInt,
  kFloat,
  kSymFloat,
  kBool,
  kSymBool,
  kString,
  kIntList,
  kFloatList,
  kTensorList,
  kMixed
};

ItemKind Join(ItemKind a, ItemKind b) {
  const auto pair = [&](ItemKind x, ItemKind y) { return (a == x && b == y) || (a == y && b == x); };
  if (a == b || b == ItemKind::kEmpty) return a;
  if (a == ItemKind::kEmpty) return b;
  if (pair(ItemKind::kTensor, ItemKind::kOptionalTensor)) return ItemKind::kOptionalTensor;
  if (pair(ItemKind::kInt, ItemKind::kSymInt)) return ItemKind::kSymInt;
  if (pair(ItemKind::kFloat, ItemKind::kSymFloat)) return ItemKind::kSymFloat;
  if (pair(ItemKind::kBool, ItemKind::kSymBool)) return ItemKind::kSymBool;
  return ItemKind::kMixed;
}

ItemKind KindOfList(const GraphWriter& graph, std::span<const NodeId> operands, const AttrValue& list);

ItemKind KindOfItem(const GraphWriter& graph, std::span<const NodeId> operands, const AttrValue& value) {
  switch (value.kind) {
    case AttrKind::kNone:
      return ItemKind::kOptionalTensor;
    case AttrKind::kInt:
      return ItemKind::kInt;
    case AttrKind::kFloat:
      return ItemKind::kFloat;
    case AttrKind::kBool:
      return ItemKind::kBool;
    case AttrKind::kString:
      return ItemKind::kString;
    case AttrKind::kInts:
      return ItemKind::kIntList;
    case AttrKind::kOperand:
      switch (graph.MetaOf(operands[value.operand]).kind) {
        case MetaKind::kTensor:
        case MetaKind::kToken:
          return ItemKind::kTensor;
        case MetaKind::kInt:
          return ItemKind::kSymInt;
        case MetaKind::kFloat:
          return ItemKind::kSymFloat;
        case MetaKind::kBool:
          return ItemKind::kSymBool;
        default:
          return ItemKind::kMixed;
      }
    case AttrKind::kList:
      switch (KindOfList(graph, operands, value)) {
        case ItemKind::kFloat:
          return ItemKind::kFloatList;
        case ItemKind::kEmpty:
        case ItemKind::kTensor:
          return ItemKind::kTensorList;
        default:
          return ItemKind::kMixed;
      }
    default:
      return ItemKind::kMixed;
  }
}

ItemKind KindOfList(const GraphWriter& graph, std::span<const NodeId> operands, const AttrValue& list) {
  ItemKind kind = ItemKind::kEmpty;
  for (const AttrValue& item : list.items()) kind = Join(kind, KindOfItem(graph, operands, item));
  return kind;
}

// The tag of an empty list follows the schema; of higher-order ops it is always `as_tensors`.
std::string_view EmptyTag(const SchemaArg* type) {
  if (type == nullptr) return "as_tensors";
  switch (type->type) {
    case SchemaType::kInt:
    case SchemaType::kSymInt:
      return "as_ints";
    case SchemaType::kFloat:
    case SchemaType::kScalar:
      return "as_floats";
    case SchemaType::kBool:
      return "as_bools";
    case SchemaType::kString:
      return "as_strings";
    default:
      return "as_tensors";
  }
}

std::string_view ListTag(ItemKind kind, const SchemaArg* type) {
  switch (kind) {
    case ItemKind::kEmpty:
      return EmptyTag(type);
    case ItemKind::kTensor:
      return "as_tensors";
    case ItemKind::kOptionalTensor:
      return "as_optional_tensors";
    case ItemKind::kInt:
      return "as_ints";
    case ItemKind::kSymInt:
      return "as_sym_ints";
    case ItemKind::kFloat:
      return "as_floats";
    case ItemKind::kSymFloat:
      return "as_sym_floats";
    case ItemKind::kBool:
      return "as_bools";
    case ItemKind::kSymBool:
      return "as_sym_bools";
    case ItemKind::kString:
      return "as_strings";
    case ItemKind::kIntList:
      return "as_int_lists";
    case ItemKind::kFloatList:
      return "as_float_lists";
    case ItemKind::kTensorList:
      return "as_nested_tensors";
    case ItemKind::kMixed:
      return "";
  }
  return "";
}

void WriteName(GraphWriter& graph, NodeId node) {
  graph.writer.json.BeginObject().Key("name").String(graph.NameOf(node)).EndObject();
}

void WriteConstant(JsonWriter& json, const AttrValue& value) {
  switch (value.kind) {
    case AttrKind::kInt:
      json.Int(value.integer);
      break;
    case AttrKind::kFloat:
      json.Float(value.real);
      break;
    case AttrKind::kBool:
      json.Bool(value.flag);
      break;
    default:
      json.String(value.text());
      break;
  }
}

void WriteItem(GraphWriter& graph, std::span<const NodeId> operands, const AttrValue& value, ItemKind kind) {
  JsonWriter& json = graph.writer.json;
  const bool is_use = value.kind == AttrKind::kOperand;
  switch (kind) {
    case ItemKind::kTensor:
      WriteName(graph, operands[value.operand]);
      break;
    case ItemKind::kOptionalTensor:
      json.BeginObject();
      if (is_use) {
        json.Key("as_tensor");
        WriteName(graph, operands[value.operand]);
      } else {
        json.Key("as_none").Bool(true);
      }
      json.EndObject();
      break;
    case ItemKind::kSymInt:
    case ItemKind::kSymFloat:
    case ItemKind::kSymBool:
      json.BeginObject();
      if (is_use) {
        json.Key("as_name").String(graph.NameOf(operands[value.operand]));
      } else {
        json.Key(kind == ItemKind::kSymInt ? "as_int" : kind == ItemKind::kSymFloat ? "as_float" : "as_bool");
        WriteConstant(json, value);
      }
      json.EndObject();
      break;
    case ItemKind::kIntList:
      json.BeginArray();
      for (const int64_t number : value.ints()) json.Int(number);
      json.EndArray();
      break;
    case ItemKind::kFloatList:
    case ItemKind::kTensorList:
      json.BeginArray();
      for (const AttrValue& item : value.items())
        WriteItem(graph, operands, item, kind == ItemKind::kFloatList ? ItemKind::kFloat : ItemKind::kTensor);
      json.EndArray();
      break;
    default:
      WriteConstant(json, value);
      break;
  }
}

absl::Status WriteList(GraphWriter& graph, std::span<const NodeId> operands, const AttrValue& value,
                       const SchemaArg* type) {
  const ItemKind kind = KindOfList(graph, operands, value);
  const std::string_view tag = ListTag(kind, type);
  if (tag.empty()) return CannotWrite("a list of values of different kinds");
  graph.writer.json.Key(tag).BeginArray();
  for (const AttrValue& item : value.items()) WriteItem(graph, operands, item, kind);
  graph.writer.json.EndArray();
  return absl::OkStatus();
}

absl::Status WriteUse(GraphWriter& graph, NodeId node) {
  JsonWriter& json = graph.writer.json;
  const Meta& meta = graph.MetaOf(node);
  const auto symbolic = [&](const char* tag) {
    json.Key(tag).BeginObject().Key("as_name").String(graph.NameOf(node)).EndObject();
  };
  switch (meta.kind) {
    case MetaKind::kTensor:
    case MetaKind::kToken:
      json.Key("as_tensor");
      WriteName(graph, node);
      return absl::OkStatus();
    case MetaKind::kInt:
      symbolic("as_sym_int");
      return absl::OkStatus();
    case MetaKind::kFloat:
      symbolic("as_sym_float");
      return absl::OkStatus();
    case MetaKind::kBool:
      symbolic("as_sym_bool");
      return absl::OkStatus();
    case MetaKind::kObject:
      json.Key("as_custom_obj").BeginObject().Key("name").String(graph.NameOf(node));
      json.Key("class_fqn").String(meta.text).EndObject();
      return absl::OkStatus();
    case MetaKind::kList:
      json.Key("as_tensors").BeginArray();
      for (size_t i = 0; i < meta.items.size(); ++i)
        json.BeginObject().Key("name").String(graph.ElementName(node, static_cast<int64_t>(i))).EndObject();
      json.EndArray();
      return absl::OkStatus();
    case MetaKind::kNone:
      json.Key("as_none").Bool(true);
      return absl::OkStatus();
    case MetaKind::kString:
      json.Key("as_string").String(meta.text);
      return absl::OkStatus();
    case MetaKind::kTuple:
      break;
  }
  return CannotWrite("%", graph.NameOf(node), ", a tuple, is used as a whole");
}

}  // namespace

absl::Status WriteArgument(GraphWriter& graph, std::span<const NodeId> operands, const AttrValue& value,
                           const SchemaArg* type) {
  Writer& writer = graph.writer;
  JsonWriter& json = writer.json;
  json.BeginObject();
  switch (value.kind) {
    case AttrKind::kNone:
      json.Key("as_none").Bool(true);
      break;
    case AttrKind::kBool:
      json.Key("as_bool").Bool(value.flag);
      break;
    case AttrKind::kInt:
      json.Key("as_int").Int(value.integer);
      break;
    case AttrKind::kFloat:
      json.Key("as_float").Float(value.real);
      break;
    case AttrKind::kComplex:
      json.Key("as_complex").BeginObject().Key("real").Float(value.complex.re).Key("imag").Float(value.complex.im);
      json.EndObject();
      break;
    case AttrKind::kString:
      json.Key("as_string").String(value.text());
      break;
    case AttrKind::kDType: {
      const int number = Row(value.dtype).serialized;
      if (number < 0) return CannotWrite("the dtype ", Name(value.dtype), " as an argument");
      json.Key("as_scalar_type").Int(number);
      break;
    }
    case AttrKind::kMemoryFormat:
      json.Key("as_memory_format").Int(static_cast<int>(value.memory_format) + 1);
      break;
    case AttrKind::kLayout:
      json.Key("as_layout").Int(SerializedLayout(value.layout));
      break;
    case AttrKind::kDevice:
      json.Key("as_device");
      TARE_RETURN_IF_ERROR(WriteDevice(writer, value.device));
      break;
    case AttrKind::kInts:
      json.Key(value.ints().empty() && type != nullptr ? EmptyTag(type) : "as_ints").BeginArray();
      for (const int64_t number : value.ints()) json.Int(number);
      json.EndArray();
      break;
    case AttrKind::kList:
      TARE_RETURN_IF_ERROR(WriteList(graph, operands, value, type));
      break;
    case AttrKind::kDict:
      json.Key("as_string_to_argument").BeginObject();
      for (size_t i = 0; i + 1 < value.items().size(); i += 2) {
        json.Key(value.items()[i].text());
        TARE_RETURN_IF_ERROR(WriteArgument(graph, operands, value.items()[i + 1], nullptr));
      }
      json.EndObject();
      break;
    case AttrKind::kOperand:
      TARE_RETURN_IF_ERROR(WriteUse(graph, operands[value.operand]));
      break;
    case AttrKind::kGraph:
      json.Key("as_graph").BeginObject().Key("name").String(writer.program.graphs[value.graph.index].name);
      json.Key("graph");
      TARE_RETURN_IF_ERROR(WriteGraph(writer, value.graph));
      json.EndObject();
      break;
    case AttrKind::kOperator:
      json.Key("as_operator").String(value.text());
      break;
  }
  json.EndObject();
  return absl::OkStatus();
}

absl::Status WriteNodeArguments(GraphWriter& graph, NodeId node) {
  JsonWriter& json = graph.writer.json;
  const Context& context = graph.writer.context;
  const Op op = graph.graph.op(node);
  const Schema* schema = context.ops.schema(op);
  const bool higher_order = KindOf(context.ops.Name(op)) == TargetKind::kHigherOrder;
  const std::span<const NodeId> operands = graph.graph.operands(node);
  const auto write = [&](std::string_view name, const AttrValue& value, const SchemaArg* type, bool keyword) {
    json.BeginObject().Key("name").String(name).Key("arg");
    TARE_RETURN_IF_ERROR(WriteArgument(graph, operands, value, type));
    json.Key("kind").Int(keyword ? 2 : 1).EndObject();
    return absl::OkStatus();
  };
  json.BeginArray();
  size_t expected = 0;  // next position of the schema
  bool keywords = false;
  for (const NamedAttr& attr : context.attrs.Get(graph.graph.attrs(node))) {
    const int index = schema == nullptr || attr.name.empty() ? -1 : schema->IndexOf(attr.name);
    if (index < 0) {
      TARE_RETURN_IF_ERROR(write(attr.name, attr.value, nullptr, attr.keyword));
      continue;
    }
    const SchemaArg& type = schema->args[static_cast<size_t>(index)];
    // Defaults were left out: those before an argument that is passed by position are written again.
    while (!type.keyword_only && expected < static_cast<size_t>(index) && schema->args[expected].has_default) {
      const SchemaArg& skipped = schema->args[expected++];
      TARE_RETURN_IF_ERROR(write(higher_order ? std::string_view{} : std::string_view(skipped.name),
                                 skipped.default_value, &skipped, false));
    }
    keywords |= type.keyword_only || expected != static_cast<size_t>(index);
    TARE_RETURN_IF_ERROR(write(higher_order && !keywords ? std::string_view{} : attr.name, attr.value,
                               higher_order ? nullptr : &type, keywords));
    ++expected;
  }
  json.EndArray();
  return absl::OkStatus();
}

}  // namespace tare::pt2
