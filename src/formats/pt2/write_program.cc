// The exported program as a whole.
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/writer.h"

namespace tare::pt2 {
namespace {

void WriteRanges(Writer& writer) {
  JsonWriter& json = writer.json;
  std::map<std::string, SymbolRange> ranges = writer.program.ranges;
  for (const auto& [name, row] : writer.symbols) {
    const bool is_float = row.kind == SymbolKind::kFloat || row.kind == SymbolKind::kUnbackedFloat;
    if (!is_float) ranges.emplace(name, SymbolRange{row.min, row.max});
  }
  const auto bound = [&](const char* key, int64_t value, int64_t unbounded) {
    json.Key(key);
    value == unbounded ? json.Null() : json.Int(value);
  };
  json.BeginObject();
  for (const auto& [name, range] : ranges) {
    json.Key(name).BeginObject();
    bound("min_val", range.min, INT64_MIN);
    bound("max_val", range.max, INT64_MAX);
    json.EndObject();
  }
  json.EndObject();
}

void WriteStrings(JsonWriter& json, const std::vector<std::string>& strings) {
  json.BeginArray();
  for (const std::string& text : strings) json.String(text);
  json.EndArray();
}

}  // namespace

absl::StatusOr<std::string> WriteProgramJson(Writer& writer) {
  constexpr std::string_view kModule = "graph_module.";
  constexpr std::string_view kParts[] = {"module_call_graph", "metadata", "treespec_namedtuple_fields"};
  const Program& program = writer.program;
  JsonWriter& json = writer.json;
  CollectLifted(writer);
  json.BeginObject().Key("graph_module").BeginObject().Key("graph");
  TARE_RETURN_IF_ERROR(WriteGraph(writer, GraphId{0}));
  json.Key("signature");
  TARE_RETURN_IF_ERROR(WriteSignature(writer));
  for (const std::string_view part : kParts) {
    const auto kept = program.raw_json.find(std::string(part));
    json.Key(part).Raw(kept != program.raw_json.end() ? std::string_view(kept->second)
                       : part == kParts[0]            ? "[]"
                                                      : "{}");
  }
  for (const auto& [name, text] : program.raw_json) {
    if (std::string_view(name).starts_with(kModule)) json.Key(std::string_view(name).substr(kModule.size())).Raw(text);
  }
  json.EndObject().Key("opset_version").BeginObject();
  for (const auto& [name, version] : program.opset_version) json.Key(name).Int(version);
  json.EndObject().Key("range_constraints");
  WriteRanges(writer);
  const bool unversioned = program.schema_major == 0 && program.torch_version.empty();
  json.Key("schema_version").BeginObject();
  json.Key("major").Int(unversioned ? kSchemaMajor : program.schema_major);
  json.Key("minor").Int(unversioned ? kNewestKnownMinor : program.schema_minor).EndObject();
  json.Key("verifiers");
  WriteStrings(json, program.verifiers);
  json.Key("torch_version").String(program.torch_version).Key("guards_code");
  WriteStrings(json, program.guards_code);
  for (const auto& [name, text] : program.raw_json) {
    const bool is_part =
        std::string_view(name).starts_with(kModule) || name == kParts[0] || name == kParts[1] || name == kParts[2];
    if (!is_part) json.Key(name).Raw(text);
  }
  json.EndObject();
  return std::move(json.text());
}

}  // namespace tare::pt2
