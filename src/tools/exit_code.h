// Exit codes of the command and the one shape of its diagnostics.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace tare {

// The same values as tare_status.
enum ExitCode : int {
  kExitOk = 0,
  kExitNo = 1,           // the answer is "no": something differs
  kExitUsage = 2,        // the command line, or a name on it, is wrong
  kExitBadInput = 3,     // a file cannot be read, written or believed
  kExitUnsupported = 4,  // correct, but not something tare can do yet
  kExitBug = 70,         // ours
};

ExitCode ExitCodeOf(const absl::Status& status);

// `tare: error: SUBJECT: MESSAGE` on stderr, further lines of the message indented below it, and the
// exit code of the status. `subject` is the file or name it is about; "" = none.
ExitCode Complain(std::string_view subject, const absl::Status& status);
// The same with `tare: warning:`.
void Warn(std::string_view subject, std::string_view message);

// The later stop wins by severity: bug > bad input > unsupported > no > ok.
ExitCode Worse(ExitCode a, ExitCode b);

}  // namespace tare
