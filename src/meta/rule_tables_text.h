// Compiled rules as C++ source: what the build makes of TOML files.
#pragma once

#include <string>
#include <string_view>

#include "meta/rule_compiler.h"

namespace tare {

// A literal of C++, with quotes and `sv`.
std::string QuotedCpp(std::string_view text);

// A source file with the tables of meta/rule_code.h, and a function of that name which gives them as BuiltinRows.
std::string TablesText(const CompiledRules& rules, std::string_view function, uint64_t hash);

}  // namespace tare
