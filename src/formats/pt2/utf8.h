// UTF-8 of names, and names in messages.
#pragma once

#include <string>
#include <string_view>

namespace tare::pt2 {

// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsUtf8(std::string_view text);
// For messages: control characters and broken bytes escaped, at most 80 bytes.
std::string Printable(std::string_view text);

}  // namespace tare::pt2
