// Runs the commands of one Markdown file in a scratch copy of the repository's layout:
//   transcript_run FILE.md
// The scratch directory has a link to every top-level entry of the source tree and `build` for the
// build tree; `tare` of the build is first on PATH. `cd` carries over from command to command.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "transcript.h"

namespace {

namespace fs = std::filesystem;
using tare::transcript::Step;
using tare::transcript::StepKind;

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A directory that goes away with this value.
struct Scratch {
  fs::path path;
  Scratch() {
    std::string name = (fs::temp_directory_path() / "tare-transcript-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

struct Outcome {
  std::string output;
  int exit_code = -1;
};

Outcome RunBash(const fs::path& scratch, const std::string& script) {
  std::ofstream(scratch / ".script") << "cd \"$(cat " << (scratch / ".cwd").string() << ")\"\n"
                                     << "trap 'rc=$?; pwd >" << (scratch / ".cwd").string() << "; exit $rc' EXIT\n"
                                     << script << "\n";
  const std::string command = "bash '" + (scratch / ".script").string() + "' 2>&1 </dev/null";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  while (size_t n = fread(buffer, 1, sizeof buffer, pipe)) outcome.output.append(buffer, n);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Empty when the step does what the file says.
std::string FaultOf(const Step& step, const fs::path& scratch) {
  switch (step.kind) {
    case StepKind::kFile: {
      const fs::path cwd = tare::transcript::SplitLines(ReadText(scratch / ".cwd")).at(0);
      std::ofstream(cwd / step.path) << step.text;
      return "";
    }
    case StepKind::kPartOf:
      return ReadText(scratch / step.path).find(step.text) == std::string::npos ? "not found in " + step.path : "";
    case StepKind::kScript: {
      const Outcome got = RunBash(scratch, "set -e\n" + step.text);
      return got.exit_code == 0 ? "" : "exit " + std::to_string(got.exit_code) + "\n" + got.output;
    }
    case StepKind::kCommand: {
      const Outcome got = RunBash(scratch, step.text);
      std::string fault;
      if (got.exit_code != step.want_exit) {
        fault = "exit " + std::to_string(got.exit_code) + ", expected " + std::to_string(step.want_exit) + "\n";
      }
      if (!fault.empty() || !tare::transcript::Matches(step.want, tare::transcript::SplitLines(got.output))) {
        fault += "printed:\n" + got.output;
      }
      return fault;
    }
  }
  return "unknown step";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: transcript_run FILE.md\n";
    return 2;
  }
  const fs::path source = std::getenv("TARE_SOURCE_ROOT"), build = std::getenv("TARE_BUILD_ROOT");
  const Scratch scratch;
  for (const fs::directory_entry& entry : fs::directory_iterator(source)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(".") || name.starts_with("build")) continue;
    fs::create_symlink(entry.path(), scratch.path / name);
  }
  fs::create_symlink(build, scratch.path / "build");
  std::ofstream(scratch.path / ".cwd") << scratch.path.string() << "\n";
  setenv("PATH", (build.string() + ":" + std::getenv("PATH")).c_str(), 1);
  setenv("LC_ALL", "C.UTF-8", 1);

  const std::vector<Step> steps = tare::transcript::Parse(ReadText(argv[1]));
  int failed = 0;
  for (const Step& step : steps) {
    const std::string fault = FaultOf(step, scratch.path);
    if (fault.empty()) continue;
    ++failed;
    std::cout << argv[1] << ":" << step.line << ": " << tare::transcript::SplitLines(step.text).at(0) << "\n" << fault;
    if (!fault.ends_with("\n")) std::cout << "\n";
  }
  std::cout << "steps " << steps.size() << ", failed " << failed << "\n";
  return steps.empty() || failed > 0 ? 1 : 0;
}
