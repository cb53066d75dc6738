#include "tools/json_writer.h"

#include <cmath>
#include <cstdio>

#include "absl/strings/str_format.h"

namespace tare {
namespace {

// Length of the UTF-8 sequence `text` starts with; 0 when it is not one.
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

}  // namespace

std::string JsonQuote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i++];
    } else if (c == '\n') {
      out += "\\n";
      ++i;
    } else if (c < 0x20) {
      out += absl::StrFormat("\\u%04x", c);
      ++i;
    } else if (const size_t length = Utf8Length(text.substr(i)); length > 0) {
      out.append(text.substr(i, length));
      i += length;
    } else {
      out += "\xef\xbf\xbd";
      ++i;
    }
  }
  out += '"';
  return out;
}

void JsonWriter::Separate() {
  if (needs_comma_) text_ += ", ";
  needs_comma_ = false;
}

void JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
}

void JsonWriter::Close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::Raw(std::string_view token) {
  Separate();
  text_.append(token);
  needs_comma_ = true;
}

void JsonWriter::Key(std::string_view name) {
  Separate();
  text_ += JsonQuote(name);
  text_ += ": ";
}

void JsonWriter::Value(std::string_view text) { Raw(JsonQuote(text)); }

void JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  Raw(absl::StrFormat("%.17g", number));
}

void JsonWriter::Print() const {
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  std::fputc('\n', stdout);
}

}  // namespace tare
