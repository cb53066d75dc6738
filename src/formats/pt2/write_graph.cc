// Graphs: value tables, inputs, nodes with their elements, outputs.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/targets.h"
#include "formats/pt2/writer.h"

namespace tare::pt2 {
namespace {

int64_t IndexOf(const GraphWriter& graph, NodeId getitem) {
  for (const NamedAttr& attr : graph.writer.context.attrs.Get(graph.graph.attrs(getitem))) {
    if (attr.value.kind == AttrKind::kInt) return attr.value.integer;
  }
  return -1;
}

// Finds elements that have a node; a second getitem of the same element takes the first one's name.
absl::Status CollectElements(GraphWriter& graph) {
  for (const NodeId node : graph.graph.nodes()) {
    if (graph.graph.op(node) != op::getitem) continue;
    const NodeId producer = graph.graph.operands(node)[0];
    const Op producer_op = graph.graph.op(producer);
    const int64_t index = IndexOf(graph, node);
    const Meta& meta = graph.MetaOf(producer);
    if (producer_op == op::placeholder || (meta.kind != MetaKind::kTuple && meta.kind != MetaKind::kList) ||
        index < 0 || index >= static_cast<int64_t>(meta.items.size()))
      return CannotWrite("%", graph.graph.NameOf(node), ", element ", index, " of %", graph.graph.NameOf(producer));
    const auto [first, is_new] = graph.elements.emplace(std::pair(producer, index), node);
    if (!is_new) graph.renamed.emplace(node, std::string(graph.graph.NameOf(first->second)));
  }
  return absl::OkStatus();
}

void WriteValueName(JsonWriter& json, std::string_view tag, std::string_view key, std::string_view name) {
  json.BeginObject().Key(tag).BeginObject().Key(key).String(name).EndObject().EndObject();
}

// One result as an `Argument`.
absl::Status WriteResult(GraphWriter& graph, const Meta& meta, std::string_view name) {
  JsonWriter& json = graph.writer.json;
  switch (meta.kind) {
    case MetaKind::kTensor:
    case MetaKind::kToken:
      WriteValueName(json, "as_tensor", "name", name);
      return absl::OkStatus();
    case MetaKind::kInt:
      WriteValueName(json, "as_sym_int", "as_name", name);
      return absl::OkStatus();
    case MetaKind::kFloat:
      WriteValueName(json, "as_sym_float", "as_name", name);
      return absl::OkStatus();
    case MetaKind::kBool:
      WriteValueName(json, "as_sym_bool", "as_name", name);
      return absl::OkStatus();
    case MetaKind::kNone:
      json.BeginObject().Key("as_none").Bool(true).EndObject();
      return absl::OkStatus();
    case MetaKind::kObject:
      json.BeginObject().Key("as_custom_obj").BeginObject().Key("name").String(name);
      json.Key("class_fqn").String(meta.text).EndObject().EndObject();
      return absl::OkStatus();
    default:
      return CannotWrite("%", name, ", a result of a kind the format has no place for");
  }
}

void WriteTensorNames(GraphWriter& graph, NodeId list, size_t count) {
  JsonWriter& json = graph.writer.json;
  json.BeginObject().Key("as_tensors").BeginArray();
  for (size_t i = 0; i < count; ++i)
    json.BeginObject().Key("name").String(graph.ElementName(list, static_cast<int64_t>(i))).EndObject();
  json.EndArray().EndObject();
}

// A list among the elements of a tuple; its elements belong to the getitem node, when there is one.
void WriteInnerList(GraphWriter& graph, NodeId node, int64_t index, const Meta& list) {
  const auto found = graph.elements.find(std::pair(node, index));
  if (found != graph.elements.end()) return WriteTensorNames(graph, found->second, list.items.size());
  JsonWriter& json = graph.writer.json;
  json.BeginObject().Key("as_tensors").BeginArray();
  for (size_t i = 0; i < list.items.size(); ++i)
    json.BeginObject().Key("name").String(absl::StrCat(graph.ElementName(node, index), "_", i)).EndObject();
  json.EndArray().EndObject();
}

absl::Status WriteResults(GraphWriter& graph, NodeId node) {
  JsonWriter& json = graph.writer.json;
  const MetaStore& metas = graph.writer.context.metas;
  const Meta& meta = graph.MetaOf(node);
  json.BeginArray();
  if (meta.kind == MetaKind::kTuple) {
    for (size_t i = 0; i < meta.items.size(); ++i) {
      const Meta& item = metas.Get(meta.items[i]);
      const int64_t index = static_cast<int64_t>(i);
      if (item.kind == MetaKind::kList) {
        WriteInnerList(graph, node, index, item);
      } else {
        TARE_RETURN_IF_ERROR(WriteResult(graph, item, graph.ElementName(node, index)));
      }
    }
  } else if (meta.kind == MetaKind::kList) {
    WriteTensorNames(graph, node, meta.items.size());
  } else if (meta.kind == MetaKind::kNone) {
    const Op op = graph.graph.op(node);
    const Schema* schema = graph.writer.context.ops.schema(op);
    const bool returns = schema != nullptr && !schema->returns.empty();
    if (returns || KindOf(graph.writer.context.ops.Name(op)) == TargetKind::kHigherOrder)
      TARE_RETURN_IF_ERROR(WriteResult(graph, meta, ""));
  } else {
    TARE_RETURN_IF_ERROR(WriteResult(graph, meta, graph.graph.NameOf(node)));
  }
  json.EndArray();
  return absl::OkStatus();
}

absl::Status WriteNode(GraphWriter& graph, NodeId node) {
  JsonWriter& json = graph.writer.json;
  const std::string_view op_name = graph.writer.context.ops.Name(graph.graph.op(node));
  if (graph.graph.quant(node).index != 0)
    return CannotWrite("%", graph.graph.NameOf(node), " = ", op_name, ": quantisation parameters of the node");
  json.BeginObject().Key("target").String(TargetOf(op_name)).Key("inputs");
  TARE_RETURN_IF_ERROR(WriteNodeArguments(graph, node));
  json.Key("outputs");
  TARE_RETURN_IF_ERROR(WriteResults(graph, node));
  json.Key("metadata").BeginObject();
  if (const LocId loc = graph.graph.loc(node); loc.has_value()) {
    for (const auto& [key, text] : graph.graph.lineage().Metadata(loc)) json.Key(key).String(text);
  }
  json.EndObject().Key("is_hop_single_tensor_return");
  if (KindOf(op_name) == TargetKind::kHigherOrder) {
    json.Bool(graph.MetaOf(node).kind == MetaKind::kTensor);
  } else {
    json.Null();
  }
  json.Key("name").String(graph.graph.NameOf(node)).EndObject();
  return absl::OkStatus();
}

// --- value tables

struct TableRow {
  std::string name;
  const Meta* meta;
  bool requires_grad;
};

void AddElements(const GraphWriter& graph, NodeId node, const Meta& meta, std::vector<TableRow>& rows) {
  const MetaStore& metas = graph.writer.context.metas;
  for (size_t i = 0; i < meta.items.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i);
    const Meta& item = metas.Get(meta.items[i]);
    const auto found = graph.elements.find(std::pair(node, index));
    if (item.kind == MetaKind::kList) {
      if (found != graph.elements.end()) continue;  // its own row: the getitem node
      for (size_t k = 0; k < item.items.size(); ++k)
        rows.push_back({absl::StrCat(graph.ElementName(node, index), "_", k), &metas.Get(item.items[k]), false});
    } else if (found == graph.elements.end()) {
      rows.push_back({graph.ElementName(node, index), &item, false});
    }
  }
}

std::vector<TableRow> CollectRows(const GraphWriter& graph) {
  std::vector<TableRow> rows;
  const auto add = [&](NodeId node) {
    const Meta& meta = graph.MetaOf(node);
    if (meta.kind == MetaKind::kTuple || meta.kind == MetaKind::kList) {
      AddElements(graph, node, meta, rows);
    } else {
      rows.push_back({std::string(graph.graph.NameOf(node)), &meta, graph.owner.requires_grad.contains(node)});
    }
  };
  for (const NodeId node : graph.graph.nodes()) {
    const Op op = graph.graph.op(node);
    if (op == op::output || op == op::constant || graph.renamed.contains(node)) continue;
    if (op == op::placeholder && graph.id.index == 0) {
      const std::span<const NodeId> inputs = graph.graph.inputs();
      const size_t place = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), node) - inputs.begin());
      if (graph.writer.program.inputs[place].kind == InputKind::kConstantInput) continue;
    }
    add(node);
  }
  if (graph.id.index == 0) {
    for (const LiftedInput& input : graph.writer.lifted)
      rows.push_back(
          {input.name, &graph.writer.context.metas.Get(input.meta), input.spec.kind == InputKind::kParameter});
  }
  return rows;
}

absl::Status WriteTables(GraphWriter& graph, const std::vector<TableRow>& rows) {
  JsonWriter& json = graph.writer.json;
  json.Key("tensor_values").BeginObject();
  for (const TableRow& row : rows) {
    if (row.meta->kind != MetaKind::kTensor && row.meta->kind != MetaKind::kToken) continue;
    TensorMeta meta = row.meta->tensor;
    const Dim zero = Dim::Static(0), one = Dim::Static(1);
    if (row.meta->kind == MetaKind::kToken) {  // torch gives tokens the metadata f32[0]
      meta = TensorMeta{};
      meta.shape = {&zero, 1};
      meta.strides = {&one, 1};
    }
    json.Key(row.name);
    TARE_RETURN_IF_ERROR(WriteTensorMeta(graph.writer, meta, row.requires_grad, row.name));
  }
  json.EndObject();
  const auto scalars = [&](std::string_view key, MetaKind kind) {
    json.Key(key).BeginObject();
    SymStore& syms = graph.writer.context.syms;
    for (const TableRow& row : rows) {
      if (row.meta->kind != kind) continue;
      json.Key(row.name);
      const ExprId expr = row.meta->expr;
      if (kind == MetaKind::kInt) {
        WriteDim(graph.writer, row.meta->value);
      } else if (kind == MetaKind::kFloat && syms.kind(expr) == ExprKind::kFloatConst) {
        json.BeginObject().Key("as_float").Float(syms.float_value(expr)).EndObject();
      } else if (kind == MetaKind::kBool && syms.kind(expr) == ExprKind::kBoolConst) {
        json.BeginObject().Key("as_bool").Bool(syms.bool_value(expr)).EndObject();
      } else {
        json.BeginObject().Key("as_expr");
        WriteExpr(graph.writer, expr);
        json.EndObject();
      }
    }
    json.EndObject();
  };
  scalars("sym_int_values", MetaKind::kInt);
  scalars("sym_bool_values", MetaKind::kBool);
  json.Key("is_single_tensor_return").Bool(graph.owner.single_tensor_return);
  json.Key("custom_obj_values").BeginObject();
  for (const TableRow& row : rows) {
    if (row.meta->kind != MetaKind::kObject) continue;
    json.Key(row.name).BeginObject().Key("name").String(row.name);
    json.Key("class_fqn").String(row.meta->text).EndObject();
  }
  json.EndObject();
  scalars("sym_float_values", MetaKind::kFloat);
  return absl::OkStatus();
}

absl::Status WriteInputs(GraphWriter& graph) {
  JsonWriter& json = graph.writer.json;
  const std::span<const NodeId> inputs = graph.graph.inputs();
  json.BeginArray();
  if (graph.id.index != 0) {
    for (const NodeId input : inputs)
      TARE_RETURN_IF_ERROR(WriteInputArgument(graph.writer, graph.owner, input, graph.graph.NameOf(input), false));
  } else {
    for (const int place : InputOrder(graph.writer)) {
      if (place < 0) {
        WriteValueName(json, "as_tensor", "name", graph.writer.lifted[static_cast<size_t>(-1 - place)].name);
        continue;
      }
      const NodeId input = inputs[static_cast<size_t>(place)];
      const bool constant = graph.writer.program.inputs[static_cast<size_t>(place)].kind == InputKind::kConstantInput;
      TARE_RETURN_IF_ERROR(WriteInputArgument(graph.writer, graph.owner, input, graph.graph.NameOf(input), constant));
    }
  }
  json.EndArray();
  return absl::OkStatus();
}

absl::Status WriteOutputs(GraphWriter& graph) {
  JsonWriter& json = graph.writer.json;
  const NodeId output = graph.graph.last();
  json.BeginArray();
  for (const NamedAttr& attr : graph.writer.context.attrs.Get(graph.graph.attrs(output))) {
    if (attr.value.kind == AttrKind::kInts) {
      for (const int64_t number : attr.value.ints()) json.BeginObject().Key("as_int").Int(number).EndObject();
    } else if (attr.value.kind == AttrKind::kList) {
      for (const AttrValue& item : attr.value.items())
        TARE_RETURN_IF_ERROR(WriteArgument(graph, graph.graph.operands(output), item, nullptr));
    } else {
      TARE_RETURN_IF_ERROR(WriteArgument(graph, graph.graph.operands(output), attr.value, nullptr));
    }
  }
  json.EndArray();
  return absl::OkStatus();
}

// Constant nodes of the main graph have become inputs; a body has nowhere to put one.
absl::Status RenameConstants(GraphWriter& graph) {
  for (const NodeId node : graph.graph.nodes()) {
    if (graph.graph.op(node) != op::constant) continue;
    if (graph.id.index != 0)
      return CannotWrite("%", graph.graph.NameOf(node), ": a constant inside the body ", graph.owner.name);
    const std::span<const NamedAttr> attrs = graph.writer.context.attrs.Get(graph.graph.attrs(node));
    const ConstId constant{static_cast<uint32_t>(attrs.empty() ? -1 : attrs[0].value.integer)};
    if (constant.index >= graph.writer.constant_names.size())
      return CannotWrite("%", graph.graph.NameOf(node), ": a constant that is not there");
    graph.renamed.emplace(node, graph.writer.constant_inputs[constant.index]);
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view GraphWriter::NameOf(NodeId node) const {
  const auto found = renamed.find(node);
  return found == renamed.end() ? graph.NameOf(node) : std::string_view(found->second);
}

std::string GraphWriter::ElementName(NodeId producer, int64_t index) const {
  const auto found = elements.find(std::pair(producer, index));
  if (found != elements.end()) return std::string(graph.NameOf(found->second));
  return absl::StrCat(std::string(graph.NameOf(producer)), "_unused_", index);
}

const Meta& GraphWriter::MetaOf(NodeId node) const { return writer.context.metas.Get(graph.meta(node)); }

absl::Status PrepareNames(GraphWriter& graph) {
  TARE_RETURN_IF_ERROR(CollectElements(graph));
  return RenameConstants(graph);
}

absl::Status WriteGraph(Writer& writer, GraphId id) {
  const ProgramGraph& owner = writer.program.graphs[id.index];
  if (++writer.graph_depth > kMaxGraphDepth) return CannotWrite("graphs nested more than ", kMaxGraphDepth, " deep");
  GraphWriter graph{writer, id, owner, owner.graph, {}, {}};
  if (!graph.graph.last().has_value() || graph.graph.op(graph.graph.last()) != op::output)
    return CannotWrite("graph ", owner.name, ", which has no output");
  TARE_RETURN_IF_ERROR(PrepareNames(graph));
  JsonWriter& json = writer.json;
  json.BeginObject().Key("inputs");
  TARE_RETURN_IF_ERROR(WriteInputs(graph));
  json.Key("outputs");
  TARE_RETURN_IF_ERROR(WriteOutputs(graph));
  json.Key("nodes").BeginArray();
  for (const NodeId node : graph.graph.nodes()) {
    const Op op = graph.graph.op(node);
    if (op == op::placeholder || op == op::output || op == op::getitem || op == op::constant) continue;
    TARE_RETURN_IF_ERROR(WriteNode(graph, node));
  }
  json.EndArray();
  TARE_RETURN_IF_ERROR(WriteTables(graph, CollectRows(graph)));
  json.EndObject();
  --writer.graph_depth;
  return absl::OkStatus();
}

}  // namespace tare::pt2
