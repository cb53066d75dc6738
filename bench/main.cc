// tare-bench [GROUP…] [--benchmark_…]: runs the groups named, or all.
#include <algorithm>
#include <string_view>
#include <vector>

#include "aims.h"
#include "groups.h"

namespace {

struct Group {
  std::string_view name;
  void (*run)();
};
constexpr Group kGroups[] = {
    {"load", tare::bench::LoadBenches},       {"infer", tare::bench::InferBenches},
    {"memo", tare::bench::MemoBenches},       {"replay", tare::bench::ReplayBenches},
    {"memory", tare::bench::MemoryBenches},   {"scaling", tare::bench::ScalingBenches},
    {"startup", tare::bench::StartupBenches}, {"lower", tare::bench::LowerBenches},
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::vector<std::string_view> names(argv + 1, argv + argc);
  for (std::string_view name : names) {
    const bool known =
        std::any_of(std::begin(kGroups), std::end(kGroups), [&](const Group& g) { return g.name == name; });
    if (!known) return benchmark::ReportUnrecognizedArguments(argc, argv), 2;
  }
  for (const Group& group : kGroups) {
    if (names.empty() || std::find(names.begin(), names.end(), group.name) != names.end()) group.run();
  }
}
