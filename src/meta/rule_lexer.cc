#include "meta/rule_lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "ir/status.h"
#include "meta/rule_code.h"

namespace tare {
namespace {

bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(c) || c == '_'; }

size_t PunctLength(std::string_view rest) {
  for (std::string_view two : {"==", "!=", "<=", ">=", "//"}) {
    if (rest.substr(0, 2) == two) return 2;
  }
  return std::string_view("()[]{},.:+-*/%<>=").find(rest[0]) != std::string_view::npos ? 1 : 0;
}

// End of the number that starts at `at`.
size_t NumberEnd(std::string_view text, size_t at, bool& is_float) {
  size_t end = at;
  while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
  if (end + 1 < text.size() && text[end] == '.' && absl::ascii_isdigit(text[end + 1])) {
    is_float = true;
    ++end;
    while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
    if (exponent < text.size() && absl::ascii_isdigit(text[exponent])) {
      is_float = true;
      end = exponent;
      while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
    }
  }
  return end;
}

}  // namespace

RulePlace PlaceAt(RulePlace place, std::string_view text, size_t offset) {
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++place.line;
      place.column = 0;
    }
    ++place.column;
  }
  return place;
}

absl::StatusOr<std::vector<RuleToken>> LexRule(std::string_view text, RulePlace place) {
  const auto error_at = [&](size_t at, std::string_view what) {
    const RulePlace here = PlaceAt(place, text, at);
    return InvalidError("rule_c2", here.line, ":", here.column, ": ", what);
  };
  if (text.size() > kMaxRuleText) return error_at(0, absl::StrCat("expression longer than ", kMaxRuleText, " bytes"));
  std::vector<RuleToken> tokens;
  size_t at = 0;
  while (true) {
    while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
    RuleToken token;
    token.offset = static_cast<uint32_t>(at);
    if (at == text.size()) {
      tokens.push_back(std::move(token));
      return tokens;
    }
    const char c = text[at];
    if (IsNameStart(c)) {
      size_t end = at;
      while (end < text.size() && IsNamePart(text[end])) ++end;
      token.kind = RuleTokenKind::kName;
      token.text = text.substr(at, end - at);
      at = end;
    } else if (absl::ascii_isdigit(c)) {
      bool is_float = false;
      const size_t end = NumberEnd(text, at, is_float);
      const std::string_view number = text.substr(at, end - at);
      token.kind = is_float ? RuleTokenKind::kFloat : RuleTokenKind::kInt;
      const bool ok = is_float ? absl::SimpleAtod(TextPiece(number), &token.real)
                               : absl::SimpleAtoi(TextPiece(number), &token.integer);
      if (!ok) return error_at(at, absl::StrCat("number ", TextPiece(number), " out of range"));
      at = end;
    } else if (c == '\'' || c == '"') {
      const size_t end = text.find(c, at + 1);
      if (end == std::string_view::npos) return error_at(at, "text without closing quote");
      token.kind = RuleTokenKind::kText;
      token.text = text.substr(at + 1, end - at - 1);
      at = end + 1;
    } else if (const size_t length = PunctLength(text.substr(at)); length > 0) {
      token.kind = RuleTokenKind::kPunct;
      token.text = text.substr(at, length);
      at += length;
    } else {
      if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
        return error_at(at, absl::StrCat("unexpected ", absl::string_view(&text[at], 1)));
      }
      return error_at(at, absl::StrCat("unexpected byte ", static_cast<int>(static_cast<unsigned char>(c))));
    }
    tokens.push_back(std::move(token));
  }
}

}  // namespace tare
