// `tare passes`: the passes there are.
#include <cstdio>

#include "backends/tosa/pass_list.h"
#include "passes/pipeline.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace tare {

namespace {

// The doc of a pipeline that comes with tare; those always parse.
std::string DocOf(Context& context, const PipelineText& text) {
  const absl::StatusOr<Pipeline> pipeline = ParsePipeline(context, AllPasses(), text.name, text.text);
  return pipeline.ok() ? pipeline->doc : std::string(pipeline.status().message());
}

void PrintRow(std::string_view name, std::string_view doc) {
  std::printf("  %-20.*s %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(doc.size()), doc.data());
}

void WriteRow(JsonWriter& json, std::string_view name, std::string_view doc) {
  json.Object([&] {
    json.Field("name", name);
    json.Field("doc", doc);
  });
}

}  // namespace

int RunListPasses(const PassesOptions& options) {
  Session session;
  if (!options.json) {
    std::puts("passes");
    for (const PassRow& row : AllPasses()) PrintRow(row.name, row.doc);
    std::puts("pipelines");
    for (const PipelineText& text : BuiltinPipelines()) PrintRow(text.name, DocOf(session.context(), text));
    return kExitOk;
  }
  JsonWriter json;
  json.Object([&] {
    json.Key("passes");
    json.Array([&] {
      for (const PassRow& row : AllPasses()) WriteRow(json, row.name, row.doc);
    });
    json.Key("pipelines");
    json.Array([&] {
      for (const PipelineText& text : BuiltinPipelines()) WriteRow(json, text.name, DocOf(session.context(), text));
    });
  });
  json.Print();
  return kExitOk;
}

}  // namespace tare
