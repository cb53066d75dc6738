// Start-up: making a Context with its tables, and whole runs of the command. TARE_BIN names the command.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "aims.h"
#include "groups.h"
#include "meta/context_factory.h"
#include "programs.h"

extern char** environ;

namespace tare::bench {
namespace {

struct Run {
  double ms = 0;
  double peak_mb = 0;
  int status = -1;
};

Run RunCommand(const std::vector<std::string>& args) {
  std::vector<char*> argv;
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  Run run;
  pid_t child = 0;
  const auto start = std::chrono::steady_clock::now();
  if (posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ) != 0) return run;
  rusage usage{};
  wait4(child, &run.status, 0, &usage);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  posix_spawn_file_actions_destroy(&actions);
  run.ms = elapsed.count();
  run.peak_mb = static_cast<double>(usage.ru_maxrss) / 1000;  // KiB
  return run;
}

void CommandBenches(const std::string& name, Aim aim, const std::vector<std::string>& args) {
  RegisterOnce(absl::StrCat("startup/", name), aim, [=] {
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) {
      const Run run = RunCommand(args);
      if (run.status != 0) return Figure{0, "", absl::StrCat(args[0], " fails: ", run.status)};
      times.push_back(run.ms);
    }
    std::sort(times.begin(), times.end());
    return Figure{times[0], absl::StrFormat("best of 100 runs, wall time; median %.2f", times[50]), ""};
  });
  RegisterOnce(absl::StrCat("memory-peak/", name), {15, "MB"}, [=] {
    const Run run = RunCommand(args);
    return Figure{run.peak_mb, "resident, shared libraries included", run.status == 0 ? "" : "fails"};
  });
}

}  // namespace

void StartupBenches() {
  Register("startup/make-context", {0, "us"}, [](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(MakeContext());
    state.SetLabel("op table, rules, stores; made and destroyed");
  });
  if (const char* tare = std::getenv("TARE_BIN")) {
    CommandBenches("version", {3, "ms"}, {tare, "--version"});
    CommandBenches("check/ds_cnn-core", {10, "ms"}, {tare, "check", DataFile("nets/ds_cnn/core.pt2")});
    CommandBenches("check/mobilenet_v2_035-int8", {10, "ms"},
                   {tare, "check", DataFile("nets/mobilenet_v2_035/int8.pt2")});
  }
  RunRegistered();
}

}  // namespace tare::bench
