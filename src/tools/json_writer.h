// Writes JSON text. Numbers keep all their digits; strings that are not UTF-8 get U+FFFD.
//
//   JsonWriter json;
//   json.Object([&] { json.Field("name", name); json.Key("list"); json.Array([&] { json.Value(1); }); });
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace tare {

class JsonWriter {
 public:
  template <typename Body>
  void Object(Body body) {
    Open('{');
    body();
    Close('}');
  }
  template <typename Body>
  void Array(Body body) {
    Open('[');
    body();
    Close(']');
  }
  void Key(std::string_view name);
  void Value(std::string_view text);
  void Value(const char* text) { Value(std::string_view(text)); }
  void Value(bool flag) { Raw(flag ? "true" : "false"); }
  void Value(double number);
  template <std::integral T>
  requires(!std::same_as<T, bool>) void Value(T number) { Raw(std::to_string(number)); }
  void Null() { Raw("null"); }
  template <typename T>
  void Field(std::string_view name, const T& value) {
    Key(name);
    Value(value);
  }

  const std::string& text() const { return text_; }
  // To stdout, with a newline.
  void Print() const;

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Raw(std::string_view token);
  void Separate();

  std::string text_;
  bool needs_comma_ = false;
};

// The text in quotes, escaped.
std::string JsonQuote(std::string_view text);

}  // namespace tare
