// Tokens of the expression language.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tare {

// A position in a file, from 1.
struct RulePlace {
  uint32_t line = 0, column = 0;
};
// `offset` bytes into a text that starts at `place`.
RulePlace PlaceAt(RulePlace place, std::string_view text, size_t offset);

enum class RuleTokenKind : uint8_t { kName, kInt, kFloat, kText, kPunct, kEnd };

struct RuleToken {
  RuleTokenKind kind = RuleTokenKind::kEnd;
  std::string_view text;  // name, punctuation, or the text between quotes
  int64_t integer = 0;
  double real = 0;
  uint32_t offset = 0;  // byte of the expression
};

// Tokens point into `text`.
// Errors: InvalidArgument `LINE:COLUMN: …` [rule_c2], for a text that starts at `place`.
absl::StatusOr<std::vector<RuleToken>> LexRule(std::string_view text, RulePlace place);

}  // namespace tare
