// Writes JSON text. Numbers keep all their digits; strings that are not UTF-8 get U+FFFD.
//
//   JsonWriter json;
//   json.Object([&] { json.Field("name", name); json.Key("list"); json.Array([&] { json.Value(1); }); });
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/json_text.h"

namespace tare {

class JsonWriter : public JsonText {
 public:
  JsonWriter() : JsonText(", ", ": ") {}
  template <typename Body>
  void Object(Body body) {
    OpenBracket('{');
    body();
    CloseBracket('}');
  }
  template <typename Body>
  void Array(Body body) {
    OpenBracket('[');
    body();
    CloseBracket(']');
  }
  void Key(std::string_view name) { AddKey(name); }
  void Value(std::string_view text) { AddString(text); }
  void Value(const char* text) { Value(std::string_view(text)); }
  void Value(bool flag) { AddRaw(flag ? "true" : "false"); }
  void Value(double number);
  template <std::integral T>
  requires(!std::same_as<T, bool>) void Value(T number) { AddRaw(std::to_string(number)); }
  void Null() { AddRaw("null"); }
  template <typename T>
  void Field(std::string_view name, const T& value) {
    Key(name);
    Value(value);
  }

  // To stdout, with a newline.
  void Print() const;
};

// The text in quotes, escaped.
std::string JsonQuote(std::string_view text);

}  // namespace tare
