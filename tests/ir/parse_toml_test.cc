#include "ir/parse_toml.h"

#include <doctest/doctest.h>

#include <string>

namespace tare {
namespace {

TEST_CASE("characters beyond ASCII belong in strings and comments") {
  struct Case {
    std::string text;
    uint32_t line, column;  // of the stray character; 0 = there is none
  };
  for (const auto& [text, line, column] : std::initializer_list<Case>{
           {"", 0, 0},
           {"a = 1 # é\nb = 'é'\nc = \"é\\\"é\"\n", 0, 0},
           {"a = '''\né'é''é''''\n", 0, 0},
           {"a = \"\"\"é\\\"\"\"é\n\"\"\"\n", 0, 0},
           {"\xEF\xBB\xBF"
            "a = 1\n",
            0, 0},
           {"é = 1\n", 1, 1},
           {"\nab\xC2\xA0= 1\n", 2, 3},
           {"a = 1 \xC3\x97\n", 1, 7},
           {"a = 'é' × 2", 1, 9},
           {"\xEF\xB3\xBF.'t'", 1, 1},
           {"a = 'x\nb = é", 2, 5},
           {"a = \"x\\\nb = é", 2, 5},
       }) {
    CAPTURE(text);
    const std::optional<TomlPlace> stray = FindStrayCharacter(text);
    CHECK_EQ(stray.has_value(), line != 0);
    if (stray) {
      CHECK_EQ(stray->line, line);
      CHECK_EQ(stray->column, column);
      const toml::parse_result result = ParseToml(text, "test");
      REQUIRE_FALSE(result);
      CHECK_EQ(result.error().source().begin.line, line);
    }
  }
}

// Every character once in each place; the sanitizers watch the library.
TEST_CASE("no character outside of strings reaches the library") {
  for (uint32_t c = 0x80; c < 0x10000; c += c < 0x3300 || c > 0xF000 ? 1 : 61) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string utf8;
    if (c < 0x800) {
      utf8 = {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
    } else {
      utf8 = {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
              static_cast<char>(0x80 | (c & 63))};
    }
    CHECK_FALSE(ParseToml("a = 1 " + utf8, "test"));
    (void)ParseToml("a = '" + utf8 + "' # " + utf8 + "\n\"" + utf8 + "\" = \"\"\"" + utf8 + "\"\"\"", "test");
  }
}

}  // namespace
}  // namespace tare
