// What is looked at in a TOML text before the library reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tare {

struct TomlPlace {
  uint32_t line = 1, column = 1;  // columns in characters
};

// The first character beyond ASCII that is neither in a string nor in a comment: TOML 1.0 has no place
// for one, and TOML++ 3.3 runs into undefined behaviour (U+00A1 … U+0499, for one, are taken for
// characters that cannot be) instead of refusing it.
std::optional<TomlPlace> FindStrayCharacter(std::string_view text);

}  // namespace tare
