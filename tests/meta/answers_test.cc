// Runs the lines of tests/data/goldens (`call -> result`) and tests/data/refusals (`call -> check id`).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "../test_files.h"
#include "meta/context_factory.h"
#include "meta/golden.h"

namespace tare {
namespace {

std::vector<std::filesystem::path> FilesOf(std::string_view folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/data") / folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

template <typename EachLine>
void ForEachLine(std::string_view folder, EachLine each) {
  for (const std::filesystem::path& file : FilesOf(folder)) {
    std::ifstream in(file);
    std::string text;
    for (int number = 1; std::getline(in, text); ++number) {
      if (text.empty() || text[0] == '#') continue;
      const std::string place = file.filename().string() + ":" + std::to_string(number) + ": " + text;
      CAPTURE(place);
      each(text);
    }
  }
}

// Lines we answer differently, with the reasons.
std::set<std::string> Disputes() {
  std::set<std::string> lines;
  std::ifstream in(SourcePath("tests/data/golden-disputes.txt"));
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

void CheckAnswers(std::string_view folder, const std::set<std::string>& disputes) {
  const auto context = MakeContext();
  GoldenChecker checker(*context);
  int lines = 0;
  ForEachLine(folder, [&](const std::string& text) {
    if (disputes.contains(text)) return;
    const auto line = SplitGoldenLine(text);
    REQUIRE(line.ok());
    if (!line->has_value()) return;
    ++lines;
    const GoldenAnswer answer = checker.Check(**line);
    CAPTURE(answer.got);
    CHECK(answer.verdict == GoldenVerdict::kEqual);
  });
  CHECK_GT(lines, 1000);
}

TEST_CASE("recorded answers") { CheckAnswers("goldens", {}); }
TEST_CASE("a sample of what PyTorch and ExecuTorch answered") { CheckAnswers("goldens/sample", Disputes()); }

TEST_CASE("refusals name their check") {
  const auto context = MakeContext();
  REQUIRE(AddOpsFile(*context, "rows.toml", ReadFile(SourcePath("tests/data/refusals/rows.toml"))).ok());
  GoldenChecker checker(*context);
  ForEachLine("refusals", [&](const std::string& text) {
    const size_t arrow = text.rfind(" -> ");
    REQUIRE(arrow != std::string::npos);
    const auto line = SplitGoldenLine(text.substr(0, arrow));
    REQUIRE(line.ok());
    REQUIRE(line->has_value());
    const GoldenAnswer answer = checker.Check(**line);
    CAPTURE(answer.got);
    CHECK(answer.refused);
    CHECK(answer.got.ends_with(" [" + text.substr(arrow + 4) + "]"));
  });
}

}  // namespace
}  // namespace tare
