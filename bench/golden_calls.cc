#include "golden_calls.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "meta/golden.h"
#include "meta/golden_symbols.h"
#include "meta/infer.h"
#include "programs.h"

namespace tare::bench {
namespace {

void AddCall(Context& context, std::string_view text, std::vector<GoldenCall>& calls) {
  const auto line = SplitGoldenLine(text);
  if (!line.ok() || !line->has_value()) return;
  auto symbols = LineSymbols::Make(context, (*line)->call, (*line)->facts);
  if (!symbols.ok()) return;
  Cursor cursor((*line)->call);
  auto call = ReadCall(context, cursor, *symbols);
  if (!call.ok()) return;
  GoldenCall golden;
  golden.symbolic = !symbols->All().empty();
  golden.facts = symbols->facts();
  golden.spec = (*line)->spec;
  golden.call = *std::move(call);
  calls.push_back(std::move(golden));
}

// Ops without a rule are left out. Says of each call what kind of answer it has.
void Classify(Context& context, std::vector<GoldenCall>& calls) {
  std::map<std::string, std::unique_ptr<Inferrer>> inferrers;
  std::vector<GoldenCall> kept;
  for (GoldenCall& golden : calls) {
    std::unique_ptr<Inferrer>& inferrer = inferrers[golden.spec];
    if (inferrer == nullptr) {
      InferrerOptions options;
      options.spec = golden.spec;
      inferrer = MakeInferrer(context, options);
    }
    inferrer->UseFacts(golden.facts);
    const auto ask = [&] {
      return inferrer->Infer(golden.call.op, golden.call.attrs, golden.call.operands, QuantId{0}, {1, NodeId{0}});
    };
    const auto first = ask();
    if (first.ok() && first->declared) continue;
    golden.refused = !first.ok();
    const int64_t hits = inferrer->counters().memo_hits;
    (void)ask();
    golden.memoised = inferrer->counters().memo_hits > hits;
    kept.push_back(std::move(golden));
  }
  calls = std::move(kept);
}

}  // namespace

std::vector<Family> ReadFamilies(Context& context) {
  std::map<std::string, std::vector<GoldenCall>> families;
  for (const std::string& path : FilesBelow(SharedFile("goldens").value_or(DataFile("goldens")), ".txt")) {
    std::string name = std::filesystem::path(path).filename().string();
    name = name.substr(0, name.find('.'));
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) AddCall(context, line, families[name]);
  }
  std::vector<Family> all;
  for (auto& [name, calls] : families) {
    Classify(context, calls);
    if (!calls.empty()) all.push_back({name, std::move(calls)});
  }
  return all;
}

}  // namespace tare::bench
