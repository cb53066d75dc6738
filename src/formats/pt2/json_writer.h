// JSON text as torch.export writes it: integers exact, floats shortest, what JSON has no number for as
// "Infinity", "-Infinity", "NaN".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tare::pt2 {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  JsonWriter& Int(int64_t value);
  JsonWriter& Float(double value);
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  JsonWriter& String(std::string_view value);
  JsonWriter& Raw(std::string_view json);  // one value, already text

  std::string& text() { return text_; }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();
  void Quoted(std::string_view value);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace tare::pt2
