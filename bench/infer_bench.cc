// What one answer costs, by family of recorded calls: rule evaluated with static and with symbolic
// operands, refusals, memo hits. Every call is timed alone; a figure is the median over the calls of a
// family, and the label has the 90th percentile and how many calls are over the aim.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "aims.h"
#include "golden_calls.h"
#include "groups.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare::bench {
namespace {

struct Mode {
  std::string_view name;
  bool use_memo;
  Aim aim;
  bool (*wants)(const GoldenCall& call);
};
constexpr Mode kModes[] = {
    {"static", false, {500, "ns"}, [](const GoldenCall& c) { return !c.refused && !c.symbolic; }},
    {"symbolic", false, {3000, "ns"}, [](const GoldenCall& c) { return !c.refused && c.symbolic; }},
    {"refused", false, {0, "ns"}, [](const GoldenCall& c) { return c.refused; }},
    {"hit", true, {60, "ns"}, [](const GoldenCall& c) { return c.memoised; }},
};

using Inferrers = std::map<std::pair<std::string, bool>, std::unique_ptr<Inferrer>>;

class CallTimer {
 public:
  explicit CallTimer(Context& context) : context_(context) {}

  // Nanoseconds of one answer: the best of some rounds of many answers.
  double Time(const GoldenCall& golden, bool use_memo) {
    Inferrer& inferrer = InferrerFor(golden.spec, use_memo);
    inferrer.UseFacts(golden.facts);
    const int answers = use_memo ? 64 : 8;
    double best = 1e18;
    for (int round = 0; round < 6; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < answers; ++i) {
        auto result = inferrer.Infer(golden.call.op, golden.call.attrs, golden.call.operands, QuantId{0}, kPlace);
        benchmark::DoNotOptimize(result);
      }
      const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
      best = std::min(best, elapsed.count() / answers);
    }
    return best;
  }

 private:
  static constexpr NodePlace kPlace{1, NodeId{0}};

  Inferrer& InferrerFor(const std::string& spec, bool use_memo) {
    std::unique_ptr<Inferrer>& inferrer = inferrers_[{spec, use_memo}];
    if (inferrer == nullptr) {
      InferrerOptions options;
      options.spec = spec;
      options.use_memo = use_memo;
      inferrer = MakeInferrer(context_, options);
    }
    return *inferrer;
  }

  Context& context_;
  Inferrers inferrers_;
};

struct Sample {
  double ns;
  const GoldenCall* golden;
};

Figure Summary(std::vector<Sample> samples, const Mode& mode) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.ns < b.ns; });
  std::string label = absl::StrFormat("%d calls, p90 %.0f", samples.size(), samples[samples.size() * 9 / 10].ns);
  if (mode.aim.value != 0) {
    const auto over =
        std::count_if(samples.begin(), samples.end(), [&](const Sample& s) { return s.ns > mode.aim.value; });
    absl::StrAppend(&label, ", ", over, " over");
  }
  return {samples[samples.size() / 2].ns, label, ""};
}

// With TARE_SLOWEST=N also the N slowest calls of each row, to know where to look.
void PrintSlowest(const Context& context, std::vector<Sample> samples, size_t count) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.ns > b.ns; });
  for (size_t i = 0; i < std::min(count, samples.size()); ++i) {
    const Call& call = samples[i].golden->call;
    std::printf("  %9.0f ns  %s\n", samples[i].ns, PrintCall(context, call.op, call.attrs, call.operands).c_str());
  }
}

void FamilyBench(CallTimer& timer, const Context& context, const std::string& name,
                 std::vector<const GoldenCall*> calls, const Mode& mode) {
  calls.erase(std::remove_if(calls.begin(), calls.end(), [&](const GoldenCall* call) { return !mode.wants(*call); }),
              calls.end());
  if (calls.empty()) return;
  RegisterOnce(absl::StrCat("infer/", absl::string_view(mode.name.data(), mode.name.size()), "/", name), mode.aim,
               [&timer, &context, calls, &mode] {
                 std::vector<Sample> samples;
                 for (const GoldenCall* call : calls) samples.push_back({timer.Time(*call, mode.use_memo), call});
                 if (const char* slowest = std::getenv("TARE_SLOWEST")) {
                   PrintSlowest(context, samples, static_cast<size_t>(std::atoi(slowest)));
                 }
                 return Summary(std::move(samples), mode);
               });
}

}  // namespace

void InferBenches() {
  const std::unique_ptr<Context> context = MakeContext();
  const std::vector<Family> families = ReadFamilies(*context);
  CallTimer timer(*context);
  for (const Mode& mode : kModes) {
    std::vector<const GoldenCall*> all;
    for (const Family& family : families) {
      std::vector<const GoldenCall*> calls;
      for (const GoldenCall& call : family.calls) calls.push_back(&call);
      all.insert(all.end(), calls.begin(), calls.end());
      FamilyBench(timer, *context, family.name, std::move(calls), mode);
    }
    FamilyBench(timer, *context, "all", std::move(all), mode);
  }
  RunRegistered();
}

}  // namespace tare::bench
