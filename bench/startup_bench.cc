// Start-up: making a Context with its tables, and whole runs of the command. TARE_BIN names the command.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "aims.h"
#include "command.h"
#include "groups.h"
#include "meta/context_factory.h"
#include "programs.h"

namespace tare::bench {
namespace {

void CommandBenches(const std::string& name, Aim aim, const std::vector<std::string>& args) {
  RegisterOnce(absl::StrCat("startup/", name), aim, [=] {
    std::vector<double> times, cpu_times;
    for (int i = 0; i < 100; ++i) {
      const CommandRun run = RunCommand(args);
      if (run.status != 0) return Figure{0, "", absl::StrCat(args[0], " fails: ", run.status)};
      times.push_back(run.ms);
      cpu_times.push_back(run.cpu_ms);
    }
    std::sort(times.begin(), times.end());
    std::sort(cpu_times.begin(), cpu_times.end());
    return Figure{times[0],
                  absl::StrFormat("wall time, best of 100; median %.2f, of CPU time %.2f", times[50], cpu_times[50]),
                  ""};
  });
  RegisterOnce(absl::StrCat("memory-peak/", name), {15, "MB"}, [=] {
    const CommandRun run = RunCommand(args);
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
    if (const auto five_hundred = SharedFile("corpus/nets/mobilebert/train.pt2")) {
      CommandBenches("check/mobilebert-train", {10, "ms"}, {tare, "check", *five_hundred});
    }
    CommandBenches("check/mobilenet_v2_035-int8", {10, "ms"},
                   {tare, "check", DataFile("nets/mobilenet_v2_035/int8.pt2")});
  }
  RunRegistered();
}

}  // namespace tare::bench
