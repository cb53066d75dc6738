#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "transcript.h"

#include "doctest/doctest.h"

using namespace tare::transcript;

TEST_CASE("output matches with dots for any text and any lines") {
  struct Case {
    std::string_view want, got;
    bool matches;
  };
  for (const auto& [want, got, matches] : std::initializer_list<Case>{
           {"", "", true},
           {"a\nb", "a\nb", true},
           {"a", "a\nb", false},
           {"a\nb", "a", false},
           {"…", "", true},
           {"…\nz", "a\nb\nz", true},
           {"…\nz", "a\nb", false},
           {"took … ms", "took 3.5 ms", true},
           {"took … ms", "took 3.5 s", false},
           {"a…c…e", "abcde", true},
       }) {
    CAPTURE(want);
    CAPTURE(got);
    CHECK_EQ(Matches(SplitLines(want), SplitLines(got)), matches);
  }
}

TEST_CASE("blocks become steps in order") {
  const std::vector<Step> steps = Parse(
      "text\n```console\n$ one\nout\n[exit 3]\n$ two \\\n  more\n```\n"
      "<!-- file: a.txt -->\n```text\nhello\n```\n"
      "<!-- not run: needs a board -->\n```sh\nflash\n```\n"
      "```sh\nx\ny\n```\n<!-- part of: src/a.cc -->\n```cpp\nint a;\n```\n");
  REQUIRE_EQ(steps.size(), 5);
  CHECK_EQ(steps[0].text, "one");
  CHECK_EQ(steps[0].want, std::vector<std::string>{"out"});
  CHECK_EQ(steps[0].want_exit, 3);
  CHECK_EQ(steps[0].line, 3);
  CHECK_EQ(steps[1].text, "two \\\n  more");
  CHECK(steps[2].kind == StepKind::kFile);
  CHECK_EQ(steps[2].path, "a.txt");
  CHECK_EQ(steps[2].text, "hello\n");
  CHECK(steps[3].kind == StepKind::kScript);
  CHECK_EQ(steps[3].text, "x\ny\n");
  CHECK(steps[4].kind == StepKind::kPartOf);
}
