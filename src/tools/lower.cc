// `tare lower`: from an exported program to TOSA.
#include "backends/tosa/lower.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/tosa/partition.h"
#include "backends/tosa/program_file.h"
#include "backends/tosa/summary.h"
#include "formats/program_file.h"
#include "ir/context.h"
#include "ir/explain.h"
#include "ir/status.h"
#include "ir/text.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/pass_report.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace tare {
namespace {

void Put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string QuantText(const EdgeValue& value) {
  if (value.q.empty()) return "";
  const Affine& q = value.q[0];
  return absl::StrCat(", scale ", absl::StrFormat("%.17g", q.scale()), ", zero point ", q.zero_point());
}

std::string SummaryText(const LowerSummary& s) {
  std::string text = absl::StrCat(s.nodes, " TOSA ops:");
  for (const auto& [kind, count] : s.ops) absl::StrAppend(&text, " ", kind, " ", count);
  absl::StrAppend(&text, "\n", s.macs, " MACs; ", s.parameter_bytes, " bytes of parameters; ", s.activation_bytes,
                  " of activations, at most ", s.peak_bytes, " at once; ", s.transposes, " transpositions and ",
                  s.rescales, " rescales left\n");
  for (const EdgeValue& value : s.inputs)
    absl::StrAppend(&text, "input %", value.name, ": ", value.type, QuantText(value), "\n");
  for (const EdgeValue& value : s.outputs)
    absl::StrAppend(&text, "output %", value.name, ": ", value.type, QuantText(value), "\n");
  return text;
}

std::string OutsideText(const Program& program, const LowerResult& result) {
  std::string text;
  std::map<std::string, int> sums;
  for (const Outside& row : result.outside) {
    absl::StrAppend(&text, PrintNode(*program.context, program, GraphId{0}, row.node), "\n  ", row.why, " [",
                    row.check_id, "]: ", row.remedy, "\n");
    ++sums[absl::StrCat("[", row.check_id, "] ", row.why)];
  }
  for (const auto& [why, count] : sums) absl::StrAppend(&text, count, " nodes outside: ", why, "\n");
  if (result.outside.empty()) absl::StrAppend(&text, "no nodes outside\n");
  return text;
}

void WriteEdges(JsonWriter& json, std::string_view name, const std::vector<EdgeValue>& values) {
  json.Key(name);
  json.Array([&] {
    for (const EdgeValue& value : values) {
      json.Object([&] {
        json.Field("name", value.name);
        json.Field("type", value.type);
        if (value.q.empty()) return;
        json.Field("scale", value.q[0].scale());
        json.Field("zero_point", value.q[0].zero_point());
        json.Field("quant_min", value.q[0].qmin);
        json.Field("quant_max", value.q[0].qmax);
      });
    }
  });
}

void PrintJson(const LowerOptions& options, const Program& program, const LowerResult& result) {
  const LowerSummary s = Summarize(program);
  JsonWriter json;
  json.Object([&] {
    json.Field("file", options.file);
    json.Field("target", options.target);
    json.Field("output", options.output);
    json.Field("whole", result.outside.empty());
    json.Key("ops");
    json.Object([&] {
      for (const auto& [kind, count] : s.ops) json.Field(kind, count);
    });
    json.Field("nodes", s.nodes);
    json.Field("macs", s.macs);
    json.Field("parameter_bytes", s.parameter_bytes);
    json.Field("activation_bytes", s.activation_bytes);
    json.Field("peak_bytes", s.peak_bytes);
    json.Field("transposes", s.transposes);
    json.Field("rescales", s.rescales);
    WriteEdges(json, "inputs", s.inputs);
    WriteEdges(json, "outputs", s.outputs);
    json.Key("outside");
    json.Array([&] {
      for (const Outside& row : result.outside) {
        json.Object([&] {
          json.Field("node", program.main().NameOf(row.node));
          json.Field("op", program.context->ops.Name(program.main().op(row.node)));
          json.Field("check", row.check_id);
          json.Field("why", row.why);
          json.Field("remedy", row.remedy);
        });
      }
    });
    if (!options.timing && !options.stats) return;
    json.Key("passes");
    json.Array([&] {
      for (const PassStats& stats : result.passes) {
        json.Object([&] { WritePassFields(json, stats); });
      }
    });
  });
  json.Print();
}

// The first node left outside, as an error.
absl::Status LeftOutside(const Program& program, const LowerResult& result) {
  const Outside& row = result.outside[0];
  const std::string more = result.outside.size() == 1
                               ? std::string()
                               : absl::StrCat("\n  and ", result.outside.size() - 1, " more nodes: see --explain");
  return UnimplementedError(row.check_id, "%", program.main().NameOf(row.node), " = ",
                            program.context->ops.Name(program.main().op(row.node)), " is left outside: ", row.why, "; ",
                            row.remedy, more);
}

}  // namespace

// `model.tosa` -> `model.0.tosa`.
std::string Numbered(const std::string& path, std::string_view part) {
  const size_t dot = path.rfind('.');
  const size_t end = dot == std::string::npos || path.find('/', dot) != std::string::npos ? path.size() : dot;
  return absl::StrCat(path.substr(0, end), ".", TextPiece(part), path.substr(end));
}

// One file for each region, and a .pt2 of what is left.
absl::StatusOr<std::vector<std::string>> WriteParts(const Program& program, const LowerResult& result,
                                                    const std::string& output) {
  std::vector<std::string> files;
  const std::vector<Region> regions = PartitionRegions(program, result.outside);
  for (size_t i = 0; i < regions.size(); ++i) {
    TARE_ASSIGN_OR_RETURN(const Program part, ExtractRegion(program, regions[i]));
    files.push_back(Numbered(output, std::to_string(i)));
    TARE_RETURN_IF_ERROR(WriteAnyProgramFile(part, files.back()));
  }
  TARE_ASSIGN_OR_RETURN(const Program rest, ExtractRegion(program, RestOf(program, regions)));
  std::string path = Numbered(output, "rest");
  path = absl::StrCat(path.substr(0, path.rfind('.')), ".pt2");
  files.push_back(path);
  TARE_RETURN_IF_ERROR(WriteAnyProgramFile(rest, path));
  return files;
}

int RunLower(const LowerOptions& options) {
  Session session;
  if (const ExitCode code = session.AddOpsFiles(options.ops_files); code != kExitOk) return code;
  const absl::StatusOr<TosaTarget> target = FindTosaTarget(options.target);
  if (!target.ok()) {
    Complain("--target", target.status());
    return kExitUsage;
  }
  absl::StatusOr<Program> program = ReadProgramFile(session.context(), options.file);
  if (!program.ok()) return ComplainOfInput(options.file, program.status());

  RunOptions run;
  run.check_meta = options.check_meta;
  run.after_pass = [&](const PassStats& stats, const Program& now, const Program*) {
    const bool all = options.print_after == "*" && stats.changed;
    if (!options.json && (all || options.print_after == stats.name))
      Put(absl::StrCat("# after ", stats.name, "\n", PrintProgram(*now.context, now)));
    return absl::OkStatus();
  };
  const absl::StatusOr<LowerResult> result = LowerToTosa(*program, *target, run);
  if (!result.ok()) return Complain(options.file, result.status());
  const bool refused = !result->outside.empty() && !options.partial;
  std::vector<std::string> parts;
  if (!options.output.empty() && !result->outside.empty() && options.partial) {
    absl::StatusOr<std::vector<std::string>> files = WriteParts(*program, *result, options.output);
    if (!files.ok()) return Complain(options.output, files.status());
    parts = *std::move(files);
  } else if (!options.output.empty() && !refused) {
    if (const absl::Status status = WriteAnyProgramFile(*program, options.output); !status.ok())
      return Complain(options.output, status);
  }
  if (options.json) {
    PrintJson(options, *program, *result);
  } else {
    if (options.stats || options.timing)
      for (const PassStats& stats : result->passes) Put(PassLine(stats, options.timing));
    if (options.explain) Put(OutsideText(*program, *result));
    Put(SummaryText(Summarize(*program)));
    for (const std::string& part : parts) Put(absl::StrCat("wrote ", part, "\n"));
  }
  return refused ? Complain(options.file, LeftOutside(*program, *result)) : kExitOk;
}

int RunTargets(const TargetsOptions& options) {
  JsonWriter json;
  json.Array([&] {
    for (const TosaTargetRow& row : TosaTargets()) {
      if (!options.json) {
        std::printf("  %-20s %-28s %s\n", std::string(row.name).c_str(), std::string(row.spec).c_str(),
                    std::string(row.doc).c_str());
        continue;
      }
      json.Object([&] {
        json.Field("name", row.name);
        json.Field("spec", row.spec);
        json.Field("pipeline", row.pipeline);
        json.Field("doc", row.doc);
      });
    }
  });
  if (options.json) json.Print();
  return kExitOk;
}

}  // namespace tare
