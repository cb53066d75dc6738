// What every verb starts with: a Context, the rows of the user, a program from a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/inferrer.h"
#include "ir/program.h"
#include "tools/exit_code.h"

namespace tare {

class Session {
 public:
  Session();
  ~Session();
  Context& context() { return *context_; }
  // Complains about the first file that is no file of rows.
  ExitCode AddOpsFiles(const std::vector<std::string>& files);
  // One inferrer for one thread, under the TOSA specification that goes with `program`.
  std::unique_ptr<Inferrer> NewInferrer(const Program& program);

 private:
  std::unique_ptr<Context> context_;
};

// Complain, with the exit code of a file that cannot be read whatever the reason, unless it is our bug.
ExitCode ComplainOfInput(std::string_view file, const absl::Status& status);

}  // namespace tare
