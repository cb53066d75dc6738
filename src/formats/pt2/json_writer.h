// JSON text as torch.export writes it: integers exact, floats shortest, what JSON has no number for as
// "Infinity", "-Infinity", "NaN".
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/json_text.h"

namespace tare::pt2 {

class JsonWriter : public JsonText {
 public:
  JsonWriter() : JsonText(",", ":") {}
  JsonWriter& BeginObject() { return OpenBracket('{'), *this; }
  JsonWriter& EndObject() { return CloseBracket('}'), *this; }
  JsonWriter& BeginArray() { return OpenBracket('['), *this; }
  JsonWriter& EndArray() { return CloseBracket(']'), *this; }
  JsonWriter& Key(std::string_view key) { return AddKey(key), *this; }
  JsonWriter& Int(int64_t value);
  JsonWriter& Float(double value);
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  JsonWriter& String(std::string_view value) { return AddString(value), *this; }
  JsonWriter& Raw(std::string_view json) { return AddRaw(json), *this; }  // one value, already text
};

}  // namespace tare::pt2
