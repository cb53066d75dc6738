#include <algorithm>
#include <charconv>

#include "ir/notation.h"
#include "ir/status.h"

namespace tare {
namespace {

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

void Cursor::Blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

bool Cursor::AtEnd() {
  Blanks();
  return at_ >= text_.size();
}

char Cursor::Peek() { return AtEnd() ? '\0' : text_[at_]; }

bool Cursor::Take(std::string_view token) {
  Blanks();
  if (text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

bool Cursor::TakeWord(std::string_view word) {
  if (PeekWord() != word) return false;
  at_ += word.size();
  return true;
}

absl::Status Cursor::Expect(std::string_view token) {
  if (Take(token)) return absl::OkStatus();
  return Error(Cat("expected '", token, "'"));
}

std::string_view Cursor::PeekWord() {
  Blanks();
  size_t end = at_;
  while (end < text_.size() && IsWordChar(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

std::string_view Cursor::Word() {
  const std::string_view word = PeekWord();
  at_ += word.size();
  return word;
}

absl::StatusOr<std::string> Cursor::QuotedText() {
  TARE_RETURN_IF_ERROR(Expect("\""));
  std::string out;
  const auto hex = [&](size_t digits, uint32_t& code) {
    const char* end = text_.data() + std::min(at_ + digits, text_.size());
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, code, 16);
    if (error != std::errc() || stop != text_.data() + at_ + digits) return false;
    at_ += digits;
    return true;
  };
  for (;;) {
    if (at_ >= text_.size() || text_[at_] == '\n') return Error("a text without its closing quote");
    const char c = text_[at_++];
    if (c == '"') return out;
    if (c != '\\') {
      out += c;
      continue;
    }
    const char escape = at_ < text_.size() ? text_[at_++] : '\0';
    uint32_t code = 0;
    switch (escape) {
      case '"':
      case '\\':
      case '/':
        out += escape;
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'x':  // one byte
        if (!hex(2, code)) return Error("expected two hexadecimal digits after \\x");
        out += static_cast<char>(code);
        break;
      case 'u':  // one UTF-16 unit, as in JSON
        if (!hex(4, code)) return Error("expected four hexadecimal digits after \\u");
        if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
          uint32_t low = 0;
          at_ += 2;
          if (!hex(4, low) || low < 0xDC00 || low > 0xDFFF) return Error("half of a surrogate pair");
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        AppendUtf8(out, code);
        break;
      default:
        return ErrorAt(at_ - 1, "unknown escape in a text");
    }
  }
}

absl::StatusOr<std::string> Cursor::WordOrQuoted(std::string_view what) {
  if (Peek() == '"') return QuotedText();
  const std::string_view word = Word();
  if (word.empty()) return Error(Cat("expected ", what));
  return std::string(word);
}

std::optional<int64_t> Cursor::TakeInteger() {
  Blanks();
  int64_t value = 0;
  const char* start = text_.data() + at_;
  const auto [stop, error] = std::from_chars(start, text_.data() + text_.size(), value);
  if (error != std::errc()) return std::nullopt;
  at_ += static_cast<size_t>(stop - start);
  return value;
}

absl::StatusOr<int64_t> Cursor::Integer() {
  if (const std::optional<int64_t> value = TakeInteger()) return *value;
  return Error("expected an integer of 64 bits");
}

std::string_view Cursor::Until(std::string_view stops) {
  Blanks();
  int depth = 0;
  size_t end = at_;
  for (; end < text_.size(); ++end) {
    const char c = text_[end];
    if (c == '\n' || c == '#') break;
    if (depth == 0 && stops.find(c) != std::string_view::npos) break;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
  }
  std::string_view found = text_.substr(at_, end - at_);
  at_ = end;
  while (!found.empty() && (found.back() == ' ' || found.back() == '\t' || found.back() == '\r'))
    found.remove_suffix(1);
  return found;
}

absl::Status Cursor::Error(std::string_view what) const { return ErrorAt(at_, what); }

absl::Status Cursor::ErrorAt(size_t offset, std::string_view what) const {
  int line = 1;
  size_t start = 0;
  for (size_t i = 0; i < offset && i < text_.size(); ++i) {
    if (text_[i] != '\n') continue;
    ++line;
    start = i + 1;
  }
  return InvalidError("text_c1", line, ":", std::min(offset, text_.size()) - start + 1, ": ", what);
}

}  // namespace tare
