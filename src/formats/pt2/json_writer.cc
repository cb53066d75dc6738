#include "formats/pt2/json_writer.h"

#include <charconv>
#include <cmath>
#include <string>

namespace tare::pt2 {

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
