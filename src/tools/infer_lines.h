// Answers calls and checks files of `call -> result` lines against one Context.
#pragma once

#include "ir/context.h"
#include "tools/exit_code.h"
#include "tools/verbs.h"

namespace tare {

// Prints what the verb `infer` prints.
ExitCode AnswerLines(Context& context, const InferOptions& options);

}  // namespace tare
