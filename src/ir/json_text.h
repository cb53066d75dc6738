// JSON as text: brackets, commas, quotes. What writes JSON is built on it: the reports of the command
// (tools/json_writer.h) and the archives (formats/pt2/json_writer.h), which differ in blanks and numbers.
#pragma once

#include <string>
#include <string_view>

namespace tare {

// Length of the UTF-8 sequence `text` starts with, 1 … 4; 0 when it is not one: overlong forms,
// surrogates and what is above U+10FFFF are none. `text` is not empty.
size_t Utf8Length(std::string_view text);

// The text in quotes, escaped; bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

class JsonText {
 public:
  std::string& text() { return text_; }
  const std::string& text() const { return text_; }

 protected:
  // What stands between values, and between a key and its value.
  constexpr JsonText(std::string_view comma, std::string_view colon) : comma_(comma), colon_(colon) {}
  void OpenBracket(char bracket);
  void CloseBracket(char bracket);
  void AddKey(std::string_view name);
  void AddString(std::string_view text);
  void AddRaw(std::string_view token);  // one value, already text

 private:
  void Separate();
  std::string_view comma_, colon_;
  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace tare
