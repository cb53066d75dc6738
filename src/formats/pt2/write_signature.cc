// The signature, and the inputs that constants of passes become.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "formats/pt2/writer.h"

namespace tare::pt2 {
namespace {

bool HoldsConstant(InputKind kind) {
  return kind == InputKind::kParameter || kind == InputKind::kBuffer || kind == InputKind::kTensorConstant ||
         kind == InputKind::kCustomObject;
}

bool IsUser(InputKind kind) { return kind == InputKind::kUser || kind == InputKind::kConstantInput; }

// The arguments of main's output node, one per output spec.
std::vector<AttrValue> OutputItems(const Writer& writer) {
  const Graph& main = writer.program.main();
  std::vector<AttrValue> items;
  for (const NamedAttr& attr : writer.context.attrs.Get(main.attrs(main.last()))) {
    if (attr.value.kind == AttrKind::kInts) {
      for (const int64_t number : attr.value.ints()) items.push_back(AttrValue::Int(number));
    } else if (attr.value.kind == AttrKind::kList) {
      items.insert(items.end(), attr.value.items().begin(), attr.value.items().end());
    } else {
      items.push_back(attr.value);
    }
  }
  return items;
}

void WriteNamedArg(JsonWriter& json, std::string_view name) {
  json.Key("arg").BeginObject().Key("name").String(name).EndObject();
}

absl::Status WriteConstantValue(Writer& writer, const Meta& meta, std::string_view name) {
  JsonWriter& json = writer.json;
  const SymStore& syms = writer.context.syms;
  json.BeginObject();
  if (meta.kind == MetaKind::kNone) {
    json.Key("as_none").Bool(true);
  } else if (meta.kind == MetaKind::kInt && syms.Constant(meta.value)) {
    json.Key("as_int").Int(*syms.Constant(meta.value));
  } else if (meta.kind == MetaKind::kFloat && syms.kind(meta.expr) == ExprKind::kFloatConst) {
    json.Key("as_float").Float(syms.float_value(meta.expr));
  } else if (meta.kind == MetaKind::kBool && syms.kind(meta.expr) == ExprKind::kBoolConst) {
    json.Key("as_bool").Bool(syms.bool_value(meta.expr));
  } else if (meta.kind == MetaKind::kString) {
    json.Key("as_string").String(meta.text);
  } else {
    return CannotWrite("%", name, ", a constant input whose value is not known");
  }
  json.EndObject();
  return absl::OkStatus();
}

absl::Status WriteInputSpec(Writer& writer, const InputSpec& spec, NodeId input, std::string_view name) {
  JsonWriter& json = writer.json;
  json.BeginObject();
  const auto named = [&](const char* tag, const char* key) {
    json.Key(tag).BeginObject();
    WriteNamedArg(json, name);
    json.Key(key).String(spec.constant.has_value() ? std::string_view(writer.constant_names[spec.constant.index])
                                                   : std::string_view(spec.target));
  };
  switch (spec.kind) {
    case InputKind::kUser:
      json.Key("user_input").BeginObject().Key("arg");
      TARE_RETURN_IF_ERROR(WriteInputArgument(writer, writer.program.graphs[0], input, name, false));
      break;
    case InputKind::kParameter:
      named("parameter", "parameter_name");
      break;
    case InputKind::kBuffer:
      named("buffer", "buffer_name");
      json.Key("persistent").Bool(spec.persistent);
      break;
    case InputKind::kTensorConstant:
      named("tensor_constant", "tensor_constant_name");
      break;
    case InputKind::kCustomObject:
      json.Key("custom_obj").BeginObject().Key("arg").BeginObject().Key("name").String(name);
      json.Key("class_fqn").String(writer.context.metas.Get(writer.program.main().meta(input)).text).EndObject();
      json.Key("custom_obj_name").String(spec.target);
      break;
    case InputKind::kToken:
      json.Key("token").BeginObject();
      WriteNamedArg(json, name);
      break;
    case InputKind::kConstantInput:
      json.Key("constant_input").BeginObject().Key("name").String(spec.target).Key("value");
      TARE_RETURN_IF_ERROR(WriteInputArgument(writer, writer.program.graphs[0], input, name, true));
      break;
  }
  json.EndObject().EndObject();
  return absl::OkStatus();
}

struct OutputRow {
  const char* tag;
  const char* target;  // key of the name; null = none
};
OutputRow RowOf(OutputKind kind) {
  switch (kind) {
    case OutputKind::kUser:
      return {"user_output", nullptr};
    case OutputKind::kLoss:
      return {"loss_output", nullptr};
    case OutputKind::kBufferMutation:
      return {"buffer_mutation", "buffer_name"};
    case OutputKind::kParameterMutation:
      return {"parameter_mutation", "parameter_name"};
    case OutputKind::kUserInputMutation:
      return {"user_input_mutation", "user_input_name"};
    case OutputKind::kGradientToParameter:
      return {"gradient_to_parameter", "parameter_name"};
    case OutputKind::kGradientToUserInput:
      return {"gradient_to_user_input", "user_input_name"};
    case OutputKind::kToken:
      return {"token", nullptr};
  }
  return {"user_output", nullptr};
}

}  // namespace

// A constant node takes the input that already holds its constant, else a new one named after itself.
void CollectLifted(Writer& writer) {
  const Program& program = writer.program;
  const Graph& main = program.main();
  absl::flat_hash_set<std::string> names;
  for (const Constant& constant : program.constants) {
    std::string name = constant.name.empty() ? std::string("lifted_constant") : constant.name;
    for (int i = 1; !names.insert(name).second; ++i) name = absl::StrCat(constant.name, "_", i);
    writer.constant_names.push_back(name);
  }
  writer.constant_inputs.resize(program.constants.size());
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const ConstId constant = program.inputs[i].constant;
    if (HoldsConstant(program.inputs[i].kind) && constant.index < writer.constant_inputs.size())
      writer.constant_inputs[constant.index] = std::string(main.NameOf(main.inputs()[i]));
  }
  for (const NodeId node : main.nodes()) {
    if (main.op(node) != op::constant) continue;
    const std::span<const NamedAttr> attrs = writer.context.attrs.Get(main.attrs(node));
    const ConstId constant{static_cast<uint32_t>(attrs.empty() ? -1 : attrs[0].value.integer)};
    if (constant.index >= program.constants.size() || !writer.constant_inputs[constant.index].empty()) continue;
    LiftedInput input;
    input.name = std::string(main.NameOf(node));
    input.meta = program.constants[constant.index].meta;
    input.spec.kind =
        program.constants[constant.index].is_parameter ? InputKind::kParameter : InputKind::kTensorConstant;
    input.spec.target = writer.constant_names[constant.index];
    input.spec.constant = constant;
    writer.constant_inputs[constant.index] = input.name;
    writer.lifted.push_back(std::move(input));
  }
}

std::vector<int> InputOrder(const Writer& writer) {
  const std::vector<InputSpec>& inputs = writer.program.inputs;
  size_t first_user = inputs.size();
  while (first_user > 0 && IsUser(inputs[first_user - 1].kind)) --first_user;
  std::vector<int> order;
  for (size_t i = 0; i < first_user; ++i) order.push_back(static_cast<int>(i));
  for (size_t i = 0; i < writer.lifted.size(); ++i) order.push_back(-1 - static_cast<int>(i));
  for (size_t i = first_user; i < inputs.size(); ++i) order.push_back(static_cast<int>(i));
  return order;
}

absl::Status WriteInputArgument(Writer& writer, const ProgramGraph& graph, NodeId input, std::string_view name,
                                bool is_constant) {
  const Meta& meta = writer.context.metas.Get(graph.graph.meta(input));
  JsonWriter& json = writer.json;
  if (is_constant || meta.kind == MetaKind::kNone || meta.kind == MetaKind::kString)
    return WriteConstantValue(writer, meta, name);
  const auto named = [&](const char* tag, const char* key) {
    json.BeginObject().Key(tag).BeginObject().Key(key).String(name).EndObject().EndObject();
  };
  switch (meta.kind) {
    case MetaKind::kTensor:
    case MetaKind::kToken:
      named("as_tensor", "name");
      break;
    case MetaKind::kInt:
      named("as_sym_int", "as_name");
      break;
    case MetaKind::kFloat:
      named("as_sym_float", "as_name");
      break;
    case MetaKind::kBool:
      named("as_sym_bool", "as_name");
      break;
    case MetaKind::kObject:
      json.BeginObject().Key("as_custom_obj").BeginObject().Key("name").String(name);
      json.Key("class_fqn").String(meta.text).EndObject().EndObject();
      break;
    default:
      return CannotWrite("input %", name, ", a list");
  }
  return absl::OkStatus();
}

absl::Status WriteSignature(Writer& writer) {
  const Program& program = writer.program;
  const Graph& main = program.main();
  JsonWriter& json = writer.json;
  json.BeginObject().Key("input_specs").BeginArray();
  for (const int place : InputOrder(writer)) {
    if (place < 0) {
      const LiftedInput& input = writer.lifted[static_cast<size_t>(-1 - place)];
      TARE_RETURN_IF_ERROR(WriteInputSpec(writer, input.spec, NodeId{}, input.name));
    } else {
      const NodeId input = main.inputs()[static_cast<size_t>(place)];
      TARE_RETURN_IF_ERROR(
          WriteInputSpec(writer, program.inputs[static_cast<size_t>(place)], input, main.NameOf(input)));
    }
  }
  json.EndArray().Key("output_specs").BeginArray();
  const std::vector<AttrValue> items = OutputItems(writer);
  if (items.size() != program.outputs.size())
    return CannotWrite(items.size(), " outputs, for which the signature has ", program.outputs.size(), " specs");
  GraphWriter graph{writer, GraphId{0}, program.graphs[0], main, {}, {}};
  TARE_RETURN_IF_ERROR(PrepareNames(graph));
  for (size_t i = 0; i < items.size(); ++i) {
    const OutputSpec& spec = program.outputs[i];
    const OutputRow row = RowOf(spec.kind);
    json.BeginObject().Key(row.tag).BeginObject();
    if (spec.kind == OutputKind::kUser) {
      json.Key("arg");
      TARE_RETURN_IF_ERROR(WriteArgument(graph, main.operands(main.last()), items[i], nullptr));
    } else {
      if (items[i].kind != AttrKind::kOperand) return CannotWrite("output ", i, ", a constant that is no user output");
      WriteNamedArg(json, graph.NameOf(main.operands(main.last())[items[i].operand]));
    }
    if (row.target != nullptr) json.Key(row.target).String(spec.target);
    json.EndObject().EndObject();
  }
  json.EndArray().EndObject();
  return absl::OkStatus();
}

}  // namespace tare::pt2
