// Reads TOML of any origin. Included after all other headers, in every file that reads TOML: the
// library is header-only here, so all must build it the same way.
//
// Its assertions state what a hostile file can break (`[#`), and with NDEBUG they even become
// assumptions of the optimiser. Without them its ordinary errors are reached.
#pragma once

#include <optional>
#include <string_view>

#include "ir/toml_scan.h"

#undef NDEBUG
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 64
#define TOML_ASSERT(expr) static_assert(true)

#include <toml++/toml.h>

namespace tare {

// toml::parse, safe for hostile text.
inline toml::parse_result ParseToml(std::string_view text, std::string_view name) {
  if (const std::optional<TomlPlace> stray = FindStrayCharacter(text)) {
    return toml::parse_result(toml::parse_error("character beyond ASCII outside of strings and comments",
                                                toml::source_position{stray->line, stray->column}));
  }
  return toml::parse(text, name);
}

}  // namespace tare
