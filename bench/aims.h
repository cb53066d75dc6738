// Benchmarks with aims: each prints what it measured beside what docs and design want of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "benchmark/benchmark.h"

namespace tare::bench {

enum class Better : uint8_t { kLess, kMore };

// What a figure should be. The unit says how times become figures: "ns", "us", "ms" are per item,
// "MB/s" counts items as bytes; any other unit needs RegisterOnce.
struct Aim {
  double value = 0;  // 0 = none, the figure is for information
  std::string_view unit;
  Better better = Better::kLess;
};

// `body` as a Google Benchmark that is repeated; the best repetition is compared with the aim, since
// a shared machine only ever makes things slower, and the median is shown beside it.
void Register(const std::string& name, Aim aim, std::function<void(benchmark::State&)> body);
// Items one iteration of `body` works on; without it one.
void SetItems(benchmark::State& state, double items);

// What `measure` finds in one go, in the aim's unit.
struct Figure {
  double value = 0;
  std::string label;
  std::string failure;  // not "": there is no figure
};
void RegisterOnce(const std::string& name, Aim aim, std::function<Figure()> measure);

// Runs what is registered, prints `name  best  median  aim: verdict` lines, and forgets it.
void RunRegistered();

}  // namespace tare::bench
