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

std::string EdgeText(const EdgeValue& value) {
  const bool same = value.stated.empty() || value.stated == value.type;
  if (value.q.empty()) return same ? std::string() : absl::StrCat(", of the program ", value.stated);
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
    absl::StrAppend(&text, "input %", value.name, ": ", value.type, EdgeText(value), "\n");
  for (const EdgeValue& value : s.outputs)
    absl::StrAppend(&text, "output %", value.name, ": ", value.type, EdgeText(value), "\n");
  return text;
}

// "%y, model.py:41 in Encoder.forward": the node and where it comes from.
std::string PlaceOf(const Program& program, NodeId node) {
  constexpr std::string_view kAt = "\n  at ";
  const absl::Status status =
      AtNode(program, {.graph = GraphId{0}, .node = node, .op = {}, .pass = {}}, absl::UnimplementedError(""));
  const std::string text(status.message());
  const size_t at = text.find(kAt);
  if (at == std::string::npos) return "";
  const size_t begin = at + kAt.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string OutsideText(const Program& program, const LowerResult& result) {
  std::string text;
  std::map<std::string, std::pair<int, std::string>> sums;  // by check: how many, and why the first
  for (const Outside& row : result.outside) {
    absl::StrAppend(&text, PrintNode(*program.context, program, GraphId{0}, row.node), "\n  ", row.why, " [",
                    row.check_id, "]: ", row.remedy, "\n  at ", PlaceOf(program, row.node), "\n");
    ++sums.try_emplace(row.check_id, 0, row.why).first->second.first;
  }
  for (const auto& [id, sum] : sums)
    absl::StrAppend(&text, sum.first, sum.first == 1 ? " node outside: [" : " nodes outside: [", id, "] ", sum.second,
                    "\n");
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
        if (!value.stated.empty()) json.Field("program_type", value.stated);
        if (value.q.empty()) return;
        json.Field("scale", value.q[0].scale());
        json.Field("zero_point", value.q[0].zero_point());
        json.Field("quant_min", value.q[0].qmin);
        json.Field("quant_max", value.q[0].qmax);
      });
    }
  });
}

void WriteNames(JsonWriter& json, std::string_view key, const std::vector<std::string>& names) {
  json.Key(key);
  json.Array([&] {
    for (const std::string& name : names) json.Value(name);
  });
}

// `model.tosa` -> `model.0.tosa`.
std::string Numbered(const std::string& path, std::string_view part, std::string_view ending) {
  const size_t dot = path.rfind('.');
  const size_t end = dot == std::string::npos || path.find('/', dot) != std::string::npos ? path.size() : dot;
  return absl::StrCat(path.substr(0, end), ".", TextPiece(part), TextPiece(ending));
}

struct WrittenPart {
  std::string file;
  std::vector<std::string> inputs, outputs;  // names of values of the lowered program
};

// One file for each part, in the order in which they run: regions are .0.tosa, .1.tosa …, what is left is .rest.pt2,
// or .rest.0.pt2 … when regions lie between. On failure no file stays.
absl::StatusOr<std::vector<WrittenPart>> WriteParts(const Program& program, const LowerResult& result,
                                                    const std::string& output) {
  TARE_ASSIGN_OR_RETURN(const std::vector<Part> parts, PartitionProgram(program, result.outside));
  const auto rests = std::count_if(parts.begin(), parts.end(), [](const Part& part) { return !part.tosa; });
  std::vector<WrittenPart> files;
  if (parts.empty()) {  // it gives back what it is given: all of it is left
    files.push_back({Numbered(output, "rest", ".pt2"), {}, {}});
    Program whole = program;
    std::erase_if(whole.verifiers, [](const std::string& verifier) { return verifier.starts_with("TOSA-"); });
    TARE_RETURN_IF_ERROR(WriteAnyProgramFile(whole, files[0].file));
    return files;
  }
  int regions = 0, rest = 0;
  for (const Part& part : parts) {
    WrittenPart& file = files.emplace_back();
    file.file = part.tosa ? Numbered(output, std::to_string(regions++), ".tosa")
                          : Numbered(output, rests == 1 ? "rest" : absl::StrCat("rest.", rest++), ".pt2");
    for (const NodeId input : part.inputs) file.inputs.emplace_back(program.main().NameOf(input));
    for (const NodeId value : part.outputs) file.outputs.emplace_back(program.main().NameOf(value));
    absl::StatusOr<Program> own = ExtractPart(program, part);
    const absl::Status status = own.ok() ? WriteAnyProgramFile(*own, file.file) : own.status();
    if (status.ok()) continue;
    files.pop_back();
    for (const WrittenPart& written : files) std::remove(written.file.c_str());
    return Prefixed(part.tosa ? "a region: " : "what is left: ", status);
  }
  return files;
}

std::string PartText(const WrittenPart& part) {
  std::vector<std::string> inputs, outputs;
  for (const std::string& name : part.inputs) inputs.push_back(absl::StrCat("%", name));
  for (const std::string& name : part.outputs) outputs.push_back(absl::StrCat("%", name));
  return absl::StrCat("wrote ", part.file, ": ", absl::StrJoin(inputs, ", "), " -> ", absl::StrJoin(outputs, ", "),
                      "\n");
}

void PrintJson(const LowerOptions& options, const Program& program, const LowerResult& result,
               const std::vector<WrittenPart>& parts) {
  const LowerSummary s = Summarize(program, result.stated);
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
          json.Field("at", PlaceOf(program, row.node));
          json.Field("check", row.check_id);
          json.Field("why", row.why);
          json.Field("remedy", row.remedy);
        });
      }
    });
    if (!parts.empty()) {
      json.Key("parts");
      json.Array([&] {
        for (const WrittenPart& part : parts) {
          json.Object([&] {
            json.Field("file", part.file);
            WriteNames(json, "inputs", part.inputs);
            WriteNames(json, "outputs", part.outputs);
          });
        }
      });
    }
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

// The first node left outside, as an error with its place; one that stays because of itself, not a conversion beside
// it.
absl::Status LeftOutside(const Program& program, const LowerResult& result) {
  const auto cause = std::find_if(result.outside.begin(), result.outside.end(),
                                  [](const Outside& row) { return row.check_id != "tosa_legal_c9"; });
  const Outside& row = cause == result.outside.end() ? result.outside[0] : *cause;
  const size_t more = result.outside.size() - 1;
  const std::string others = more == 0   ? std::string()
                             : more == 1 ? std::string("; 1 more node, see --explain")
                                         : absl::StrCat("; ", more, " more nodes, see --explain");
  return AtNode(program, {.graph = GraphId{0}, .node = row.node, .op = {}, .pass = {}},
                UnimplementedError(row.check_id, "left outside: ", row.why, "; ", row.remedy, others));
}

}  // namespace

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
  const auto print = [&](const PassStats& stats, const Program& now, const Program*) {
    const bool all = options.print_after == "*" && stats.changed;
    if (all || options.print_after == stats.name)
      Put(absl::StrCat("# after ", stats.name, "\n", PrintProgram(*now.context, now)));
    return absl::OkStatus();
  };
  if (!options.print_after.empty() && !options.json) run.after_pass = print;
  const absl::StatusOr<LowerResult> result = LowerToTosa(*program, *target, run);
  if (!result.ok()) {
    const ExitCode code = Complain(options.file, result.status());
    return code == kExitNo ? kExitUnsupported : code;  // a pass needs what the program has not
  }
  const bool refused = !result->outside.empty() && !options.partial;
  std::vector<WrittenPart> parts;
  if (!options.output.empty() && !result->outside.empty() && options.partial) {
    absl::StatusOr<std::vector<WrittenPart>> files = WriteParts(*program, *result, options.output);
    if (!files.ok()) return Complain(options.output, files.status());
    parts = *std::move(files);
  } else if (!options.output.empty() && !refused) {
    if (const absl::Status status = WriteAnyProgramFile(*program, options.output); !status.ok())
      return Complain(options.output, status);
  }
  if (options.json) {
    PrintJson(options, *program, *result, parts);
  } else {
    if (options.stats || options.timing)
      for (const PassStats& stats : result->passes) Put(PassLine(stats, options.timing));
    if (options.explain) Put(OutsideText(*program, *result));
    Put(SummaryText(Summarize(*program, result->stated)));
    for (const WrittenPart& part : parts) Put(PartText(part));
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
