// `tare infer`: what a call gives, or whether lines hold.
#include "tools/infer_lines.h"
#include "tools/session.h"

namespace tare {

int RunInfer(const InferOptions& options) {
  Session session;
  if (const ExitCode code = session.AddOpsFiles(options.ops_files); code != kExitOk) return code;
  return AnswerLines(session.context(), options);
}

}  // namespace tare
