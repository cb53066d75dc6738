// Loading `.pt2`: megabytes of JSON per second, weights untouched, and the whole file as `tare` reads it.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "aims.h"
#include "formats/pt2/archive.h"
#include "formats/pt2/mapped_file.h"
#include "formats/pt2/pt2.h"
#include "groups.h"
#include "meta/context_factory.h"
#include "programs.h"

namespace tare::bench {
namespace {

constexpr Aim kJson{300, "MB/s", Better::kMore};
constexpr Aim kNodes{0, "ns"};

struct File {
  std::string label, path;
};

// The program's JSON; "" when the file cannot be opened.
std::string JsonOf(const std::string& path) {
  auto bytes = pt2::MapFile(path);
  if (!bytes.ok()) return "";
  auto archive = pt2::Archive::Open(*std::move(bytes));
  if (!archive.ok() || archive->models().empty()) return "";
  const pt2::ZipEntry* entry = archive->Find(absl::StrCat("models/", archive->models()[0], ".json"));
  if (entry == nullptr) return "";
  auto json = archive->Read(*entry, pt2::CrcCheck::kSkip);
  return json.ok() ? std::string(reinterpret_cast<const char*>(json->data.data()), json->data.size()) : "";
}

void AddFile(const File& file) {
  const std::string json = JsonOf(file.path);
  if (json.empty()) return;
  const double bytes = static_cast<double>(json.size());
  const std::string about = absl::StrCat(json.size() / 1000, " kB of JSON");
  // As in a batch: the stores of the context know what the program before it used.
  Register(absl::StrCat("load/", file.label), kJson, [=](benchmark::State& state) {
    const auto context = MakeContext();
    ReadOptions options;
    options.verify_weights = false;
    for (auto _ : state) {
      auto program = ReadPt2(*context, file.path, options);
      if (!program.ok()) return state.SkipWithError(program.status().ToString().c_str());
      benchmark::DoNotOptimize(program);
    }
    SetItems(state, bytes);
    state.SetLabel(about);
  });
  // As the first program of a process, without making the context.
  Register(absl::StrCat("load-first/", file.label), kJson, [=](benchmark::State& state) {
    ReadOptions options;
    options.verify_weights = false;
    for (auto _ : state) {
      state.PauseTiming();
      auto context = MakeContext();
      state.ResumeTiming();
      auto program = ReadPt2(*context, file.path, options);
      if (!program.ok()) return state.SkipWithError(program.status().ToString().c_str());
      state.PauseTiming();
      program = absl::UnknownError("");
      context.reset();
      state.ResumeTiming();
    }
    SetItems(state, bytes);
  });
  Register(absl::StrCat("load-per-node/", file.label), kNodes, [=](benchmark::State& state) {
    const auto context = MakeContext();
    double nodes = 1;
    for (auto _ : state) {
      auto program = ReadPt2Json(*context, json);
      if (!program.ok()) return state.SkipWithError(program.status().ToString().c_str());
      nodes = program->main().num_nodes();
    }
    SetItems(state, nodes);
  });
}

}  // namespace

void LoadBenches() {
  std::vector<File> files = {{"ds_cnn/int8", DataFile("nets/ds_cnn/int8.pt2")},
                             {"mobilenet_v2_035/int8", DataFile("nets/mobilenet_v2_035/int8.pt2")},
                             {"swin/train", DataFile("nets/swin/train.pt2")},
                             {"llama_mini/train", DataFile("nets/llama_mini/train.pt2")}};
  if (const auto chain = SharedFile("corpus/features/chain_10000/train.pt2")) {
    files.push_back({"chain_10000", *chain});
  }
  for (const File& file : files) AddFile(file);
  RunRegistered();
}

}  // namespace tare::bench
