// Running the command as a process, timed.
#pragma once

#include <string>
#include <vector>

namespace tare::bench {

struct CommandRun {
  double ms = 0;       // wall time
  double cpu_ms = 0;   // user and system
  double peak_mb = 0;  // resident, shared libraries included; at least what this process has
  int status = -1;     // as wait(2) gives it
};

// Runs `args` without standard output; `stack_kb` limits the stack of its main thread, 0 = not.
CommandRun RunCommand(const std::vector<std::string>& args, int stack_kb = 0);

}  // namespace tare::bench
