#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// Every block of code in the documents is run by a test, or says why not.
//
// A block counts as run when it is `console` or `sh`, or the content of a file (`<!-- file: NAME -->`) or part of one
// (`<!-- part of: PATH -->`), in a document that tests/house/meson.build gives to transcript_run. All others need
// `<!-- not run: WHY -->` (tests/tools/transcript.h).
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "../test_files.h"
#include "doctest/doctest.h"

namespace {

namespace fs = std::filesystem;

// README.md, CONTRIBUTING.md, docs/*.md and the READMEs of examples; the pages below docs/ops are made of rows.
std::vector<std::string> Documents() {
  std::vector<std::string> paths = {"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(tare::SourcePath("docs"))) {
    if (entry.path().extension() == ".md") paths.push_back("docs/" + entry.path().filename().string());
  }
  for (const auto& entry : fs::recursive_directory_iterator(tare::SourcePath("examples"))) {
    if (entry.path().extension() == ".md")
      paths.push_back(fs::relative(entry.path(), tare::SourcePath("")).generic_string());
  }
  return paths;
}

struct Block {
  int line = 0;
  std::string language;
  bool part = false, excused = false;
};

std::vector<Block> BlocksOf(const std::string& text) {
  std::vector<Block> blocks;
  std::istringstream in(text);
  std::string line;
  Block next;
  bool inside = false;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.starts_with("```")) {
      if (!inside) {
        next.line = number;
        next.language = line.substr(3);
        blocks.push_back(next);
        next = {};
      }
      inside = !inside;
    } else if (!inside) {
      next.part = next.part || line.starts_with("<!-- file: ") || line.starts_with("<!-- part of: ");
      next.excused = next.excused || line.starts_with("<!-- not run: ");
    }
  }
  return blocks;
}

bool IsRun(const Block& block) { return block.part || block.language == "console" || block.language == "sh"; }

}  // namespace

TEST_CASE("every block of code in a document is run, or says why not") {
  const std::string tests = tare::ReadFile(tare::SourcePath("tests/house/meson.build"));
  int run = 0;
  for (const std::string& path : Documents()) {
    const bool listed = tests.find("'" + path + "'") != std::string::npos;
    for (const Block& block : BlocksOf(tare::ReadFile(tare::SourcePath(path)))) {
      if (block.excused) continue;
      const std::string place = path + ":" + std::to_string(block.line);
      if (!IsRun(block)) FAIL_CHECK(place << ": nothing runs this block; say what file it is, or why it is not run");
      if (IsRun(block) && !listed) FAIL_CHECK(place << ": no test runs the blocks of this document");
      ++run;
    }
  }
  CHECK_GT(run, 40);
}

// `[text](path)` of the documents, without anchors and addresses.
TEST_CASE("what documents link to is there") {
  std::vector<std::string> paths = Documents();
  paths.push_back("docs/ops.md");
  for (const std::string& path : paths) {
    const std::string text = tare::ReadFile(tare::SourcePath(path));
    for (size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      std::string target = text.substr(at + 2, text.find(')', at) - at - 2);
      target = target.substr(0, target.find('#'));
      if (target.empty() || target.find("://") != std::string::npos || target.find('\n') != std::string::npos) continue;
      const fs::path file = (tare::SourcePath(path)).parent_path() / target;
      if (!fs::exists(file)) FAIL_CHECK(path << " links to " << target);
    }
  }
}
