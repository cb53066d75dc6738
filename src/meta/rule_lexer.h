// Tokens of the expression language.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tare {

enum class RuleTokenKind : uint8_t { kName, kInt, kFloat, kText, kPunct, kEnd };

struct RuleToken {
  RuleTokenKind kind = RuleTokenKind::kEnd;
  std::string_view text;  // name, punctuation, or the text between quotes
  int64_t integer = 0;
  double real = 0;
  uint32_t offset = 0;  // byte of the expression
};

// Tokens point into `text`.
// Errors: InvalidArgument [rule_c2]; the message ends with ` at column N` of the expression.
absl::StatusOr<std::vector<RuleToken>> LexRule(std::string_view text);

}  // namespace tare
