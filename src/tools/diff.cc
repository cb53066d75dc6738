// `tare diff`: how two programs differ.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "backends/tosa/program_file.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/program_diff.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace tare {
namespace {

struct DiffCounts {
  int64_t removed = 0, added = 0, changed = 0;
};

DiffCounts CountRows(const std::vector<DiffRow>& rows) {
  DiffCounts counts;
  for (const DiffRow& row : rows)
    ++(row.after.empty() ? counts.removed : row.before.empty() ? counts.added : counts.changed);
  return counts;
}

void PrintJson(const std::vector<DiffRow>& rows, const DiffCounts& counts) {
  JsonWriter json;
  json.Object([&] {
    json.Field("removed", counts.removed);
    json.Field("added", counts.added);
    json.Field("changed", counts.changed);
    json.Key("differences");
    json.Array([&] {
      for (const DiffRow& row : rows) {
        json.Object([&] {
          json.Field("graph", row.graph);
          json.Field("name", row.name);
          json.Field("before", row.before);
          json.Field("after", row.after);
        });
      }
    });
  });
  json.Print();
}

}  // namespace

int RunDiff(const DiffOptions& options) {
  Session session;
  if (const ExitCode code = session.AddOpsFiles(options.ops_files); code != kExitOk) return code;
  const absl::StatusOr<Program> before = ReadAnyProgramFile(session.context(), options.before);
  if (!before.ok()) return ComplainOfInput(options.before, before.status());
  const absl::StatusOr<Program> after = ReadAnyProgramFile(session.context(), options.after);
  if (!after.ok()) return ComplainOfInput(options.after, after.status());

  const std::vector<DiffRow> rows = DiffPrograms(*before, *after);
  const DiffCounts counts = CountRows(rows);
  if (options.json) {
    PrintJson(rows, counts);
  } else {
    const std::string text = absl::StrCat(DiffText(rows), "removed ", counts.removed, ", added ", counts.added,
                                          ", changed ", counts.changed, "\n");
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return rows.empty() ? kExitOk : kExitNo;
}

}  // namespace tare
