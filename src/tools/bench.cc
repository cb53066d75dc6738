// `tare bench`: times of one program on this machine. The benchmarks with aims are in bench/.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/tosa/program_file.h"
#include "ir/status.h"
#include "meta/check.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"
#include "tools/bench_replay.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/pass_selection.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace tare {
namespace {

struct Timing {
  std::string what;
  int64_t ns = 0;
  int64_t nodes = 0;  // the time is also shown per node; 0 = not
};

int64_t TimeOnce(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

int64_t BestOf(int repeats, const std::function<void()>& work) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < repeats; ++i) best = std::min(best, TimeOnce(work));
  return best;
}

int64_t NodesOf(const Program& program) {
  int64_t nodes = 0;
  for (const ProgramGraph& owner : program.graphs) nodes += owner.graph.num_nodes();
  return nodes;
}

// Each pass alone, on a copy of the program as it was read.
absl::Status TimePasses(Session& session, const Program& program, const BenchOptions& options,
                        std::vector<Timing>& timings) {
  const std::unique_ptr<Inferrer> inferrer = session.NewInferrer(program);
  std::vector<std::string> names = options.passes;
  if (names.empty()) {
    for (const PassRow& row : BuiltinPasses()) names.emplace_back(row.name);
  }
  TARE_ASSIGN_OR_RETURN(const std::vector<Pass> passes, SelectPasses(session.context(), names));
  RunOptions run;
  run.verify = VerifyWhat::kNothing;
  for (const Pass& pass : passes) {
    int64_t best = INT64_MAX;
    for (int i = 0; i < options.repeats; ++i) {
      Program copy = program;
      TARE_ASSIGN_OR_RETURN(const std::vector<PassStats> stats, RunPasses(copy, *inferrer, {&pass, 1}, run));
      best = std::min(best, stats[0].ns);
    }
    timings.push_back({absl::StrCat("pass ", TextPiece(pass.name())), best, NodesOf(program)});
  }
  return absl::OkStatus();
}

double PerNode(double ns, int64_t nodes) { return nodes > 0 ? ns / static_cast<double>(nodes) : 0; }

void Print(const std::vector<Timing>& timings, const ReplayTimes& replay) {
  for (const Timing& timing : timings) {
    std::string line = absl::StrFormat("  %-28s %12.3f ms", timing.what, static_cast<double>(timing.ns) * 1e-6);
    if (timing.nodes > 0) {
      absl::StrAppendFormat(&line, " %10.1f ns per node", PerNode(static_cast<double>(timing.ns), timing.nodes));
    }
    std::printf("%s\n", line.c_str());
  }
  const auto row = [&](const std::string& what, double ns) {
    std::printf("  %-42s %10.2f us %10.2f ns per node\n", what.c_str(), ns * 1e-3, PerNode(ns, replay.nodes));
  };
  std::printf("replay of one pass\n");
  row("that cannot apply", replay.skipped);
  row(absl::StrCat("unchanged, looking at ", replay.op_nodes, " nodes of one op"), replay.unchanged);
  row("unchanged, looking at every node", replay.every_node);
  if (replay.changed_nodes > 0) row(absl::StrCat("changing ", replay.changed_nodes, " nodes"), replay.changed);
  row("unchanged, in a session of its own", replay.alone);
}

void PrintJson(const std::string& file, int64_t nodes, const std::vector<Timing>& timings, const ReplayTimes& replay) {
  JsonWriter json;
  json.Object([&] {
    json.Field("file", file);
    json.Field("nodes", nodes);
    json.Key("ns");
    json.Object([&] {
      for (const Timing& timing : timings) json.Field(timing.what, timing.ns);
    });
    json.Key("replay");
    json.Object([&] {
      json.Field("op_nodes", replay.op_nodes);
      json.Field("changed_nodes", replay.changed_nodes);
      json.Field("skipped_ns", replay.skipped);
      json.Field("unchanged_ns_per_node", PerNode(replay.unchanged, replay.nodes));
      json.Field("every_node_ns_per_node", PerNode(replay.every_node, replay.nodes));
      json.Field("changed_ns_per_node", PerNode(replay.changed, replay.nodes));
      json.Field("alone_ns_per_node", PerNode(replay.alone, replay.nodes));
    });
  });
  json.Print();
}

}  // namespace

int RunBench(const BenchOptions& options) {
  Session session;
  std::vector<Timing> timings;
  absl::StatusOr<Program> program = absl::UnknownError("not read");
  const int64_t first_load = TimeOnce([&] { program = ReadAnyProgramFile(session.context(), options.file); });
  if (!program.ok()) return ComplainOfInput(options.file, program.status());
  const int64_t nodes = NodesOf(*program);
  timings.push_back({"load, first", first_load, nodes});
  timings.push_back({"load, again",
                     BestOf(options.repeats, [&] { program = ReadAnyProgramFile(session.context(), options.file); }),
                     nodes});
  const std::unique_ptr<Inferrer> inferrer = session.NewInferrer(*program);
  timings.push_back({"infer all, rules evaluated", TimeOnce([&] { CheckProgram(*program, *inferrer); }), nodes});
  timings.push_back(
      {"infer all, from the memo", BestOf(options.repeats, [&] { CheckProgram(*program, *inferrer); }), nodes});
  timings.push_back({"copy", BestOf(options.repeats, [&] { const Program copy = *program; }), 0});
  if (const absl::Status status = TimePasses(session, *program, options, timings); !status.ok()) {
    return Complain(options.file, status);
  }
  const absl::StatusOr<ReplayTimes> replay = TimeReplays(*program, *inferrer, options.repeats);
  if (!replay.ok()) return Complain(options.file, replay.status());
  if (options.json) {
    PrintJson(options.file, nodes, timings, *replay);
  } else {
    std::printf("%s: %lld nodes, best of %d\n", options.file.c_str(), static_cast<long long>(nodes), options.repeats);
    Print(timings, *replay);
  }
  return kExitOk;
}

}  // namespace tare
