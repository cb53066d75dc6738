// `tare ops`: the ops of the context.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "formats/program_file.h"
#include "ir/context.h"
#include "ir/status.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/op_markdown.h"
#include "tools/op_view.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace tare {
namespace {

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::vector<OpView> ViewsOf(const Context& context, GoldenChecker& checker, const std::vector<Op>& ops) {
  std::vector<OpView> views;
  views.reserve(ops.size());
  for (const Op op : ops) views.push_back(ViewOf(context, checker, op));
  return views;
}

// One line an op: its name and what it does.
void PrintList(const Context& context, const std::vector<Op>& ops) {
  size_t width = 0;
  for (const Op op : ops) width = std::max(width, context.ops.Name(op).size());
  for (const Op op : ops) {
    std::string line(context.ops.Name(op));
    const std::string_view doc = context.ops.Get(op).doc;
    if (!doc.empty()) line.resize(width + 2, ' ');
    Print(Cat(line, doc, "\n"));
  }
}

absl::Status MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "cannot make the directory");
}

ExitCode WritePages(const std::string& directory, const std::vector<MarkdownFile>& files) {
  for (const std::string& path : {directory, absl::StrCat(directory, "/ops")}) {
    if (const absl::Status made = MakeDirectory(path); !made.ok()) return ComplainOfInput(path, made);
  }
  for (const MarkdownFile& file : files) {
    const std::string path = absl::StrCat(directory, "/", file.path);
    if (const absl::Status written = WriteTextFile(file.text, path); !written.ok())
      return ComplainOfInput(path, written);
  }
  return kExitOk;
}

}  // namespace

int RunOps(const OpsOptions& options) {
  Session session;
  if (const ExitCode code = session.AddOpsFiles(options.ops_files); code != kExitOk) return code;
  Context& context = session.context();
  GoldenChecker checker(context);
  const OpFilter filter{options.name, options.dialect, options.trait, options.check, options.function};
  const absl::StatusOr<std::vector<Op>> selected = SelectOps(context, filter);
  if (!selected.ok()) {
    std::string subject;
    for (const std::string* part : {&filter.name, &filter.dialect, &filter.trait, &filter.check, &filter.function}) {
      if (!part->empty()) CatTo(subject, subject.empty() ? "" : " ", *part);
    }
    return Complain(subject, selected.status());
  }
  if (options.json) {
    JsonWriter json;
    json.Array([&] {
      for (const Op op : *selected) WriteOp(json, context, ViewOf(context, checker, op));
    });
    json.Print();
  } else if (options.markdown) {
    const std::vector<OpView> views = ViewsOf(context, checker, *selected);
    if (!options.output.empty()) return WritePages(options.output, MarkdownPages(context, views));
    Print(MarkdownPage(context, views));
  } else if (selected->size() == 1 && !options.name.empty()) {
    Print(PageOf(context, ViewOf(context, checker, selected->front())));
  } else {
    PrintList(context, *selected);
  }
  return kExitOk;
}

}  // namespace tare
