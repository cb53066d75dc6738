// `tare check`: re-infers every value of programs and compares it with what they state.
#include "meta/check.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "backends/tosa/program_file.h"
#include "ir/status.h"
#include "ir/text.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/progress.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace tare {
namespace {

constexpr size_t kMaxRows = 20;  // differences printed of one program; JSON has all

// A difference in words, once its program is gone.
struct DifferenceRow {
  std::string graph, value, op, stated, derived, check_id, place;
};

struct FileReport {
  absl::Status failure;  // the file could not be read, or has a call that is refused
  CheckReport counts;
  std::vector<DifferenceRow> rows;
  std::vector<std::string> declared_ops;
  bool done = false;
};

DifferenceRow RowOf(const Program& program, const ValueDifference& difference) {
  const Context& context = *program.context;
  const Graph& graph = program.graphs[difference.graph.index].graph;
  DifferenceRow row;
  row.graph = program.graphs[difference.graph.index].name;
  row.value = NameOfValue(program, difference);
  row.op = std::string(context.ops.Name(graph.op(difference.node)));
  row.stated = difference.stated.has_value() ? PrintMeta(context, difference.stated) : "nothing";
  if (!difference.refusal.ok()) {
    row.derived = absl::StrCat("error: ", difference.refusal.message());
    row.check_id = CheckIdOf(difference.refusal);
  } else {
    row.derived = difference.derived.has_value() ? PrintMeta(context, difference.derived) : "nothing";
  }
  row.place = graph.lineage().Describe(graph.loc(difference.node));
  return row;
}

void CheckFile(Session& session, const std::string& file, FileReport& report) {
  const absl::StatusOr<Program> program = ReadAnyProgramFile(session.context(), file);
  if (!program.ok()) {
    report.failure = program.status();
    return;
  }
  const std::unique_ptr<Inferrer> inferrer = session.NewInferrer(*program);
  report.counts = CheckProgram(*program, *inferrer);
  report.failure = RefusalOf(*program, report.counts);
  if (!report.failure.ok()) return;
  for (const ValueDifference& difference : report.counts.differences) {
    report.rows.push_back(RowOf(*program, difference));
  }
  for (Op op : report.counts.declared_ops) report.declared_ops.emplace_back(session.context().ops.Name(op));
}

std::string CountsText(const CheckReport& counts) {
  return absl::StrCat("values ", counts.values, ", equal ", counts.equal, ", different ", counts.different,
                      ", declared ", counts.declared);
}

void PrintFile(const std::string& file, const FileReport& report) {
  if (!report.failure.ok()) {
    std::printf("%s: failed\n", file.c_str());
    return;
  }
  std::printf("%s: %s\n", file.c_str(), CountsText(report.counts).c_str());
  for (size_t i = 0; i < std::min(report.rows.size(), kMaxRows); ++i) {
    const DifferenceRow& row = report.rows[i];
    std::printf("  %s = %s: stated %s, derived %s\n", row.value.c_str(), row.op.c_str(), row.stated.c_str(),
                row.derived.c_str());
    if (!row.place.empty()) std::printf("    at %s\n", row.place.c_str());
  }
  if (report.rows.size() > kMaxRows) std::printf("  and %zu more differences\n", report.rows.size() - kMaxRows);
  for (const std::string& op : report.declared_ops) std::printf("  no rule for %s: taken as stated\n", op.c_str());
}

void WriteCounts(JsonWriter& json, const CheckReport& counts) {
  json.Field("values", counts.values);
  json.Field("equal", counts.equal);
  json.Field("different", counts.different);
  json.Field("declared", counts.declared);
}

void WriteFile(JsonWriter& json, const std::string& file, const FileReport& report) {
  json.Object([&] {
    json.Field("file", file);
    if (!report.failure.ok()) {
      json.Field("error", std::string_view(report.failure.message().data(), report.failure.message().size()));
      json.Field("check", CheckIdOf(report.failure));
      return;
    }
    WriteCounts(json, report.counts);
    json.Key("declared_ops");
    json.Array([&] {
      for (const std::string& op : report.declared_ops) json.Value(op);
    });
    json.Key("differences");
    json.Array([&] {
      for (const DifferenceRow& row : report.rows) {
        json.Object([&] {
          json.Field("graph", row.graph);
          json.Field("value", row.value);
          json.Field("op", row.op);
          json.Field("stated", row.stated);
          json.Field("derived", row.derived);
          json.Field("check", row.check_id);
          json.Field("place", row.place);
        });
      }
    });
  });
}

// Files on several threads; `report` gets each in the order of the command line.
template <typename Report>
void CheckFiles(Session& session, const CheckOptions& options, Report report) {
  const size_t count = options.files.size();
  std::vector<FileReport> reports(count);
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::condition_variable changed;
  Progress progress("check", static_cast<int64_t>(count));
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      CheckFile(session, options.files[i], reports[i]);
      const std::lock_guard lock(mutex);
      reports[i].done = true;
      progress.Step();
      changed.notify_one();
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(options.threads)); ++i) threads.emplace_back(work);
  for (size_t i = 0; i < count; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return reports[i].done; });
    progress.Clear();
    report(options.files[i], reports[i]);
    reports[i] = {};
    reports[i].done = true;
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int RunCheck(const CheckOptions& options) {
  Session session;
  if (const ExitCode code = session.AddOpsFiles(options.ops_files); code != kExitOk) return code;
  CheckReport sum;
  int64_t failed = 0;
  ExitCode code = kExitOk;
  JsonWriter json;
  const auto add = [&](const std::string& file, const FileReport& report) {
    if (!options.json) PrintFile(file, report);
    if (options.json) WriteFile(json, file, report);
    if (!report.failure.ok()) {
      std::fflush(stdout);  // the line of the file comes before its diagnostic
      ++failed;
      code = Worse(code, ComplainOfInput(file, report.failure));
      return;
    }
    sum.values += report.counts.values;
    sum.equal += report.counts.equal;
    sum.different += report.counts.different;
    sum.declared += report.counts.declared;
    if (report.counts.different > 0) code = Worse(code, kExitNo);
  };
  if (!options.json) {
    CheckFiles(session, options, add);
    std::printf("programs %zu, %s, failed %lld\n", options.files.size(), CountsText(sum).c_str(),
                static_cast<long long>(failed));
    return code;
  }
  json.Object([&] {
    json.Key("files");
    json.Array([&] { CheckFiles(session, options, add); });
    json.Field("programs", options.files.size());
    WriteCounts(json, sum);
    json.Field("failed", failed);
  });
  json.Print();
  return code;
}

}  // namespace tare
