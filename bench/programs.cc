#include "programs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "formats/program_file.h"
#include "ir/text.h"
#include "meta/infer.h"

namespace tare::bench {
namespace {

std::filesystem::path SourceRoot() {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  return root != nullptr ? root : ".";
}

template <typename T>
T ValueOrDie(absl::StatusOr<T> value, std::string_view what) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s: %s\n", std::string(what).c_str(), value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

}  // namespace

std::string DataFile(std::string_view name) { return (SourceRoot() / "tests" / "data" / name).string(); }

std::optional<std::string> SharedFile(std::string_view name) {
  const char* given = std::getenv("TARE_SHARED");
  const std::filesystem::path shared = given != nullptr ? std::filesystem::path(given) : SourceRoot() / "../shared";
  std::error_code error;
  const std::filesystem::path path = shared / name;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path.string();
}

std::vector<std::string> FilesBelow(const std::string& folder, std::string_view suffix) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (std::string path = it->path().string(); path.ends_with(suffix)) files.push_back(std::move(path));
  }
  std::sort(files.begin(), files.end());
  return files;
}

Program MakeChain(Context& context, int nodes, int rare) {
  static constexpr std::string_view kUnary[] = {"relu", "sigmoid", "tanh", "neg", "abs", "exp"};
  std::string text = "graph main(%v0: f32[8,16]) {\n";
  for (int i = 1; i <= nodes; ++i) {
    absl::StrAppend(&text, "  %v", i, " = aten.");
    if (i % rare == 0) {
      absl::StrAppend(&text, "add.Tensor(%v", i - 1, ", %v", i - 1, ", alpha=1)\n");
    } else if (i % 7 == 0) {
      absl::StrAppend(&text, "permute_copy.default(%v", i - 1, ", dims=[1,0])\n");
    } else {
      const std::string_view op = kUnary[static_cast<size_t>(i) % std::size(kUnary)];
      absl::StrAppend(&text, absl::string_view(op.data(), op.size()), ".default(%v", i - 1, ")\n");
    }
  }
  absl::StrAppend(&text, "  return %v", nodes, "\n}\n");
  return ParseOrDie(context, text);
}

Program ParseOrDie(Context& context, std::string_view text) {
  const std::unique_ptr<Inferrer> inferrer = MakeInferrer(context);
  return ValueOrDie(ParseProgram(context, text, inferrer.get()), "made-up program");
}

Program ReadOrDie(Context& context, const std::string& path) {
  return ValueOrDie(ReadProgramFile(context, path), path);
}

}  // namespace tare::bench
