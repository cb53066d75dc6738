#include "aims.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace tare::bench {
namespace {

constexpr char kItems[] = "items", kFigure[] = "figure";

std::map<std::string, Aim>& Aims() {  // by name; of this program alone
  static std::map<std::string, Aim> aims;
  return aims;
}

double FigureOf(const benchmark::BenchmarkReporter::Run& run, std::string_view unit) {
  if (const auto found = run.counters.find(kFigure); found != run.counters.end()) return found->second.value;
  const auto items = run.counters.find(kItems);
  const double per_iteration = items == run.counters.end() ? 1 : items->second.value;
  const double ns = run.cpu_accumulated_time * 1e9 / static_cast<double>(run.iterations) / per_iteration;
  if (unit == "us") return ns * 1e-3;
  if (unit == "ms") return ns * 1e-6;
  if (unit == "MB/s") return 1e3 / ns;
  return ns;
}

class AimReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    std::printf("%-52s %12s %12s   %-16s\n", "benchmark", "best", "median", "aim");
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<double> figures;
    std::string name, label;
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      name = run.run_name.function_name;
      label = run.error_occurred ? run.error_message : run.report_label;
      if (!run.error_occurred) figures.push_back(FigureOf(run, Aims()[name].unit));
    }
    if (name.empty()) return;
    if (figures.empty()) {
      std::printf("%-52s %s\n", name.c_str(), label.c_str());
      return;
    }
    const Aim& aim = Aims()[name];
    const bool less = aim.better == Better::kLess;
    std::sort(figures.begin(), figures.end());
    const double best = less ? figures.front() : figures.back();
    std::string wanted;
    if (aim.value != 0) {
      const bool met = less ? best <= aim.value : best >= aim.value;
      wanted =
          absl::StrFormat("%s %g %s: %s", less ? "<=" : ">=", aim.value, std::string(aim.unit), met ? "met" : "MISSED");
    }
    const std::string unit(aim.unit);
    const std::string median =
        figures.size() > 1 ? absl::StrFormat("%7.4g %-4s", figures[figures.size() / 2], unit) : "";
    std::printf("%-52s %7.4g %-4s %12s   %-24s %s\n", name.c_str(), best, unit.c_str(), median.c_str(), wanted.c_str(),
                label.c_str());
    std::fflush(stdout);
  }
};

}  // namespace

void Register(const std::string& name, Aim aim, std::function<void(benchmark::State&)> body) {
  Aims()[name] = aim;
  benchmark::RegisterBenchmark(name.c_str(), std::move(body))->Repetitions(9)->MinTime(0.02);
}

void SetItems(benchmark::State& state, double items) { state.counters[kItems] = items; }

void RegisterOnce(const std::string& name, Aim aim, std::function<Figure()> measure) {
  Aims()[name] = aim;
  const auto body = [measure = std::move(measure)](benchmark::State& state) {
    Figure figure;
    for (auto _ : state) figure = measure();
    if (!figure.failure.empty()) state.SkipWithError(figure.failure.c_str());
    state.counters[kFigure] = figure.value;
    state.SetLabel(figure.label);
  };
  benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(1);
}

void RunRegistered() {
  AimReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
}

}  // namespace tare::bench
