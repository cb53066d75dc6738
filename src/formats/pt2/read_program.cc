// The exported program as a whole: version, ranges, graph, signature, parts kept as text.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/reader.h"
#include "formats/pt2/utf8.h"

namespace tare::pt2 {
namespace {

using simdjson::dom::element;

constexpr JsonField kProgramFields[] = {{"graph_module"},      {"opset_version", false}, {"range_constraints", false},
                                        {"schema_version"},    {"verifiers", false},     {"torch_version", false},
                                        {"guards_code", false}};
constexpr JsonField kModuleFields[] = {
    {"graph"}, {"signature"}, {"module_call_graph", false}, {"metadata", false}, {"treespec_namedtuple_fields", false}};

absl::Status ReadSchemaVersion(Reader& reader, const Json& json) {
  static constexpr JsonField kFields[] = {{"major"}, {"minor"}};
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  TARE_ASSIGN_OR_RETURN(const int64_t major, json.At("major", fields.found[0]).Int());
  TARE_ASSIGN_OR_RETURN(const int64_t minor, json.At("minor", fields.found[1]).Int());
  // 0.0 is what programs say that were never given a version.
  if (major != kSchemaMajor && !(major == 0 && minor == 0)) {
    return UnimplementedError("pt2_c4", json.Where(), ": schema ", major, ".", minor, ", this tare reads ",
                              kSchemaMajor, ".x (newest known ", kSchemaMajor, ".", kNewestKnownMinor, ")");
  }
  if (minor < 0 || minor > INT32_MAX) return json.Error("pt2_c4", "minor version ", minor);
  reader.program.schema_major = static_cast<int>(major);
  reader.program.schema_minor = static_cast<int>(minor);
  return absl::OkStatus();
}

absl::Status ReadStrings(const Json& json, std::vector<std::string>* strings) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::array array, json.Array());
  int64_t index = 0;
  for (const element item : array) {
    TARE_ASSIGN_OR_RETURN(const std::string_view text, json.At(index++, item).String());
    strings->emplace_back(text);
  }
  return absl::OkStatus();
}

absl::Status ReadOpsets(Reader& reader, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, json.Object());
  for (const auto& [key, item] : object) {
    TARE_ASSIGN_OR_RETURN(const int64_t version, json.At(key, item).Int());
    if (!reader.program.opset_version.emplace(std::string(key), version).second)
      return json.Error("json_c3", "key ", Printable(key), " occurs twice");
  }
  return absl::OkStatus();
}

// Keeps the fields that are not in `known`, as text, under `prefix` + name.
absl::Status KeepUnknown(Reader& reader, const Json& json, std::span<const JsonField> known, std::string_view prefix) {
  for (const auto& [key, item] : ObjectOf(json.element)) {
    bool is_known = false;
    for (const JsonField& field : known) is_known |= field.name == key;
    if (is_known) continue;
    const std::string name = std::string(prefix) + std::string(key);
    if (!reader.program.raw_json.emplace(name, simdjson::minify(item)).second)
      return json.Error("json_c3", "key ", Printable(key), " occurs twice");
  }
  return absl::OkStatus();
}

absl::Status CheckObject(const Json& json) { return json.Object().status(); }

absl::Status ReadModule(Reader& reader, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kModuleFields));
  const Json graph = json.At("graph", fields.found[0]);
  const Json signature = json.At("signature", fields.found[1]);
  TARE_RETURN_IF_ERROR(ReadInputNames(reader, signature));
  TARE_RETURN_IF_ERROR(ReadGraph(reader, graph, "main").status());
  TARE_RETURN_IF_ERROR(ReadSignature(reader, signature, graph));
  for (int i = 2; i <= 4; ++i) {
    if (!fields.Given(i)) continue;
    const Json part = json.At(kModuleFields[i].name, fields.found[i]);
    TARE_RETURN_IF_ERROR(i == 2 ? CheckCallGraph(part) : CheckObject(part));
    reader.program.raw_json.emplace(std::string(kModuleFields[i].name), simdjson::minify(part.element));
  }
  return fields.has_unknown ? KeepUnknown(reader, json, kModuleFields, "graph_module.") : absl::OkStatus();
}

// Every range names a symbol or an expression of symbols.
absl::Status CheckRangeNames(Reader& reader, const Json& json) {
  for (const auto& [key, range] : ObjectOf(json.element)) {
    (void)range;
    const absl::StatusOr<ExprId> expr = reader.symbols.Parse(key);
    if (!expr.ok()) return json.Error("graph_c4", "key ", Printable(key), ": ", std::string(expr.status().message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadProgramJson(Reader& reader, std::string_view text, size_t slack) {
  JsonDocument document;
  TARE_ASSIGN_OR_RETURN(const Json json, document.Parse(text, slack));
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kProgramFields));
  TARE_RETURN_IF_ERROR(ReadSchemaVersion(reader, json.At("schema_version", fields.found[3])));
  if (fields.Given(1)) TARE_RETURN_IF_ERROR(ReadOpsets(reader, json.At("opset_version", fields.found[1])));
  if (memmem(text.data(), text.size(), "\"expr_str\"", 10) != nullptr) {
    if (!fields.Given(2)) return json.Error("json_c3", "key range_constraints is missing although sizes are symbolic");
    reader.symbols.CollectHints(json.element);
  }
  if (fields.Given(2)) {
    const Json ranges = json.At("range_constraints", fields.found[2]);
    TARE_RETURN_IF_ERROR(ReadRanges(reader, ranges));
    TARE_RETURN_IF_ERROR(CheckRangeNames(reader, ranges));
  }
  if (fields.Given(4))
    TARE_RETURN_IF_ERROR(ReadStrings(json.At("verifiers", fields.found[4]), &reader.program.verifiers));
  if (fields.Given(5)) {
    TARE_ASSIGN_OR_RETURN(const std::string_view version, json.At("torch_version", fields.found[5]).String());
    reader.program.torch_version = std::string(version);
  }
  if (fields.Given(6))
    TARE_RETURN_IF_ERROR(ReadStrings(json.At("guards_code", fields.found[6]), &reader.program.guards_code));
  TARE_RETURN_IF_ERROR(ReadModule(reader, json.At("graph_module", fields.found[0])));
  ReadGuards(reader);
  return fields.has_unknown ? KeepUnknown(reader, json, kProgramFields, "") : absl::OkStatus();
}

}  // namespace tare::pt2
