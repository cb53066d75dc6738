#include "tools/exit_code.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "capi/status_code.h"
#include "ir/status.h"

namespace tare {
namespace {

void PrintDiagnostic(std::string_view kind, std::string_view subject, std::string_view message) {
  std::string text = absl::StrCat("tare: ", TextPiece(kind), ": ");
  if (!subject.empty()) absl::StrAppend(&text, TextPiece(subject), ": ");
  absl::StrAppend(&text, TextPiece(message), "\n");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int Severity(ExitCode code) {
  switch (code) {
    case kExitOk:
      return 0;
    case kExitNo:
      return 1;
    case kExitUnsupported:
      return 2;
    case kExitBadInput:
      return 3;
    case kExitUsage:
      return 4;
    case kExitBug:
      return 5;
  }
  return 5;
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) { return static_cast<ExitCode>(StatusCodeOf(status)); }

ExitCode Complain(std::string_view subject, const absl::Status& status) {
  PrintDiagnostic("error", subject, std::string_view(status.message().data(), status.message().size()));
  return ExitCodeOf(status);
}

void Warn(std::string_view subject, std::string_view message) { PrintDiagnostic("warning", subject, message); }

ExitCode Worse(ExitCode a, ExitCode b) { return Severity(a) >= Severity(b) ? a : b; }

}  // namespace tare
