#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// What docs/style.md says and a program can see.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <string>

#include "../test_files.h"
#include "doctest/doctest.h"

namespace {

namespace fs = std::filesystem;

using Line = std::function<void(const std::string& path, int number, const std::string& line)>;

// Every line of every .h and .cc below src/, with the path relative to it.
int ForEachLine(const Line& visit, const char* folder = "src") {
  int files = 0;
  const fs::path src = tare::SourcePath(folder);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc") continue;
    ++files;
    std::ifstream in(entry.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      visit(fs::relative(entry.path(), src).generic_string(), number, line);
    }
  }
  return files;
}

}  // namespace

TEST_CASE("every folder says in a README what it holds") {
  for (const char* folder : {"ops", "pipelines", "src/ir", "src/meta", "src/formats", "src/passes", "src/eval",
                             "src/tools", "src/capi", "include/tare", "tests", "examples"}) {
    CAPTURE(folder);
    CHECK(fs::exists(tare::SourcePath(folder) / "README.md"));
  }
}

TEST_CASE("types are not called manager, helper, util, data or info") {
  const std::regex type(R"(^\s*(class|struct|enum class)\s+\w*(Manager|Helper|Utils?|Data|Info)\b)");
  const int files = ForEachLine([&](const std::string& path, int number, const std::string& line) {
    if (std::regex_search(line, type)) FAIL_CHECK(path << ":" << number << ": " << line);
  });
  CHECK_GT(files, 10);
}

TEST_CASE("third-party headers stay where they belong") {
  ForEachLine([&](const std::string& path, int number, const std::string& line) {
    if (!line.starts_with("#include")) return;
    const auto includes = [&](const char* what) { return line.find(what) != std::string::npos; };
    const std::string place = path + ":" + std::to_string(number) + ": " + line;
    if (includes("<iostream>") && !path.starts_with("tools/")) FAIL_CHECK(place);
    if (includes("Eigen/") && !path.ends_with(".cc")) FAIL_CHECK(place);
    if (includes("CLI/") && path != "tools/main.cc") FAIL_CHECK(place);
    if (includes("simdjson") && !path.starts_with("formats/")) FAIL_CHECK(place);
    if (includes("toml++") && !path.ends_with("ir/parse_toml.h")) FAIL_CHECK(place);
  });
}

TEST_CASE("src/ir and src/meta read no clock and no environment") {
  const std::regex reads(R"(\b(getenv|clock_gettime|gettimeofday|system_clock|steady_clock|std::time)\b)");
  ForEachLine([&](const std::string& path, int number, const std::string& line) {
    if (!path.starts_with("ir/") && !path.starts_with("meta/")) return;
    if (std::regex_search(line, reads)) FAIL_CHECK(path << ":" << number << ": " << line);
  });
}

TEST_CASE("no test measures time: machines are loaded, and bench/ is there for that") {
  const auto visit = [&](const std::string& path, int number, const std::string& line) {
    if (line.starts_with("#include <chrono>")) FAIL_CHECK(path << ":" << number << ": " << line);
  };
  CHECK_GT(ForEachLine(visit, "tests"), 10);
}

TEST_CASE("every header is guarded and starts with what it is for") {
  std::string last;
  ForEachLine([&](const std::string& path, int number, const std::string& line) {
    if (number == 1 && path.ends_with(".h")) {
      last = path;
      if (!line.starts_with("// ")) FAIL_CHECK(path << " starts with no comment");
    }
  });
  CHECK_FALSE(last.empty());
}
