#include "formats/pt2/utf8.h"

#include <simdjson.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tare::pt2 {

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string Printable(std::string_view text) {
  constexpr size_t kMost = 80;
  const absl::string_view shown(text.data(), std::min(text.size(), kMost));
  if (shown.size() == text.size()) return IsUtf8(text) ? absl::Utf8SafeCEscape(shown) : absl::CEscape(shown);
  return absl::StrCat(absl::CEscape(shown), "… (", text.size(), " bytes)");
}

}  // namespace tare::pt2
