// Graphs: value tables, inputs, nodes with one or several results, outputs.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/reader.h"
#include "formats/pt2/targets.h"
#include "formats/pt2/utf8.h"
#include "ir/normalize.h"

namespace tare::pt2 {
namespace {

using simdjson::dom::element;

constexpr size_t kManyOutputs = 1u << 15;

// --- value tables

absl::Status AddValue(GraphReader& graph, const Json& table, std::string_view name, const GraphValue& value) {
  if (!graph.values.emplace(name, value).second)
    return table.Error("graph_c7", "value ", Printable(name), " is described twice");
  return absl::OkStatus();
}

absl::Status ReadTensorValues(GraphReader& graph, const Json& table) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, table.Object());
  for (const auto& [name, item] : object) {
    TARE_ASSIGN_OR_RETURN(const TensorValue tensor, ReadTensorMeta(graph.reader, table.At(name, item)));
    GraphValue value;
    value.meta = tensor.meta;
    value.requires_grad = tensor.requires_grad;
    TARE_RETURN_IF_ERROR(AddValue(graph, table, name, value));
  }
  return absl::OkStatus();
}

using ScalarReader = absl::StatusOr<MetaId> (*)(Reader&, const Json&);
absl::Status ReadScalarValues(GraphReader& graph, const Json& table, ScalarReader read) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, table.Object());
  for (const auto& [name, item] : object) {
    GraphValue value;
    TARE_ASSIGN_OR_RETURN(value.meta, read(graph.reader, table.At(name, item)));
    TARE_RETURN_IF_ERROR(AddValue(graph, table, name, value));
  }
  return absl::OkStatus();
}

constexpr JsonField kObjectFields[] = {{"name"}, {"class_fqn"}};

absl::StatusOr<MetaId> ReadObjectValue(Reader& reader, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kObjectFields));
  Meta meta;
  meta.kind = MetaKind::kObject;
  TARE_ASSIGN_OR_RETURN(meta.text, json.At("class_fqn", fields.found[1]).String());
  return reader.context.metas.Intern(meta);
}

// --- names that inputs, arguments and results give

// A value named by an input or result: `as_tensor`, a symbolic scalar or a custom object.
// "" for a constant.
absl::StatusOr<std::string_view> NameIn(const Json& json) {
  TARE_ASSIGN_OR_RETURN(const Json::Union tag, json.Tag());
  const Json value = json.At(tag.tag, tag.value);
  static constexpr JsonField kFields[] = {{"name"}};
  if (tag.tag == "as_tensor") {
    TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(value, kFields));
    return value.At("name", fields.found[0]).String();
  }
  if (tag.tag == "as_custom_obj") {
    TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(value, kObjectFields));
    return value.At("name", fields.found[0]).String();
  }
  if (tag.tag == "as_sym_int" || tag.tag == "as_sym_float" || tag.tag == "as_sym_bool") {
    TARE_ASSIGN_OR_RETURN(const Json::Union name, value.Tag());
    if (name.tag == "as_name") return value.At(name.tag, name.value).String();
  }
  return std::string_view{};
}

// The table's row of a value about to be defined.
absl::StatusOr<GraphValue*> Undefined(GraphReader& graph, const Json& where, std::string_view name) {
  const auto found = graph.values.find(name);
  if (found == graph.values.end())
    return where.Error("graph_c7", "value ", Printable(name), " has no recorded metadata");
  if (found->second.node.has_value() || found->second.producer.has_value())
    return where.Error("graph_c7", "value ", Printable(name), " is defined twice");
  return &found->second;
}

void Define(GraphReader& graph, GraphValue& value, NodeId node) {
  value.node = node;
  if (value.requires_grad) graph.requires_grad.insert(node);
}

NodeId AppendNode(GraphReader& graph, const NodeDef& def, std::string_view name) {
  return graph.edit.Append(def, name);
}

NodeDef GetItem(GraphReader& graph, int64_t index, MetaId meta, LocId loc, std::span<const NodeId> operand) {
  const NamedAttr attrs[] = {{"self", AttrValue::Operand(0)}, {"index", AttrValue::Int(index)}};
  return NodeDef{op::getitem, graph.reader.context.attrs.Intern(attrs), meta, QuantId{0}, loc, operand};
}

// --- inputs

// Metadata of an input that is a constant.
absl::StatusOr<MetaId> ConstantMeta(GraphReader& graph, const Json& json) {
  ArgumentReader arguments{graph};
  TARE_ASSIGN_OR_RETURN(const AttrValue value, ReadArgument(arguments, json, 0));
  const MetaId meta = MetaOf(graph.reader.context, value);
  if (!meta.has_value()) return json.Error("graph_c8", "input is neither a value nor a simple constant");
  return meta;
}

absl::Status ReadInputs(GraphReader& graph, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, json.Array());
  std::vector<NodeId> inputs;
  int64_t index = 0;
  for (const element item : array) {
    const Json input = json.At(index, item);
    TARE_ASSIGN_OR_RETURN(const std::string_view name, NameIn(input));
    NodeDef def{op::placeholder, graph.reader.context.attrs.Empty()};
    if (!name.empty()) {
      TARE_ASSIGN_OR_RETURN(GraphValue * value, Undefined(graph, input, name));
      def.meta = value->meta;
      inputs.push_back(AppendNode(graph, def, name));
      Define(graph, *value, inputs.back());
    } else {
      TARE_ASSIGN_OR_RETURN(def.meta, ConstantMeta(graph, input));
      const std::vector<std::string_view>& names = graph.reader.main_input_names;
      const bool named = graph.id.index == 0 && static_cast<size_t>(index) < names.size() && !names[index].empty();
      inputs.push_back(AppendNode(graph, def, named ? std::string(names[index]) : absl::StrCat("constant_", index)));
    }
    ++index;
  }
  graph.edit.SetInputs(inputs);
  return absl::OkStatus();
}

// --- nodes

absl::StatusOr<LocId> ReadNodeMetadata(GraphReader& graph, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, json.Object());
  llvm::SmallVector<std::pair<std::string_view, std::string_view>, 8> entries;
  for (const auto& [key, item] : object) {
    TARE_ASSIGN_OR_RETURN(const std::string_view text, json.At(key, item).String());
    for (const auto& entry : entries) {
      if (entry.first == key) return json.Error("json_c3", "key ", Printable(key), " occurs twice");
    }
    entries.emplace_back(key, text);
  }
  if (entries.empty()) return LocId{};
  return graph.graph.mutable_lineage().AddSource({entries.data(), entries.size()});
}

absl::Status ReadNodeArguments(ArgumentReader& arguments, const Json& json) {
  static constexpr JsonField kFields[] = {{"name"}, {"arg"}, {"kind", false}};
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, json.Array());
  int64_t index = 0;
  for (const element item : array) {
    const Json argument = json.At(index++, item);
    TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(argument, kFields));
    NamedAttr attr;
    TARE_ASSIGN_OR_RETURN(attr.name, argument.At("name", fields.found[0]).String());
    TARE_ASSIGN_OR_RETURN(attr.value, ReadArgument(arguments, argument.At("arg", fields.found[1]), 0));
    if (fields.Given(2)) {
      const Json kind = argument.At("kind", fields.found[2]);
      TARE_ASSIGN_OR_RETURN(const int64_t number, kind.Int());
      if (number < 0 || number > 2) return kind.Error("json_c4", "unknown kind ", number);
      attr.keyword = number == 2;
    }
    if (!attr.name.empty()) {
      for (const NamedAttr& other : arguments.attrs) {
        if (other.name == attr.name)
          return argument.Error("graph_c9", "argument ", Printable(attr.name), " is given twice");
      }
    }
    arguments.attrs.push_back(attr);
  }
  return absl::OkStatus();
}

// One entry of a node's outputs.
struct Output {
  enum Kind : uint8_t { kAbsent, kValue, kList } kind = kAbsent;
  std::string_view name;
  llvm::SmallVector<std::string_view, 4> names;  // kList
  MetaId meta;
};

absl::Status ReadOutputValue(GraphReader& graph, const Json& json, std::string_view name, MetaId* meta) {
  TARE_ASSIGN_OR_RETURN(const GraphValue* value, Undefined(graph, json, name));
  *meta = value->meta;
  return absl::OkStatus();
}

absl::StatusOr<Output> ReadOutput(GraphReader& graph, const Json& json) {
  static constexpr JsonField kFields[] = {{"name"}};
  TARE_ASSIGN_OR_RETURN(const Json::Union tag, json.Tag());
  Output output;
  if (tag.tag == "as_none") {
    output.meta = graph.reader.context.metas.None();
    return output;
  }
  const Json value = json.At(tag.tag, tag.value);
  if (tag.tag == "as_tensors") {
    output.kind = Output::kList;
    llvm::SmallVector<MetaId, 4> metas;
    TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, value.Array());
    int64_t index = 0;
    for (const element item : array) {
      const Json tensor = value.At(index++, item);
      TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(tensor, kFields));
      const Json name_json = tensor.At("name", fields.found[0]);
      TARE_ASSIGN_OR_RETURN(const std::string_view name, name_json.String());
      TARE_RETURN_IF_ERROR(ReadOutputValue(graph, name_json, name, &metas.emplace_back()));
      output.names.push_back(name);
    }
    output.meta = graph.reader.context.metas.List({metas.data(), metas.size()});
    return output;
  }
  TARE_ASSIGN_OR_RETURN(output.name, NameIn(json));
  if (output.name.empty()) return json.Error("graph_c8", "result without a name");
  output.kind = Output::kValue;
  TARE_RETURN_IF_ERROR(ReadOutputValue(graph, json, output.name, &output.meta));
  return output;
}

// Element `index` of `producer`: a getitem node, unless the file's writer named it as unused.
absl::Status DefineElement(GraphReader& graph, const Json& json, std::string_view name, NodeId producer,
                           std::string_view producer_name, int64_t index, LocId loc) {
  TARE_ASSIGN_OR_RETURN(GraphValue * value, Undefined(graph, json, name));
  if (name.size() > producer_name.size() && name.starts_with(producer_name) &&
      name.substr(producer_name.size()).starts_with("_unused_")) {
    value->producer = producer;
    value->element = static_cast<int32_t>(index);
    return absl::OkStatus();
  }
  const NodeId operand[] = {producer};
  Define(graph, *value, AppendNode(graph, GetItem(graph, index, value->meta, loc, operand), name));
  return absl::OkStatus();
}

absl::Status DefineElements(GraphReader& graph, const Json& json, const Output& output, NodeId producer,
                            std::string_view producer_name, LocId loc) {
  for (size_t i = 0; i < output.names.size(); ++i) {
    TARE_RETURN_IF_ERROR(
        DefineElement(graph, json, output.names[i], producer, producer_name, static_cast<int64_t>(i), loc));
  }
  return absl::OkStatus();
}

// A name for a node of several results in files that do not give it.
std::string MakeName(const GraphReader& graph, std::string_view op_name) {
  std::string_view base = op_name.substr(0, op_name.rfind('.'));
  if (const size_t dot = base.rfind('.'); dot != base.npos) base = base.substr(dot + 1);
  if (op_name.starts_with("higher_order.")) base = op_name.substr(13);
  std::string name(base);
  for (int i = 1; graph.values.contains(std::string_view(name)); ++i)
    name = absl::StrCat(absl::string_view(base.data(), base.size()), "_", i);
  return name;
}

absl::StatusOr<Op> FindOp(Reader& reader, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const std::string_view target, json.String());
  if (const auto found = reader.ops.find(target); found != reader.ops.end()) return found->second;
  const absl::StatusOr<Target> parsed = ParseTarget(target);
  if (!parsed.ok()) return Prefixed(json.Where() + ": ", parsed.status());
  // Other namespaces may be anybody's; these two are known in full.
  const bool aten = parsed->kind == TargetKind::kOperator && parsed->name_space == "aten";
  if ((aten || parsed->kind == TargetKind::kExtension) && !reader.context.ops.Find(parsed->name).has_value() &&
      !(aten && IsAtenOverload(std::string_view(parsed->name).substr(5))))
    return json.Error("graph_c5", "unknown operator ", Printable(parsed->name));
  const Op op = reader.context.ops.FindOrDeclare(parsed->name);
  reader.ops.emplace(target, op);
  return op;
}

// Scalars only: `_operator.neg` of a tensor is no node of an exported program.
absl::Status CheckScalarOperands(const ArgumentReader& arguments, const Json& json) {
  const MetaStore& metas = arguments.graph.reader.context.metas;
  for (const NodeId operand : arguments.operands) {
    if (metas.Get(arguments.graph.graph.meta(operand)).kind == MetaKind::kTensor)
      return json.Error("graph_c9", "an operator on numbers is given the tensor ",
                        Printable(arguments.graph.graph.NameOf(operand)));
  }
  return absl::OkStatus();
}

absl::Status DefineResults(GraphReader& graph, const Json& json, std::span<const Output> outputs, bool is_tuple,
                           NodeId node, std::string_view node_name, LocId loc) {
  if (!is_tuple) {
    if (outputs.empty() || outputs[0].kind == Output::kAbsent) return absl::OkStatus();
    if (outputs[0].kind == Output::kList) return DefineElements(graph, json, outputs[0], node, node_name, loc);
    TARE_ASSIGN_OR_RETURN(GraphValue * value, Undefined(graph, json, outputs[0].name));
    Define(graph, *value, node);
    return absl::OkStatus();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i);
    if (outputs[i].kind == Output::kValue) {
      TARE_RETURN_IF_ERROR(DefineElement(graph, json, outputs[i].name, node, node_name, index, loc));
    } else if (outputs[i].kind == Output::kList) {
      const NodeId operand[] = {node};
      const NodeId list = AppendNode(graph, GetItem(graph, index, outputs[i].meta, loc, operand),
                                     absl::StrCat(std::string(node_name), "_list_", index));
      TARE_RETURN_IF_ERROR(DefineElements(graph, json, outputs[i], list, node_name, loc));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadNode(GraphReader& graph, const Json& json) {
  static constexpr JsonField kFields[] = {
      {"target"}, {"inputs"}, {"outputs"}, {"metadata"}, {"is_hop_single_tensor_return", false}, {"name", false}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  Context& context = graph.reader.context;
  NodeDef def;
  TARE_ASSIGN_OR_RETURN(def.op, FindOp(graph.reader, json.At("target", fields.found[0])));
  const std::string_view op_name = context.ops.Name(def.op);
  const TargetKind kind = KindOf(op_name);

  graph.arena.Reset();
  ArgumentReader arguments{graph};
  const Json inputs = json.At("inputs", fields.found[1]);
  TARE_RETURN_IF_ERROR(ReadNodeArguments(arguments, inputs));
  if (kind == TargetKind::kScalar) TARE_RETURN_IF_ERROR(CheckScalarOperands(arguments, inputs));
  TARE_ASSIGN_OR_RETURN(def.loc, ReadNodeMetadata(graph, json.At("metadata", fields.found[3])));

  llvm::SmallVector<Output, 2> outputs;
  const Json outputs_json = json.At("outputs", fields.found[2]);
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, outputs_json.Array());
  int64_t index = 0;
  for (const element item : array) {
    TARE_ASSIGN_OR_RETURN(outputs.emplace_back(), ReadOutput(graph, outputs_json.At(index++, item)));
  }
  bool single_tensor = true;
  if (fields.Given(4)) {
    TARE_ASSIGN_OR_RETURN(single_tensor, json.At("is_hop_single_tensor_return", fields.found[4]).Bool());
  }
  std::string_view given_name;
  if (fields.Given(5)) {
    TARE_ASSIGN_OR_RETURN(given_name, json.At("name", fields.found[5]).String());
  }

  // Several results are a tuple; a higher-order op may also return a tuple of one or none.
  const bool is_higher_order = kind == TargetKind::kHigherOrder;
  const bool is_tuple = outputs.size() > 1 || (is_higher_order && outputs.empty()) ||
                        (is_higher_order && outputs.size() == 1 && !single_tensor && outputs[0].kind == Output::kValue);
  llvm::SmallVector<MetaId, 4> metas;
  for (const Output& output : outputs) metas.push_back(output.meta);
  if (is_tuple) {
    def.meta = context.metas.Tuple({metas.data(), metas.size()});
  } else if (is_higher_order && outputs.size() == 1 && outputs[0].kind == Output::kList) {
    const std::span<const MetaId> items = context.metas.Get(outputs[0].meta).items;
    def.meta = context.metas.Tuple(items);
  } else {
    def.meta = outputs.empty() ? context.metas.None() : outputs[0].meta;
  }
  std::string name(given_name);
  if (!is_tuple && !outputs.empty() && outputs[0].kind == Output::kValue) name = std::string(outputs[0].name);
  if (name.empty()) name = MakeName(graph, op_name);

  const absl::StatusOr<AttrsId> attrs =
      NormalizeArgs(context, def.op, {arguments.attrs.data(), arguments.attrs.size()});
  if (!attrs.ok()) return Prefixed(absl::StrCat(inputs.Where(), ": "), attrs.status());
  def.attrs = *attrs;
  def.operands = {arguments.operands.data(), arguments.operands.size()};
  const NodeId node = AppendNode(graph, def, name);
  for (const GraphId body : arguments.bodies) {
    graph.reader.program.graphs[body.index].owner_graph = graph.id;
    graph.reader.program.graphs[body.index].owner = node;
  }
  return DefineResults(graph, outputs_json, {outputs.data(), outputs.size()}, is_tuple, node, name, def.loc);
}

absl::Status ReadOutputs(GraphReader& graph, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, json.Array());
  graph.arena.Reset();
  ArgumentReader arguments{graph};
  arguments.merge_operands = array.size() > kManyOutputs;
  std::vector<AttrValue> items;
  int64_t index = 0;
  for (const element item : array) {
    TARE_ASSIGN_OR_RETURN(items.emplace_back(), ReadArgument(arguments, json.At(index++, item), 0));
  }
  Context& context = graph.reader.context;
  const NamedAttr attr{"args", AttrValue::List(items)};
  NodeDef def{op::output, context.attrs.Intern({&attr, 1}), context.metas.None(), QuantId{0}, LocId{}, {}};
  def.operands = {arguments.operands.data(), arguments.operands.size()};
  AppendNode(graph, def, "output");
  return absl::OkStatus();
}

absl::Status ReadGraphInto(GraphReader& graph, ProgramGraph& result, const Json& json) {
  static constexpr JsonField kFields[] = {{"inputs"},
                                          {"outputs"},
                                          {"nodes"},
                                          {"tensor_values"},
                                          {"sym_int_values"},
                                          {"sym_bool_values"},
                                          {"is_single_tensor_return", false},
                                          {"custom_obj_values", false},
                                          {"sym_float_values", false}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  TARE_RETURN_IF_ERROR(ReadTensorValues(graph, json.At("tensor_values", fields.found[3])));
  TARE_RETURN_IF_ERROR(ReadScalarValues(graph, json.At("sym_int_values", fields.found[4]), ReadSymIntValue));
  TARE_RETURN_IF_ERROR(ReadScalarValues(graph, json.At("sym_bool_values", fields.found[5]), ReadSymBoolValue));
  if (fields.Given(6)) {
    TARE_ASSIGN_OR_RETURN(result.single_tensor_return, json.At("is_single_tensor_return", fields.found[6]).Bool());
  }
  if (fields.Given(7))
    TARE_RETURN_IF_ERROR(ReadScalarValues(graph, json.At("custom_obj_values", fields.found[7]), ReadObjectValue));
  if (fields.Given(8))
    TARE_RETURN_IF_ERROR(ReadScalarValues(graph, json.At("sym_float_values", fields.found[8]), ReadSymFloatValue));
  TARE_RETURN_IF_ERROR(ReadInputs(graph, json.At("inputs", fields.found[0])));
  const Json nodes = json.At("nodes", fields.found[2]);
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, nodes.Array());
  int64_t index = 0;
  for (const element item : array) TARE_RETURN_IF_ERROR(ReadNode(graph, nodes.At(index++, item)));
  return ReadOutputs(graph, json.At("outputs", fields.found[1]));
}

}  // namespace

absl::StatusOr<NodeId> Lookup(GraphReader& graph, const Json& where, std::string_view name) {
  const auto found = graph.values.find(name);
  if (found == graph.values.end()) return where.Error("graph_c7", "value ", Printable(name), " is not defined");
  GraphValue& value = found->second;
  if (value.node.has_value()) return value.node;
  if (!value.producer.has_value())
    return where.Error("graph_c7", "value ", Printable(name), " is used before it is defined");
  const NodeId operand[] = {value.producer};
  const LocId loc = graph.graph.loc(value.producer);
  Define(graph, value, AppendNode(graph, GetItem(graph, value.element, value.meta, loc, operand), name));
  return value.node;
}

absl::StatusOr<GraphId> ReadGraph(Reader& reader, const Json& json, std::string_view name) {
  if (reader.graph_depth == kMaxGraphDepth)
    return json.Error("json_c5", "graphs nested more than ", kMaxGraphDepth, " deep");
  if (reader.program.graphs.size() == kMaxGraphs) return json.Error("json_c5", "more than ", kMaxGraphs, " graphs");
  const GraphId id{static_cast<uint32_t>(reader.program.graphs.size())};
  reader.program.graphs.emplace_back();
  ++reader.graph_depth;
  ProgramGraph result;
  result.name = std::string(name);
  GraphReader graph(reader, id);
  TARE_RETURN_IF_ERROR(ReadGraphInto(graph, result, json));
  --reader.graph_depth;
  result.graph = std::move(graph.graph);
  result.requires_grad = std::move(graph.requires_grad);
  reader.program.graphs[id.index] = std::move(result);
  return id;
}

}  // namespace tare::pt2
