// Damaged archives are answered as their table says: a curated set always, the whole corpus when it is there.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "../test_files.h"
#include "formats/pt2/pt2.h"
#include "meta/context_factory.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

std::vector<std::vector<std::string>> ReadTable(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    size_t start = 0;
    for (size_t tab; (tab = line.find('\t', start)) != std::string::npos; start = tab + 1)
      cells.push_back(line.substr(start, tab - start));
    cells.push_back(line.substr(start));
    rows.push_back(cells);
  }
  return rows;
}

std::set<std::string> Names(const fs::path& path) {
  std::set<std::string> names;
  for (const auto& row : ReadTable(path)) names.insert(row[0]);
  return names;
}

void CheckFolder(const fs::path& folder) {
  const fs::path data = SourcePath("tests/data");
  const std::set<std::string> by_rules = Names(data / "pt2/broken/by-rules.txt");
  const std::set<std::string> disputed = Names(data / "broken-disputes.tsv");
  const auto rows = ReadTable(folder / "EXPECT.tsv");
  REQUIRE(rows.size() > 1);
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::string& name = rows[i][0];
    if (disputed.contains(name)) continue;
    CAPTURE(name);
    const bool refuse = rows[i].back() == "refuse" && !by_rules.contains(name);
    const auto context = MakeContext();
    const absl::StatusOr<Program> program = ReadPt2(*context, (folder / name).string());
    const std::string message(program.status().message());
    CAPTURE(message);
    CHECK_EQ(program.ok(), !refuse);
    // One line that ends in the check id.
    if (refuse) {
      CHECK(message.find('\n') == std::string::npos);
      CHECK(message.ends_with("]"));
    }
  }
}

TEST_CASE("damaged archives are answered as their table says") { CheckFolder(SourcePath("tests/data/pt2/broken")); }

TEST_CASE("the whole table of damaged archives, when it is there") {
  const fs::path folder = SharedPath("corpus/broken");
  if (fs::exists(folder)) CheckFolder(folder);
}

}  // namespace
}  // namespace tare
