#include "formats/pt2/json_writer.h"

#include <charconv>
#include <cmath>

namespace tare::pt2 {

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

void JsonWriter::Separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::Quoted(std::string_view value) {
  static constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        text_ += "\\\"";
        break;
      case '\\':
        text_ += "\\\\";
        break;
      case '\n':
        text_ += "\\n";
        break;
      case '\r':
        text_ += "\\r";
        break;
      case '\t':
        text_ += "\\t";
        break;
      default:
        if (byte < 0x20) {
          text_ += "\\u00";
          text_ += kHex[byte >> 4];
          text_ += kHex[byte & 15];
        } else {
          text_ += c;
        }
    }
  }
  text_ += '"';
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  Quoted(key);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  Separate();
  Quoted(value);
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return Raw({buffer, static_cast<size_t>(result.ptr - buffer)});
}

JsonWriter& JsonWriter::Float(double value) {
  if (std::isnan(value)) return String("NaN");
  if (std::isinf(value)) return String(value > 0 ? "Infinity" : "-Infinity");
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return Raw(text);
}

}  // namespace tare::pt2
