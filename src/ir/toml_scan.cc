#include "ir/toml_scan.h"

namespace tare {
namespace {

struct Scanner {
  std::string_view text;
  size_t at = 0;

  bool Take(std::string_view token) {
    if (!text.substr(at).starts_with(token)) return false;
    at += token.size();
    return true;
  }
  // Past the closing `quote`, or to the end of what can be the string.
  void SkipString(std::string_view quote, bool escapes, bool many_lines) {
    while (at < text.size()) {
      if (!many_lines && text[at] == '\n') return;  // the library refuses it
      if (escapes && text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') {
        at += 2;
      } else if (Take(quote)) {
        // A multi-line string may end in one or two quotes of its own.
        for (int i = 0; many_lines && i < 2; ++i) (void)Take(quote.substr(0, 1));
        return;
      } else {
        ++at;
      }
    }
  }
};

TomlPlace PlaceAt(std::string_view text, size_t at) {
  TomlPlace place;
  for (const char c : text.substr(0, at)) {
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace

std::optional<TomlPlace> FindStrayCharacter(std::string_view text) {
  Scanner scan{text};
  (void)scan.Take("\xEF\xBB\xBF");  // the byte order mark
  while (scan.at < text.size()) {
    if (scan.Take("#")) {
      while (scan.at < text.size() && text[scan.at] != '\n') ++scan.at;
    } else if (scan.Take(R"(""")")) {
      scan.SkipString(R"(""")", true, true);
    } else if (scan.Take("'''")) {
      scan.SkipString("'''", false, true);
    } else if (scan.Take("\"")) {
      scan.SkipString("\"", true, false);
    } else if (scan.Take("'")) {
      scan.SkipString("'", false, false);
    } else if (static_cast<unsigned char>(text[scan.at]) >= 0x80) {
      return PlaceAt(text, scan.at);
    } else {
      ++scan.at;
    }
  }
  return std::nullopt;
}

}  // namespace tare
