// Included directly before <toml++/toml.h>, after all other headers, in every file that reads TOML:
// the library is header-only here, so all must build it the same way.
//
// Its assertions state what a hostile file can break (`[#`), and with NDEBUG they even become
// assumptions of the optimiser. Without them its ordinary errors are reached.
#pragma once

#undef NDEBUG
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 64
#define TOML_ASSERT(expr) static_assert(true)
