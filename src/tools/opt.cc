// `tare opt`: runs passes over a program.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "backends/tosa/program_file.h"
#include "ir/status.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "tools/bisect.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/pass_report.h"
#include "tools/pass_selection.h"
#include "tools/program_diff.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace tare {
namespace {

void Put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool PrintsAfter(const OptOptions& options, const PassStats& stats) {
  if (options.print_after == "*") return stats.changed;
  return options.print_after == stats.name;
}

// What is shown of a pass that ran, besides counts; "" when it was not asked for.
struct Shown {
  std::string diff, text;
};

Shown ShowPass(const OptOptions& options, const PassStats& stats, const Program& now, const Program* before) {
  Shown shown;
  if (options.diff && stats.changed) shown.diff = DiffText(DiffPrograms(*before, now));
  if (PrintsAfter(options, stats)) shown.text = PrintProgram(*now.context, now);
  return shown;
}

void PrintShown(const std::string& pass, const Shown& shown) {
  if (!shown.diff.empty()) Put(absl::StrCat("# ", pass, " changed\n", shown.diff));
  if (!shown.text.empty()) Put(absl::StrCat("# after ", pass, "\n", shown.text));
}

void WritePass(JsonWriter& json, const PassStats& stats, const Shown& shown) {
  json.Object([&] {
    WritePassFields(json, stats);
    if (!shown.diff.empty()) json.Field("diff", shown.diff);
    if (!shown.text.empty()) json.Field("text", shown.text);
  });
}

// `shown` has an entry for each pass that was not skipped.
void PrintJson(const OptOptions& options, const std::vector<PassStats>& passes, const std::vector<Shown>& shown) {
  JsonWriter json;
  size_t next = 0;
  json.Object([&] {
    json.Field("file", options.file);
    json.Field("output", options.output);
    json.Key("passes");
    json.Array([&] {
      for (const PassStats& stats : passes) WritePass(json, stats, stats.skipped ? Shown() : shown[next++]);
    });
  });
  json.Print();
}

// Answers --bisect.
ExitCode Bisect(const OptOptions& options, const std::vector<Version>& versions) {
  const absl::StatusOr<int> bad = FirstBad(versions, options.bisect);
  if (!bad.ok()) return Complain("--bisect", bad.status());
  std::string answer = "the command accepts the program after all passes";
  if (*bad == 0) answer = "the command rejects the program before any pass";
  if (*bad > 0) answer = absl::StrCat("the first pass whose output the command rejects is ", versions[*bad].after);
  if (options.json) {
    JsonWriter json;
    json.Object([&] {
      json.Field("rejected", *bad >= 0);
      json.Field("first_bad", *bad > 0 ? versions[*bad].after : "");
    });
    json.Print();
  } else {
    Put(answer + "\n");
  }
  return *bad < 0 ? kExitOk : kExitNo;
}

// Nothing was asked for but the passes: the answer is the program.
bool AsksForProgram(const OptOptions& o) {
  return o.output.empty() && !o.json && !o.timing && !o.stats && !o.diff && o.print_after.empty() && o.bisect.empty();
}

}  // namespace

int RunOpt(const OptOptions& options) {
  Session session;
  if (const ExitCode code = session.AddOpsFiles(options.ops_files); code != kExitOk) return code;
  const absl::StatusOr<Pipeline> pipeline = SelectPipeline(session.context(), options.passes, options.pipeline);
  if (!pipeline.ok()) return Complain(options.pipeline.empty() ? "--passes" : options.pipeline, pipeline.status());
  absl::StatusOr<Program> program = ReadAnyProgramFile(session.context(), options.file);
  if (!program.ok()) return ComplainOfInput(options.file, program.status());

  std::vector<Shown> shown;
  std::vector<Version> versions;
  if (!options.bisect.empty()) versions.push_back({"", *program});
  RunOptions run;
  run.check_meta = options.check_meta;
  run.keep_before = options.diff;
  run.after_pass = [&](const PassStats& stats, const Program& now, const Program* before) {
    shown.push_back(ShowPass(options, stats, now, before));
    if (!options.json) PrintShown(stats.name, shown.back());
    if (!options.bisect.empty() && stats.changed) versions.push_back({stats.name, now});
    return absl::OkStatus();
  };
  const std::unique_ptr<Inferrer> inferrer = session.NewInferrer(*program);
  const absl::StatusOr<std::vector<PassStats>> stats = RunPipeline(*program, *inferrer, *pipeline, run);
  if (!stats.ok()) return Complain(options.file, stats.status());
  if (!options.bisect.empty()) return Bisect(options, versions);

  if (!options.output.empty()) {
    if (const absl::Status status = WriteAnyProgramFile(*program, options.output); !status.ok()) {
      return Complain(options.output, status);
    }
  }
  if (options.json) PrintJson(options, *stats, shown);
  if (!options.json && (options.stats || options.timing)) {
    for (const PassStats& pass : *stats) Put(PassLine(pass, options.timing));
  }
  if (AsksForProgram(options)) Put(PrintProgram(*program->context, *program));
  return kExitOk;
}

}  // namespace tare
