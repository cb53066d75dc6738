// Arguments of nodes. The tag follows the value that was passed, not the schema; the normal form of an
// op's arguments is made from what is read here.
#include <algorithm>

#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/reader.h"
#include "formats/pt2/utf8.h"

namespace tare::pt2 {
namespace {

enum class Tag : uint8_t {
  kTensor,
  kInt,
  kInts,
  kNone,
  kTensors,
  kFloat,
  kBool,
  kSymInt,
  kSymInts,
  kScalarType,
  kString,
  kOptionalTensors,
  kMemoryFormat,
  kDevice,
  kLayout,
  kFloats,
  kBools,
  kStrings,
  kSymFloat,
  kSymFloats,
  kSymBool,
  kSymBools,
  kGraph,
  kOptionalTensor,
  kNestedTensors,
  kIntLists,
  kFloatLists,
  kComplex,
  kCustomObject,
  kOperator,
  kDict,
};
struct TagRow {
  std::string_view name;
  Tag tag;
};
// The frequent ones first.
constexpr TagRow kTags[] = {
    {"as_tensor", Tag::kTensor},
    {"as_int", Tag::kInt},
    {"as_ints", Tag::kInts},
    {"as_none", Tag::kNone},
    {"as_tensors", Tag::kTensors},
    {"as_float", Tag::kFloat},
    {"as_bool", Tag::kBool},
    {"as_sym_int", Tag::kSymInt},
    {"as_sym_ints", Tag::kSymInts},
    {"as_scalar_type", Tag::kScalarType},
    {"as_string", Tag::kString},
    {"as_optional_tensors", Tag::kOptionalTensors},
    {"as_memory_format", Tag::kMemoryFormat},
    {"as_device", Tag::kDevice},
    {"as_layout", Tag::kLayout},
    {"as_floats", Tag::kFloats},
    {"as_bools", Tag::kBools},
    {"as_strings", Tag::kStrings},
    {"as_sym_float", Tag::kSymFloat},
    {"as_sym_floats", Tag::kSymFloats},
    {"as_sym_bool", Tag::kSymBool},
    {"as_sym_bools", Tag::kSymBools},
    {"as_graph", Tag::kGraph},
    {"as_optional_tensor", Tag::kOptionalTensor},
    {"as_nested_tensors", Tag::kNestedTensors},
    {"as_int_lists", Tag::kIntLists},
    {"as_float_lists", Tag::kFloatLists},
    {"as_complex", Tag::kComplex},
    {"as_custom_obj", Tag::kCustomObject},
    {"as_operator", Tag::kOperator},
    {"as_string_to_argument", Tag::kDict},
};

using ItemReader = absl::StatusOr<AttrValue> (*)(ArgumentReader&, const Json&, int depth);

absl::StatusOr<AttrValue> ReadList(ArgumentReader& arguments, const Json& json, int depth, ItemReader read) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, json.Array());
  llvm::SmallVector<AttrValue, 8> items;
  int64_t index = 0;
  bool all_ints = true;
  for (const simdjson::dom::element element : array) {
    TARE_ASSIGN_OR_RETURN(const AttrValue item, read(arguments, json.At(index++, element), depth));
    all_ints &= item.kind == AttrKind::kInt;
    items.push_back(item);
  }
  llvm::BumpPtrAllocator& arena = arguments.graph.arena;
  if (all_ints && !items.empty()) {
    int64_t* ints = arena.Allocate<int64_t>(items.size());
    for (size_t i = 0; i < items.size(); ++i) ints[i] = items[i].integer;
    return AttrValue::Ints({ints, items.size()});
  }
  AttrValue* copy = arena.Allocate<AttrValue>(items.size());
  std::uninitialized_copy(items.begin(), items.end(), copy);
  return AttrValue::List({copy, items.size()});
}

absl::StatusOr<AttrValue> ReadUse(ArgumentReader& arguments, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const std::string_view name, json.String());
  TARE_ASSIGN_OR_RETURN(const NodeId node, Lookup(arguments.graph, json, name));
  if (arguments.merge_operands) {
    const auto [known, is_new] = arguments.merged.emplace(node, static_cast<uint32_t>(arguments.operands.size()));
    if (!is_new) return AttrValue::Operand(known->second);
  }
  if (arguments.operands.size() == kMaxOperands - 1)
    return json.Error("graph_c6", "more than ", kMaxOperands - 1, " operands");
  arguments.operands.push_back(node);
  return AttrValue::Operand(static_cast<uint32_t>(arguments.operands.size() - 1));
}

absl::StatusOr<AttrValue> ReadTensor(ArgumentReader& arguments, const Json& json, int) {
  static constexpr JsonField kFields[] = {{"name"}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  return ReadUse(arguments, json.At("name", fields.found[0]));
}

absl::StatusOr<AttrValue> ReadNone(const Json& json) {
  TARE_ASSIGN_OR_RETURN(const bool flag, json.Bool());
  if (!flag) return json.Error("json_c2", "found false, expected true");
  return AttrValue::None();
}

absl::StatusOr<AttrValue> ReadOptionalTensor(ArgumentReader& arguments, const Json& json, int depth) {
  TARE_ASSIGN_OR_RETURN(const Json::Union tag, json.Tag());
  const Json value = json.At(tag.tag, tag.value);
  if (tag.tag == "as_tensor") return ReadTensor(arguments, value, depth);
  if (tag.tag == "as_none") return ReadNone(value);
  return json.Error("json_c4", "unknown tag ", Printable(tag.tag));
}

absl::StatusOr<AttrValue> ReadInt(ArgumentReader&, const Json& json, int) {
  TARE_ASSIGN_OR_RETURN(const int64_t value, json.Int());
  return AttrValue::Int(value);
}
absl::StatusOr<AttrValue> ReadFloat(ArgumentReader&, const Json& json, int) {
  TARE_ASSIGN_OR_RETURN(const double value, json.Float());
  return AttrValue::Float(value);
}
absl::StatusOr<AttrValue> ReadBool(ArgumentReader&, const Json& json, int) {
  TARE_ASSIGN_OR_RETURN(const bool value, json.Bool());
  return AttrValue::Bool(value);
}
absl::StatusOr<AttrValue> ReadString(ArgumentReader&, const Json& json, int) {
  TARE_ASSIGN_OR_RETURN(const std::string_view value, json.String());
  return AttrValue::String(value);
}

// `as_name` or a constant of the kind.
template <ItemReader kConstant>
absl::StatusOr<AttrValue> ReadSymbolic(ArgumentReader& arguments, const Json& json, int depth) {
  TARE_ASSIGN_OR_RETURN(const Json::Union tag, json.Tag());
  const Json value = json.At(tag.tag, tag.value);
  if (tag.tag == "as_name") return ReadUse(arguments, value);
  constexpr std::string_view kTag = kConstant == &ReadInt ? "as_int" : kConstant == &ReadFloat ? "as_float" : "as_bool";
  if (tag.tag == kTag) return kConstant(arguments, value, depth);
  return json.Error("json_c4", "unknown tag ", Printable(tag.tag));
}

template <ItemReader kItem>
absl::StatusOr<AttrValue> ReadListOf(ArgumentReader& arguments, const Json& json, int depth) {
  return ReadList(arguments, json, depth, kItem);
}

absl::StatusOr<AttrValue> ReadComplex(const Json& json) {
  static constexpr JsonField kFields[] = {{"real"}, {"imag"}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  TARE_ASSIGN_OR_RETURN(const double real, json.At("real", fields.found[0]).Float());
  TARE_ASSIGN_OR_RETURN(const double imag, json.At("imag", fields.found[1]).Float());
  return AttrValue::Complex(real, imag);
}

absl::StatusOr<AttrValue> ReadMemoryFormat(const Json& json) {
  TARE_ASSIGN_OR_RETURN(const int64_t number, json.Int());
  if (number < 1 || number > 4) return json.Error("json_c4", "unknown memory format ", number);
  return AttrValue::OfMemoryFormat(static_cast<MemoryFormat>(number - 1));
}

absl::StatusOr<AttrValue> ReadBody(ArgumentReader& arguments, const Json& json) {
  static constexpr JsonField kFields[] = {{"name"}, {"graph"}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  TARE_ASSIGN_OR_RETURN(const std::string_view name, json.At("name", fields.found[0]).String());
  TARE_ASSIGN_OR_RETURN(const GraphId body, ReadGraph(arguments.graph.reader, json.At("graph", fields.found[1]), name));
  arguments.bodies.push_back(body);
  return AttrValue::OfGraph(body);
}

absl::StatusOr<AttrValue> ReadDict(ArgumentReader& arguments, const Json& json, int depth) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, json.Object());
  llvm::SmallVector<AttrValue, 8> items;
  absl::flat_hash_set<std::string_view> keys;
  for (const auto& [key, element] : object) {
    if (!keys.insert(key).second) return json.Error("json_c3", "key ", Printable(key), " occurs twice");
    TARE_ASSIGN_OR_RETURN(const AttrValue item, ReadArgument(arguments, json.At(key, element), depth + 1));
    items.push_back(AttrValue::String(key));
    items.push_back(item);
  }
  AttrValue* copy = arguments.graph.arena.Allocate<AttrValue>(items.size());
  std::uninitialized_copy(items.begin(), items.end(), copy);
  return AttrValue::Dict({copy, items.size()});
}

absl::StatusOr<AttrValue> ReadCustomObject(ArgumentReader& arguments, const Json& json) {
  static constexpr JsonField kFields[] = {{"name"}, {"class_fqn"}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  return ReadUse(arguments, json.At("name", fields.found[0]));
}

}  // namespace

absl::StatusOr<AttrValue> ReadArgument(ArgumentReader& arguments, const Json& json, int depth) {
  if (depth > kMaxArgumentDepth)
    return json.Error("json_c5", "arguments nested more than ", kMaxArgumentDepth, " deep");
  TARE_ASSIGN_OR_RETURN(const Json::Union found, json.Tag());
  const TagRow* row = std::find_if(std::begin(kTags), std::end(kTags),
                                   [&](const TagRow& candidate) { return candidate.name == found.tag; });
  if (row == std::end(kTags)) return json.Error("json_c4", "unknown tag ", Printable(found.tag));
  const Json value = json.At(found.tag, found.value);
  switch (row->tag) {
    case Tag::kTensor:
      return ReadTensor(arguments, value, depth);
    case Tag::kInt:
      return ReadInt(arguments, value, depth);
    case Tag::kInts: {
      TARE_ASSIGN_OR_RETURN(const AttrValue list, ReadListOf<ReadInt>(arguments, value, depth));
      return list.kind == AttrKind::kInts ? list : AttrValue::Ints({});
    }
    case Tag::kNone:
      return ReadNone(value);
    case Tag::kTensors:
      return ReadListOf<ReadTensor>(arguments, value, depth);
    case Tag::kFloat:
      return ReadFloat(arguments, value, depth);
    case Tag::kBool:
      return ReadBool(arguments, value, depth);
    case Tag::kSymInt:
      return ReadSymbolic<ReadInt>(arguments, value, depth);
    case Tag::kSymInts:
      return ReadListOf<ReadSymbolic<ReadInt>>(arguments, value, depth);
    case Tag::kScalarType: {
      TARE_ASSIGN_OR_RETURN(const DType dtype, ReadDType(value));
      return AttrValue::OfDType(dtype);
    }
    case Tag::kString:
      return ReadString(arguments, value, depth);
    case Tag::kOptionalTensors:
      return ReadListOf<ReadOptionalTensor>(arguments, value, depth);
    case Tag::kMemoryFormat:
      return ReadMemoryFormat(value);
    case Tag::kDevice: {
      TARE_ASSIGN_OR_RETURN(const Device device, ReadDevice(value));
      return AttrValue::OfDevice(device);
    }
    case Tag::kLayout: {
      TARE_ASSIGN_OR_RETURN(const Layout layout, ReadLayout(value));
      return AttrValue::OfLayout(layout);
    }
    case Tag::kFloats:
      return ReadListOf<ReadFloat>(arguments, value, depth);
    case Tag::kBools:
      return ReadListOf<ReadBool>(arguments, value, depth);
    case Tag::kStrings:
      return ReadListOf<ReadString>(arguments, value, depth);
    case Tag::kSymFloat:
      return ReadSymbolic<ReadFloat>(arguments, value, depth);
    case Tag::kSymFloats:
      return ReadListOf<ReadSymbolic<ReadFloat>>(arguments, value, depth);
    case Tag::kSymBool:
      return ReadSymbolic<ReadBool>(arguments, value, depth);
    case Tag::kSymBools:
      return ReadListOf<ReadSymbolic<ReadBool>>(arguments, value, depth);
    case Tag::kGraph:
      return ReadBody(arguments, value);
    case Tag::kOptionalTensor:
      return ReadOptionalTensor(arguments, value, depth);
    case Tag::kNestedTensors:
      return ReadListOf<ReadListOf<ReadTensor>>(arguments, value, depth);
    case Tag::kIntLists:
      return ReadListOf<ReadListOf<ReadInt>>(arguments, value, depth);
    case Tag::kFloatLists:
      return ReadListOf<ReadListOf<ReadFloat>>(arguments, value, depth);
    case Tag::kComplex:
      return ReadComplex(value);
    case Tag::kCustomObject:
      return ReadCustomObject(arguments, value);
    case Tag::kOperator: {
      TARE_ASSIGN_OR_RETURN(const std::string_view target, value.String());
      return AttrValue::Operator(target);
    }
    case Tag::kDict:
      return ReadDict(arguments, value, depth);
  }
  return json.Error("json_c4", "unknown tag ", Printable(found.tag));
}

}  // namespace tare::pt2
