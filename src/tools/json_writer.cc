#include "tools/json_writer.h"

#include <cmath>
#include <cstdio>

#include "absl/strings/str_format.h"

namespace tare {

std::string JsonQuote(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

void JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  AddRaw(absl::StrFormat("%.17g", number));
}

void JsonWriter::Print() const {
  std::fwrite(text().data(), 1, text().size(), stdout);
  std::fputc('\n', stdout);
}

}  // namespace tare
