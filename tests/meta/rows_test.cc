// The files of rows as they are written: no rule stands in them twice.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "../test_files.h"
#include "ir/parse_toml.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongRule = 100;  // bytes of expressions and sentences from which a family is worth it

// All texts below `node` but for check ids.
std::string TextOf(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get() + "\n";
  std::string out;
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& item : *array) out += TextOf(item);
  } else if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      if (key.str() != "id") out += std::string(key.str()) + "=" + TextOf(value);
    }
  }
  return out;
}

std::string RuleOf(const toml::table& row) {
  std::string out;
  for (const char* field : {"shape", "dtype", "layout", "offset", "result", "results", "let", "checks"}) {
    if (const toml::node* node = row.get(field)) out += std::string(field) + "=" + TextOf(*node);
  }
  return out;
}

TEST_CASE("no rule is written twice") {
  std::map<std::string, std::string> first;  // where a rule was seen
  int rows = 0;
  for (const auto& entry : fs::directory_iterator(SourcePath("ops"))) {
    if (entry.path().extension() != ".toml") continue;
    const toml::parse_result file = ParseToml(ReadFile(entry.path()), entry.path().string());
    REQUIRE(bool(file));
    for (const char* kind : {"op", "family"}) {
      const toml::table* table = file.table()[kind].as_table();
      if (table == nullptr) continue;
      for (const auto& [key, node] : *table) {
        ++rows;
        const std::string rule = RuleOf(*node.as_table());
        if (rule.size() < kLongRule) continue;
        const std::string name = entry.path().filename().string() + ": " + std::string(key.str());
        const auto [it, fresh] = first.emplace(rule, name);
        if (!fresh) FAIL_CHECK(name << " has the rule of " << it->second << "; give them a family");
      }
    }
  }
  CHECK_GT(rows, 800);
}

}  // namespace
}  // namespace tare
