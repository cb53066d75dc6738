#include "command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

extern char** environ;

namespace tare::bench {
namespace {

double Milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
}

}  // namespace

CommandRun RunCommand(const std::vector<std::string>& args, int stack_kb) {
  std::vector<std::string> all;
  if (stack_kb != 0) {
    all = {"/bin/sh", "-c", "ulimit -s \"$0\" && exec \"$@\"", std::to_string(stack_kb)};
  }
  all.insert(all.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& arg : all) argv.push_back(arg.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  CommandRun run;
  pid_t child = 0;
  const auto start = std::chrono::steady_clock::now();
  if (posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0) {
    rusage usage{};
    wait4(child, &run.status, 0, &usage);
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    run.ms = elapsed.count();
    run.cpu_ms = Milliseconds(usage.ru_utime) + Milliseconds(usage.ru_stime);
    run.peak_mb = static_cast<double>(usage.ru_maxrss) / 1000;  // KiB
  }
  posix_spawn_file_actions_destroy(&actions);
  return run;
}

}  // namespace tare::bench
