// The signature, and the parts of the program that are checked and kept as text.
#include <algorithm>
#include <iterator>

#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/reader.h"
#include "formats/pt2/utf8.h"

namespace tare::pt2 {
namespace {

using simdjson::dom::element;

// A kind of spec: the tag, and the key of the name it carries.
template <typename Kind>
struct SpecRow {
  std::string_view tag;
  Kind kind;
  std::string_view target;  // "" = none
};
constexpr SpecRow<InputKind> kInputSpecs[] = {
    {"user_input", InputKind::kUser, ""},
    {"parameter", InputKind::kParameter, "parameter_name"},
    {"buffer", InputKind::kBuffer, "buffer_name"},
    {"tensor_constant", InputKind::kTensorConstant, "tensor_constant_name"},
    {"custom_obj", InputKind::kCustomObject, "custom_obj_name"},
    {"token", InputKind::kToken, ""},
    {"constant_input", InputKind::kConstantInput, "name"},
};
constexpr SpecRow<OutputKind> kOutputSpecs[] = {
    {"user_output", OutputKind::kUser, ""},
    {"loss_output", OutputKind::kLoss, ""},
    {"buffer_mutation", OutputKind::kBufferMutation, "buffer_name"},
    {"parameter_mutation", OutputKind::kParameterMutation, "parameter_name"},
    {"user_input_mutation", OutputKind::kUserInputMutation, "user_input_name"},
    {"gradient_to_parameter", OutputKind::kGradientToParameter, "parameter_name"},
    {"gradient_to_user_input", OutputKind::kGradientToUserInput, "user_input_name"},
    {"token", OutputKind::kToken, ""},
};

template <typename Kind, size_t N>
absl::StatusOr<const SpecRow<Kind>*> FindSpec(const Json& json, const SpecRow<Kind> (&rows)[N], Json::Union* tag) {
  TARE_ASSIGN_OR_RETURN(*tag, json.Tag());
  const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const auto& r) { return r.tag == tag->tag; });
  if (row == std::end(rows)) return json.Error("json_c4", "unknown tag ", Printable(tag->tag));
  return row;
}

// `arg` of a spec must be what the graph lists at the same place.
absl::Status CheckSame(const Json& spec_argument, element listed, bool name_only) {
  if (!name_only) {
    if (SameJson(spec_argument.element, listed)) return absl::OkStatus();
    return spec_argument.Error("graph_c10", "is not what the graph lists at this place");
  }
  static constexpr JsonField kFields[] = {{"name"}, {"class_fqn", false}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(spec_argument, kFields));
  TARE_ASSIGN_OR_RETURN(const std::string_view name, spec_argument.At("name", fields.found[0]).String());
  std::string_view listed_name;
  if (simdjson::dom::object object; listed.get_object().get(object) == simdjson::SUCCESS && object.size() == 1) {
    const auto text = object.begin().value()["name"].get_string();
    if (text.error() == simdjson::SUCCESS) listed_name = text.value_unsafe();
  }
  if (name == listed_name) return absl::OkStatus();
  return spec_argument.Error("graph_c10", "names ", Printable(name), ", the graph lists ", Printable(listed_name),
                             " at this place");
}

absl::StatusOr<InputSpec> ReadInputSpec(const Json& json, element listed) {
  Json::Union tag;
  TARE_ASSIGN_OR_RETURN(const SpecRow<InputKind>* row, FindSpec(json, kInputSpecs, &tag));
  const Json value = json.At(tag.tag, tag.value);
  InputSpec spec;
  spec.kind = row->kind;
  if (row->kind == InputKind::kConstantInput) {
    static constexpr JsonField kFields[] = {{"name"}, {"value"}};
    TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(value, kFields));
    TARE_ASSIGN_OR_RETURN(const std::string_view name, value.At("name", fields.found[0]).String());
    spec.target = std::string(name);
    TARE_RETURN_IF_ERROR(CheckSame(value.At("value", fields.found[1]), listed, false));
    return spec;
  }
  const JsonField names[] = {{"arg"}, {row->target, !row->target.empty()}, {"persistent", false}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(value, names));
  TARE_RETURN_IF_ERROR(CheckSame(value.At("arg", fields.found[0]), listed, row->kind != InputKind::kUser));
  if (!row->target.empty()) {
    TARE_ASSIGN_OR_RETURN(const std::string_view target, value.At(row->target, fields.found[1]).String());
    spec.target = std::string(target);
  }
  if (fields.Given(2)) {
    TARE_ASSIGN_OR_RETURN(spec.persistent, value.At("persistent", fields.found[2]).Bool());
  }
  return spec;
}

absl::Status CheckMutationTarget(const Program& program, const Json& json, const OutputSpec& spec) {
  const auto has = [&](InputKind kind) {
    return std::any_of(program.inputs.begin(), program.inputs.end(),
                       [&](const InputSpec& input) { return input.kind == kind && input.target == spec.target; });
  };
  switch (spec.kind) {
    case OutputKind::kBufferMutation:
      if (!has(InputKind::kBuffer)) return json.Error("graph_c10", "no buffer ", Printable(spec.target));
      break;
    case OutputKind::kParameterMutation:
    case OutputKind::kGradientToParameter:
      if (!has(InputKind::kParameter)) return json.Error("graph_c10", "no parameter ", Printable(spec.target));
      break;
    case OutputKind::kUserInputMutation:
    case OutputKind::kGradientToUserInput: {
      const Graph& main = program.main();
      const auto inputs = main.inputs();
      if (!std::any_of(inputs.begin(), inputs.end(), [&](NodeId id) { return main.NameOf(id) == spec.target; }))
        return json.Error("graph_c10", "no input ", Printable(spec.target));
      break;
    }
    default:
      break;
  }
  return absl::OkStatus();
}

absl::StatusOr<OutputSpec> ReadOutputSpec(const Json& json, element listed) {
  Json::Union tag;
  TARE_ASSIGN_OR_RETURN(const SpecRow<OutputKind>* row, FindSpec(json, kOutputSpecs, &tag));
  const Json value = json.At(tag.tag, tag.value);
  OutputSpec spec;
  spec.kind = row->kind;
  const JsonField names[] = {{"arg"}, {row->target, !row->target.empty()}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(value, names));
  TARE_RETURN_IF_ERROR(CheckSame(value.At("arg", fields.found[0]), listed, row->kind != OutputKind::kUser));
  if (!row->target.empty()) {
    TARE_ASSIGN_OR_RETURN(const std::string_view target, value.At(row->target, fields.found[1]).String());
    spec.target = std::string(target);
  }
  return spec;
}

constexpr JsonField kSignatureFields[] = {{"input_specs"}, {"output_specs"}};

// A pytree spec: `[1, node]` as JSON text.
absl::Status CheckTreeSpec(const Json& json) {
  TARE_ASSIGN_OR_RETURN(const std::string_view text, json.String());
  if (text.size() > kMaxSpecBytes) return json.Error("json_c5", "spec of ", text.size(), " bytes");
  JsonDocument document;
  const absl::StatusOr<Json> spec = document.Parse(text, 0);
  if (!spec.ok()) return json.Error("json_c1", std::string(spec.status().message()));
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array parts, spec->Array());
  if (parts.size() != 2) return json.Error("json_c3", "spec of ", parts.size(), " parts, expected [protocol, node]");
  const auto protocol = parts.at(0).get_int64();
  if (protocol.error() || protocol.value_unsafe() != 1) return json.Error("json_c4", "unknown protocol of the spec");
  if (!parts.at(1).is_object()) return json.Error("json_c2", "spec without a node");
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadInputNames(Reader& reader, const Json& signature) {
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(signature, kSignatureFields));
  const Json inputs = signature.At("input_specs", fields.found[0]);
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, inputs.Array());
  for (const element item : array) {
    const auto name = item["constant_input"]["name"].get_string();
    reader.main_input_names.push_back(name.error() ? std::string_view{} : name.value_unsafe());
  }
  return absl::OkStatus();
}

absl::Status ReadSignature(Reader& reader, const Json& signature, const Json& graph) {
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(signature, kSignatureFields));
  const Json inputs = signature.At("input_specs", fields.found[0]);
  const Json outputs = signature.At("output_specs", fields.found[1]);
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array input_specs, inputs.Array());
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array output_specs, outputs.Array());
  // The graph has been read: these are arrays.
  const simdjson::dom::array listed_inputs = ArrayOf(graph.element["inputs"].value_unsafe());
  const simdjson::dom::array listed_outputs = ArrayOf(graph.element["outputs"].value_unsafe());
  int64_t index = 0;
  auto listed = listed_inputs.begin();
  for (const element item : input_specs) {
    if (listed == listed_inputs.end()) return inputs.Error("graph_c10", "more specs than the graph has inputs");
    TARE_ASSIGN_OR_RETURN(reader.program.inputs.emplace_back(), ReadInputSpec(inputs.At(index++, item), *listed));
    ++listed;
  }
  if (listed != listed_inputs.end()) return inputs.Error("graph_c10", "fewer specs than the graph has inputs");
  index = 0;
  listed = listed_outputs.begin();
  for (const element item : output_specs) {
    if (listed == listed_outputs.end()) return outputs.Error("graph_c10", "more specs than the graph has outputs");
    const Json spec = outputs.At(index++, item);
    TARE_ASSIGN_OR_RETURN(reader.program.outputs.emplace_back(), ReadOutputSpec(spec, *listed));
    TARE_RETURN_IF_ERROR(CheckMutationTarget(reader.program, spec, reader.program.outputs.back()));
    ++listed;
  }
  if (listed != listed_outputs.end()) return outputs.Error("graph_c10", "fewer specs than the graph has outputs");
  return absl::OkStatus();
}

absl::Status CheckCallGraph(const Json& json) {
  static constexpr JsonField kEntry[] = {{"fqn"}, {"signature", false}};
  static constexpr JsonField kSignature[] = {
      {"inputs"}, {"outputs"}, {"in_spec"}, {"out_spec"}, {"forward_arg_names", false}};
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, json.Array());
  int64_t index = 0;
  for (const element item : array) {
    const Json entry = json.At(index++, item);
    TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(entry, kEntry));
    TARE_RETURN_IF_ERROR(entry.At("fqn", fields.found[0]).String().status());
    if (!fields.Given(1)) continue;
    const Json signature = entry.At("signature", fields.found[1]);
    TARE_ASSIGN_OR_RETURN(const JsonFields parts, ReadFields(signature, kSignature));
    TARE_RETURN_IF_ERROR(signature.At("inputs", parts.found[0]).Array().status());
    TARE_RETURN_IF_ERROR(signature.At("outputs", parts.found[1]).Array().status());
    TARE_RETURN_IF_ERROR(CheckTreeSpec(signature.At("in_spec", parts.found[2])));
    TARE_RETURN_IF_ERROR(CheckTreeSpec(signature.At("out_spec", parts.found[3])));
  }
  return absl::OkStatus();
}

}  // namespace tare::pt2
