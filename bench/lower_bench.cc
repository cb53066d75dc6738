// `tare lower`: milliseconds and memory per network, nanoseconds per node and pass, growth with the number of nodes.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "aims.h"
#include "backends/tosa/lower.h"
#include "backends/tosa/write.h"
#include "command.h"
#include "formats/program_file.h"
#include "groups.h"
#include "ir/status.h"
#include "lower_programs.h"
#include "meta/context_factory.h"
#include "programs.h"

namespace tare::bench {
namespace {

namespace fs = std::filesystem;
constexpr int kRounds = 5;

struct Job {
  std::string label, path, target;
};

// The exported and the quantised programs of the corpus; without it what tests/data has.
std::vector<Job> Jobs() {
  const std::optional<std::string> shared = SharedFile("corpus/nets");
  std::vector<Job> jobs;
  for (const std::string& path : FilesBelow(shared.value_or(DataFile("nets")), ".pt2")) {
    const std::string variant = fs::path(path).stem().string();
    const std::string label = absl::StrCat(fs::path(path).parent_path().filename().string(), "-", variant);
    if (variant == "train") jobs.push_back({label, path, "tosa-1.0+fp"});
    if (variant == "int8") jobs.push_back({label, path, "tosa-1.0+int"});
    if (variant == "a16w8") jobs.push_back({label, path, "tosa-1.0+int+int16"});
  }
  return jobs;
}

// One lowering in this process.
struct Phases {
  double read_ms = 0, passes_ms = 0, write_ms = 0;
  int64_t nodes = 0;  // of the program as read
  size_t outside = 0;
  std::vector<PassStats> passes;
  double Total() const { return read_ms + passes_ms + write_ms; }
};

double Since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

absl::StatusOr<Phases> LowerOnce(const Job& job) {
  const std::unique_ptr<Context> context = MakeContext();
  TARE_ASSIGN_OR_RETURN(const TosaTarget target, FindTosaTarget(job.target));
  Phases phases;
  const auto read = std::chrono::steady_clock::now();
  TARE_ASSIGN_OR_RETURN(Program program, ReadProgramFile(*context, job.path));
  phases.read_ms = Since(read);
  phases.nodes = program.main().num_nodes();
  const auto lower = std::chrono::steady_clock::now();
  TARE_ASSIGN_OR_RETURN(LowerResult result, LowerToTosa(program, target));
  phases.passes_ms = Since(lower);
  phases.passes = std::move(result.passes);
  phases.outside = result.outside.size();
  if (phases.outside > 0) return phases;
  const auto write = std::chrono::steady_clock::now();
  TARE_ASSIGN_OR_RETURN(const std::string bytes, WriteTosa(program));
  benchmark::DoNotOptimize(bytes.size());
  phases.write_ms = Since(write);
  return phases;
}

struct PassTotal {
  double ns = 0, nodes = 0;  // nodes of each program, once per run of the pass
  int runs = 0, idle = 0;
};
using PassTotals = std::map<std::string, PassTotal>;

Figure MeasureNet(const Job& job, PassTotals& totals) {
  Phases best;
  for (int i = 0; i < kRounds; ++i) {
    const absl::StatusOr<Phases> phases = LowerOnce(job);
    if (!phases.ok()) return Figure{0, "", phases.status().ToString()};
    if (i == 0 || phases->Total() < best.Total()) best = *phases;
  }
  const double nodes = static_cast<double>(best.nodes);
  for (const PassStats& stats : best.passes) {
    PassTotal& total = totals[stats.name];
    total.ns += static_cast<double>(stats.ns);
    total.nodes += nodes;
    ++total.runs;
    total.idle += stats.changed ? 0 : 1;
  }
  std::string label =
      absl::StrFormat("read %.2f, passes %.2f, write %.2f; %d nodes, %d passes, %.0f ns per node and pass",
                      best.read_ms, best.passes_ms, best.write_ms, best.nodes, best.passes.size(),
                      best.passes_ms * 1e6 / nodes / static_cast<double>(best.passes.size()));
  if (best.outside > 0) absl::StrAppend(&label, "; ", best.outside, " outside, not written");
  return Figure{best.Total(), label, ""};
}

void PassLines(const PassTotals& totals) {
  for (const auto& [name, total] : totals) {
    const double nodes = total.nodes;
    const std::string label =
        absl::StrFormat("%.2f ms over all networks; %d runs, %d idle", total.ns * 1e-6, total.runs, total.idle);
    const Figure figure{total.ns / nodes, label, ""};
    RegisterOnce(absl::StrCat("lower/pass/", name), {0, "ns"}, [figure] { return figure; });
  }
}

// Files of the benchmark's own, gone with it.
class Scratch {
 public:
  Scratch() : folder_(fs::temp_directory_path() / absl::StrCat("tare-lower-", getpid())) {
    fs::create_directories(folder_);
  }
  ~Scratch() { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

absl::StatusOr<CommandRun> BestRun(const std::vector<std::string>& args, int rounds, int stack_kb = 0) {
  CommandRun best;
  for (int i = 0; i < rounds; ++i) {
    const CommandRun run = RunCommand(args, stack_kb);
    if (run.status != 0) return absl::InternalError(absl::StrCat("fails: ", run.status));
    const double peak = i == 0 ? run.peak_mb : std::min(run.peak_mb, best.peak_mb);
    if (i == 0 || run.ms < best.ms) best = run;
    best.peak_mb = peak;
  }
  return best;
}

// The whole command, in wall time, and its memory beside that of a command that does nothing.
void CommandLines(const std::string& tare, const std::vector<Job>& jobs, const Scratch& scratch) {
  for (const Job& job : jobs) {
    const std::vector<std::string> args = {
        tare, "lower", job.path, "--target", job.target, "-o", scratch.Path("net.tosa")};
    const bool aimed = job.label == "mobilenet_v2-int8";
    RegisterOnce(absl::StrCat("lower/command/", job.label), {aimed ? 50.0 : 0.0, "ms"}, [args] {
      const absl::StatusOr<CommandRun> run = BestRun(args, kRounds);
      if (!run.ok()) return Figure{0, "", "not lowered whole"};
      return Figure{run->ms, absl::StrFormat("wall time, best of %d; CPU %.1f", kRounds, run->cpu_ms), ""};
    });
    const double file_mb = static_cast<double>(fs::file_size(job.path)) * 1e-6;
    constexpr double kSmall = 4;  // MB: below, what any command takes outweighs the file
    RegisterOnce(absl::StrCat("lower/memory/", job.label), {file_mb < kSmall ? 0.0 : 3.0, "file"}, [=] {
      const absl::StatusOr<CommandRun> run = BestRun(args, 2);
      const CommandRun nothing = RunCommand({tare, "--version"});
      if (!run.ok()) return Figure{0, "", "not lowered whole"};
      return Figure{run->peak_mb / file_mb,
                    absl::StrFormat("peak %.1f MB, file %.1f MB; %.2f without the %.1f MB of `tare --version`",
                                    run->peak_mb, file_mb, (run->peak_mb - nothing.peak_mb) / file_mb, nothing.peak_mb),
                    ""};
    });
  }
}

// Makes and writes a program in a process of its own, so that this one stays small; the number of its nodes, or -1.
double WriteApart(const std::string& path, Program (*make)(Context&, int), int size) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const std::unique_ptr<Context> context = MakeContext();
    const Program program = make(*context, size);
    double nodes = WriteProgramFile(program, path).ok() ? program.main().num_nodes() : -1;
    _exit(write(ends[1], &nodes, sizeof nodes) == sizeof nodes ? 0 : 1);
  }
  close(ends[1]);
  double nodes = -1;
  if (read(ends[0], &nodes, sizeof nodes) != sizeof nodes) nodes = -1;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return nodes;
}

struct Growth {
  double us_per_node = 0, mb_per_1000_nodes = 0;
};

// Programs of one kind in growing sizes, with a stack of 1 MB; the last line compares the largest with the smallest.
void GrowthLines(const std::string& tare, const std::string& kind, const std::string& target, const Scratch& scratch,
                 const std::vector<int>& sizes, Program (*make)(Context&, int)) {
  const auto first = std::make_shared<Growth>(), last = std::make_shared<Growth>();
  for (const int size : sizes) {
    const std::string label = absl::StrCat(kind, "-", size);
    RegisterOnce(absl::StrCat("lower/growth/", label), {0, "us"}, [=, &scratch] {
      const std::string path = scratch.Path(label + ".pt2");
      const double nodes = WriteApart(path, make, size);
      if (nodes <= 0) return Figure{0, "", "cannot be written"};
      const absl::StatusOr<CommandRun> run =
          BestRun({tare, "lower", path, "--target", target, "-o", scratch.Path("net.tosa")}, 3, 1024);
      const CommandRun nothing = RunCommand({tare, "--version"});
      if (!run.ok()) return Figure{0, "", "not lowered whole"};
      const Growth growth{(run->cpu_ms - nothing.cpu_ms) * 1e3 / nodes, (run->peak_mb - nothing.peak_mb) * 1e3 / nodes};
      *last = growth;
      if (size == sizes[0]) *first = growth;
      const std::string about = absl::StrFormat(
          "per node; %.0f nodes, CPU %.0f ms, peak %.1f MB, file %.2f MB: %.2f MB per 1,000 nodes", nodes, run->cpu_ms,
          run->peak_mb, static_cast<double>(fs::file_size(path)) * 1e-6, growth.mb_per_1000_nodes);
      fs::remove(path);
      return Figure{growth.us_per_node, about, ""};
    });
  }
  const std::string about = absl::StrCat(sizes.back(), " beside ", sizes[0], ", start-up not counted");
  RegisterOnce(absl::StrCat("lower/growth/", kind, "-time"), {1.3, "x"}, [=] {
    return Figure{last->us_per_node / first->us_per_node, about, ""};
  });
  RegisterOnce(absl::StrCat("lower/growth/", kind, "-memory"), {1.3, "x"}, [=] {
    return Figure{last->mb_per_1000_nodes / first->mb_per_1000_nodes, about, ""};
  });
}

}  // namespace

void LowerBenches() {
  const std::vector<Job> jobs = Jobs();
  const Scratch scratch;
  if (const char* tare = std::getenv("TARE_BIN")) {
    CommandLines(tare, jobs, scratch);
    GrowthLines(tare, "chain", "tosa-1.0+fp", scratch, {1000, 2000, 5000, 10000},
                [](Context& context, int nodes) { return MakeChain(context, nodes, 100); });
    GrowthLines(tare, "transformer", "tosa-1.0+fp", scratch, {10, 25, 50, 100}, MakeTransformer);
    GrowthLines(tare, "quantized", "tosa-1.0+int", scratch, {200, 500, 1000, 2000}, MakeQuantizedChain);
  }
  RunRegistered();  // first: a process is counted with what the one that started it had
  PassTotals totals;
  for (const Job& job : jobs)
    RegisterOnce(absl::StrCat("lower/net/", job.label), {0, "ms"}, [&, job] { return MeasureNet(job, totals); });
  RunRegistered();
  PassLines(totals);
  RunRegistered();
}

}  // namespace tare::bench
