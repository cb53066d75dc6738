#include "ir/json_text.h"

namespace tare {

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length == 3 && ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0))) return 0;
  if (length == 4 && ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90))) return 0;
  return length;
}

namespace {

// What follows the backslash of a character that has an escape of its own; 0 = it has none.
char EscapeOf(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (const char escape = EscapeOf(text[i]); escape != 0) {
      out += '\\';
      out += escape;
      ++i;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
      ++i;
    } else if (const size_t length = Utf8Length(text.substr(i)); length > 0) {
      out.append(text, i, length);
      i += length;
    } else {
      out += "\xef\xbf\xbd";
      ++i;
    }
  }
  out += '"';
}

void JsonText::Separate() {
  if (needs_comma_) text_ += comma_;
  needs_comma_ = false;
}

void JsonText::OpenBracket(char bracket) {
  Separate();
  text_ += bracket;
}

void JsonText::CloseBracket(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
}

void JsonText::AddRaw(std::string_view token) {
  Separate();
  text_ += token;
  needs_comma_ = true;
}

void JsonText::AddString(std::string_view text) {
  Separate();
  AppendJsonString(text_, text);
  needs_comma_ = true;
}

void JsonText::AddKey(std::string_view name) {
  Separate();
  AppendJsonString(text_, name);
  text_ += colon_;
}

}  // namespace tare
