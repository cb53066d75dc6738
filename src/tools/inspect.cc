// `tare inspect`: what is in a program.
#include <cstdio>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/tosa/program_file.h"
#include "backends/tosa/summary.h"
#include "backends/tosa/write.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/session.h"
#include "tools/summary.h"
#include "tools/verbs.h"

namespace tare {
namespace {

void Put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PutRow(std::string_view label, std::string_view text) {
  Put(absl::StrFormat("  %-12s %s\n", TextPiece(label), TextPiece(text)));
}

void PutConstants(std::string_view label, const ConstantSummary& sum) {
  if (sum.tensors == 0) return;
  std::string text = absl::StrFormat("%d tensors, %d elements, %d bytes", sum.tensors, sum.elements, sum.bytes);
  if (sum.missing > 0) absl::StrAppend(&text, ", ", sum.missing, " without data");
  PutRow(label, text);
}

void PrintSummary(const Program& program, const ProgramSummary& sum) {
  if (!program.torch_version.empty()) {
    PutRow("written by", absl::StrFormat("torch %s, schema %d.%d, %s", program.torch_version, program.schema_major,
                                         program.schema_minor, absl::StrJoin(program.verifiers, " ")));
  }
  if (const std::string spec = TosaSpecOf(program); !spec.empty()) {
    PutRow("format", absl::StrCat("TOSA ", spec.substr(5, spec.find('+') - 5)));
  }
  for (const std::string& input : sum.user_inputs) PutRow("input", input);
  for (const std::string& output : sum.user_outputs) PutRow("output", output);
  PutConstants("parameters", sum.parameters);
  PutConstants("buffers", sum.buffers);
  PutConstants("constants", sum.constants);
  for (const std::string& symbol : sum.symbols) PutRow("symbol", symbol);
  if (program.graphs.size() > 1) PutRow("graphs", absl::StrCat(program.graphs.size()));
  PutRow("functional", sum.functional ? "yes" : "no: nodes write to storage of others");
  if (sum.quantize + sum.dequantize > 0) {
    PutRow("quantised", absl::StrFormat("%d quantize, %d dequantize nodes", sum.quantize, sum.dequantize));
  }
  std::vector<std::string> dtypes;
  for (const NamedCount& row : sum.dtypes) dtypes.push_back(absl::StrCat(row.name, " ", row.count));
  PutRow("dtypes", absl::StrJoin(dtypes, ", "));
  if (!TosaSpecOf(program).empty()) {
    const LowerSummary lowered = Summarize(program);
    PutRow("activations",
           absl::StrFormat("%d bytes, at most %d at once", lowered.activation_bytes, lowered.peak_bytes));
    PutRow("MACs", absl::StrCat(lowered.macs));
  }
  PutRow("nodes", absl::StrFormat("%d of %d ops", sum.nodes, sum.ops.size()));
  for (const NamedCount& row : sum.ops) Put(absl::StrFormat("  %12d %s\n", row.count, row.name));
  for (const NamedCount& row : sum.no_rule) PutRow("no rule", absl::StrCat(row.name, ", ", row.count));
}

void WriteCounts(JsonWriter& json, std::string_view key, const std::vector<NamedCount>& rows) {
  json.Key(key);
  json.Object([&] {
    for (const NamedCount& row : rows) json.Field(row.name, row.count);
  });
}

void WriteConstants(JsonWriter& json, std::string_view key, const ConstantSummary& sum) {
  json.Key(key);
  json.Object([&] {
    json.Field("tensors", sum.tensors);
    json.Field("elements", sum.elements);
    json.Field("bytes", sum.bytes);
    json.Field("missing", sum.missing);
  });
}

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key);
  json.Array([&] {
    for (const std::string& text : texts) json.Value(text);
  });
}

void PrintJson(const std::string& file, const Program& program, const ProgramSummary& sum, bool with_graph) {
  JsonWriter json;
  json.Object([&] {
    json.Field("file", file);
    json.Field("torch_version", program.torch_version);
    json.Field("schema", absl::StrCat(program.schema_major, ".", program.schema_minor));
    WriteTexts(json, "verifiers", program.verifiers);
    WriteTexts(json, "inputs", sum.user_inputs);
    WriteTexts(json, "outputs", sum.user_outputs);
    WriteTexts(json, "symbols", sum.symbols);
    WriteConstants(json, "parameters", sum.parameters);
    WriteConstants(json, "buffers", sum.buffers);
    WriteConstants(json, "constants", sum.constants);
    json.Field("graphs", program.graphs.size());
    json.Field("functional", sum.functional);
    json.Field("quantize", sum.quantize);
    json.Field("dequantize", sum.dequantize);
    if (!TosaSpecOf(program).empty()) {
      const LowerSummary lowered = Summarize(program);
      json.Field("macs", lowered.macs);
      json.Field("activation_bytes", lowered.activation_bytes);
      json.Field("peak_bytes", lowered.peak_bytes);
    }
    json.Field("nodes", sum.nodes);
    WriteCounts(json, "dtypes", sum.dtypes);
    WriteCounts(json, "ops", sum.ops);
    WriteCounts(json, "no_rule", sum.no_rule);
    if (with_graph) json.Field("text", PrintProgram(*program.context, program));
  });
  json.Print();
}

// Graphviz reads JSON's escapes in its quoted labels.
void PrintDot(const Program& program) {
  const Graph& graph = program.main();
  Put("digraph main {\n  node [shape=box, fontname=\"monospace\"];\n");
  for (NodeId node : graph.nodes()) {
    const std::string name = JsonQuote(graph.NameOf(node));
    const std::string label =
        absl::StrCat(TextPiece(program.context->ops.Name(graph.op(node))), "\n%", TextPiece(graph.NameOf(node)), ": ",
                     graph.op(node) == op::output ? "" : PrintMeta(*program.context, graph.meta(node)));
    Put(absl::StrCat("  ", name, " [label=", JsonQuote(label), "];\n"));
    for (NodeId operand : graph.operands(node)) {
      Put(absl::StrCat("  ", JsonQuote(graph.NameOf(operand)), " -> ", name, ";\n"));
    }
  }
  Put("}\n");
}

}  // namespace

int RunInspect(const InspectOptions& options) {
  Session session;
  if (const ExitCode code = session.AddOpsFiles(options.ops_files); code != kExitOk) return code;
  const absl::StatusOr<Program> program = ReadAnyProgramFile(session.context(), options.file);
  if (!program.ok()) return ComplainOfInput(options.file, program.status());
  if (options.dot) {
    PrintDot(*program);
    return kExitOk;
  }
  const ProgramSummary sum = Summarise(*program);
  if (options.json) {
    PrintJson(options.file, *program, sum, options.graph);
    return kExitOk;
  }
  Put(options.file + "\n");
  PrintSummary(*program, sum);
  if (options.graph) Put(PrintProgram(*program->context, *program));
  return kExitOk;
}

}  // namespace tare
