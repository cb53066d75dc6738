#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "tools/json_writer.h"

#include <string_view>

#include "doctest/doctest.h"

using namespace tare;

TEST_CASE("text in JSON is escaped, and what is not UTF-8 replaced") {
  struct Case {
    std::string_view text, want;
  };
  for (const auto& [text, want] : std::initializer_list<Case>{
           {"", R"("")"},
           {"a\"b\\c", R"("a\"b\\c")"},
           {"line\nnext\ttab", R"("line\nnext\ttab")"},
           {std::string_view("\0", 1), R"("\u0000")"},
           {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
           {"\xff", "\"\xef\xbf\xbd\""},
           {"\xc3", "\"\xef\xbf\xbd\""},                                  // cut off
           {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                  // overlong
           {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},  // a surrogate
           {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
       }) {
    CAPTURE(want);
    CHECK_EQ(JsonQuote(text), want);
  }
}

TEST_CASE("values are separated, numbers keep their digits") {
  JsonWriter json;
  json.Object([&] {
    json.Field("max", INT64_MAX);
    json.Field("flag", true);
    json.Field("real", 0.1);
    json.Key("list");
    json.Array([&] {
      json.Value(1);
      json.Array([] {});
      json.Object([] {});
      json.Null();
    });
  });
  CHECK_EQ(json.text(),
           R"({"max": 9223372036854775807, "flag": true, "real": 0.10000000000000001, "list": [1, [], {}, null]})");
}
