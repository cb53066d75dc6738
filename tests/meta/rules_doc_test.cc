// docs/rules.md lists every function of the language. `TARE_UPDATE_GOLDEN=1` rewrites the list.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "../test_files.h"
#include "meta/function_table.h"

namespace tare {
namespace {

constexpr std::string_view kBegin = "<!-- functions: made by tests/meta/rules_doc_test.cc -->\n";
constexpr std::string_view kEnd = "<!-- end of functions -->\n";

std::string Listing() {
  std::string text = "\n| function | answer |\n|---|---|\n";
  for (const RuleFunctionRow& row : FunctionTable()) {
    text += "| `" + std::string(row.signature) + "` | " + std::string(row.doc) + " |\n";
  }
  return text + "\n";
}

TEST_CASE("the document lists all functions") {
  const std::string path = SourcePath("docs/rules.md").string();
  std::string text = ReadFile(path);
  const size_t begin = text.find(kBegin), end = text.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const size_t first = begin + kBegin.size();
  const char* update = std::getenv("TARE_UPDATE_GOLDEN");
  if (update != nullptr && *update == '1') {
    text.replace(first, end - first, Listing());
    std::ofstream(path) << text;
    return;
  }
  CHECK_EQ(text.substr(first, end - first), Listing());
}

TEST_CASE("functions are described and named once") {
  std::set<std::string_view> names;
  for (const RuleFunctionRow& row : FunctionTable()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.signature.starts_with(row.name));
    CHECK(row.signature.find("->") != std::string_view::npos);
    CHECK(row.doc.ends_with("."));
    const bool implemented = row.function != nullptr;
    CHECK(implemented);
  }
}

}  // namespace
}  // namespace tare
