#include "formats/pt2/json.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/utf8.h"

namespace tare::pt2 {
namespace {

using simdjson::dom::element_type;

// The four hexadecimal digits after `\u` at `at`, or -1.
int ReadHex(std::string_view text, size_t at) {
  int value = 0;
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return -1;
  const auto [end, error] = std::from_chars(text.data() + at + 2, text.data() + at + 6, value, 16);
  return error == std::errc() && end == text.data() + at + 6 ? value : -1;
}

// Whether `\ud` or `\uD` occurs, without a branch per byte: the compiler makes vectors of it.
bool MayHaveSurrogate(std::string_view text) {
  char found = 0;
  for (size_t i = 2; i < text.size(); ++i) {
    const auto differs = static_cast<char>((text[i - 2] ^ '\\') | (text[i - 1] ^ 'u') | ((text[i] | 0x20) ^ 'd'));
    found |= differs == 0 ? 1 : 0;
  }
  return found != 0;
}

// Whether an escape names half of a surrogate pair alone, which the parser lets pass as three bytes.
bool HasLoneSurrogate(std::string_view text) {
  if (!MayHaveSurrogate(text)) return false;  // as a rule
  for (size_t at = 0; (at = text.find('\\', at)) != text.npos;) {
    const int code = ReadHex(text, at);
    if (code < 0) {
      at += 2;  // another escape
      continue;
    }
    at += 6;
    if (code < 0xD800 || code > 0xDFFF) continue;
    const int next = ReadHex(text, at);
    if (code >= 0xDC00 || next < 0xDC00 || next > 0xDFFF) return true;
    at += 6;
  }
  return false;
}

}  // namespace

std::string Json::Where() const {
  std::vector<const JsonPath*> steps;
  for (const JsonPath* p = &path; p != nullptr; p = p->up) steps.push_back(p);
  std::string text;
  for (size_t i = steps.size(); i-- > 0;) {
    if (steps[i]->index >= 0) {
      absl::StrAppend(&text, "[", steps[i]->index, "]");
    } else if (!steps[i]->key.empty()) {
      absl::StrAppend(&text, text.empty() ? "" : ".", Printable(steps[i]->key));
    }
  }
  return text.empty() ? "top" : text;
}

std::string_view Json::Kind() const {
  switch (element.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::INT64:
      return "an integer";
    case element_type::UINT64:
      return "an integer above 64 bits";
    case element_type::DOUBLE:
      return "a float";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "a boolean";
    case element_type::NULL_VALUE:
      return "null";
  }
  return "?";
}

absl::Status Json::Expected(std::string_view what) const {
  return Error("json_c2", "found ", Kind(), ", expected ", what);
}

absl::StatusOr<int64_t> Json::Int() const {
  if (element.type() != element_type::INT64) return Expected("an integer");
  return element.get_int64().value_unsafe();
}

absl::StatusOr<double> Json::Float() const {
  switch (element.type()) {
    case element_type::DOUBLE:
      return element.get_double().value_unsafe();
    case element_type::INT64:
      return static_cast<double>(element.get_int64().value_unsafe());
    case element_type::UINT64:
      return static_cast<double>(element.get_uint64().value_unsafe());
    case element_type::STRING: {
      const std::string_view text = element.get_string().value_unsafe();
      if (text == "Infinity") return std::numeric_limits<double>::infinity();
      if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
      if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
      return Error("json_c2", "found the string \"", Printable(text), "\", expected a float");
    }
    default:
      return Expected("a float");
  }
}

absl::StatusOr<bool> Json::Bool() const {
  if (element.type() != element_type::BOOL) return Expected("a boolean");
  return element.get_bool().value_unsafe();
}

absl::StatusOr<std::string_view> Json::String() const {
  if (element.type() != element_type::STRING) return Expected("a string");
  return element.get_string().value_unsafe();
}

absl::StatusOr<simdjson::dom::array> Json::Array() const {
  if (element.type() != element_type::ARRAY) return Expected("an array");
  return element.get_array().value_unsafe();
}

absl::StatusOr<simdjson::dom::object> Json::Object() const {
  if (element.type() != element_type::OBJECT) return Expected("an object");
  return element.get_object().value_unsafe();
}

absl::StatusOr<Json::Union> Json::Tag() const {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, Object());
  auto it = object.begin();
  if (it == object.end()) return Error("json_c3", "found an object without keys, expected one tag");
  const Union tag{it.key(), it.value()};
  ++it;
  if (it != object.end())
    return Error("json_c3", "found tags ", Printable(tag.tag), " and ", Printable(it.key()), ", expected one tag");
  return tag;
}

absl::StatusOr<FoundFields> FindFields(const Json& json, std::span<const JsonField> names,
                                       std::span<simdjson::dom::element> found) {
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, json.Object());
  FoundFields fields;
  size_t next = 0;  // writers keep the order of the schema
  for (auto it = object.begin(); it != object.end(); ++it) {
    const std::string_view key = it.key();
    size_t index = next;
    if (index >= names.size() || names[index].name != key) {
      for (index = 0; index < names.size() && names[index].name != key;) ++index;
    }
    if (index == names.size()) {
      fields.has_unknown = true;
      continue;
    }
    if (fields.Has(index)) return json.Error("json_c3", "key ", key, " occurs twice");
    found[index] = it.value();
    fields.present |= 1u << index;
    next = index + 1;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].required && !fields.Has(i)) return json.Error("json_c3", "key ", names[i].name, " is missing");
  }
  return fields;
}

bool SameJson(simdjson::dom::element a, simdjson::dom::element b) {
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case element_type::STRING:
      return a.get_string().value_unsafe() == b.get_string().value_unsafe();
    case element_type::OBJECT: {
      const simdjson::dom::object x = ObjectOf(a), y = ObjectOf(b);
      auto other = y.begin();
      for (auto it = x.begin(); it != x.end(); ++it, ++other) {
        if (other == y.end() || it.key() != other.key() || !SameJson(it.value(), other.value())) return false;
      }
      return other == y.end();
    }
    default:
      return simdjson::minify(a) == simdjson::minify(b);
  }
}

std::string QuoteBareFloats(std::string_view text) {
  static constexpr std::string_view kTokens[] = {"-Infinity", "Infinity", "NaN"};
  std::string quoted;
  size_t copied = 0;
  for (size_t at = 0; (at = text.find_first_of("\"-IN", at)) != text.npos;) {
    if (text[at] == '"') {  // to the end of the string
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
      if (at >= text.size()) break;
      ++at;
      continue;
    }
    const auto token = std::find_if(std::begin(kTokens), std::end(kTokens),
                                    [&](std::string_view t) { return text.substr(at).starts_with(t); });
    if (token == std::end(kTokens)) {
      ++at;
      continue;
    }
    quoted.append(text, copied, at - copied).append("\"").append(*token).append("\"");
    copied = at += token->size();
  }
  return copied == 0 ? quoted : quoted.append(text, copied);
}

absl::StatusOr<Json> JsonDocument::Parse(std::string_view text, size_t slack) {
  if (text.size() > kMaxJsonBytes)
    return InvalidError("json_c1", "JSON of ", text.size(), " bytes, at most ", kMaxJsonBytes, " are read");
  if (text.starts_with("\xEF\xBB\xBF")) return InvalidError("json_c1", "not JSON: starts with a byte order mark");
  if (text.find_first_not_of(" \t\r\n") == text.npos) return InvalidError("json_c1", "not JSON: empty");
  if (HasLoneSurrogate(text)) return InvalidError("json_c1", "not JSON: a lone surrogate in a string");
  simdjson::error_code error = parser_.allocate(text.size(), kMaxJsonDepth);
  if (error) return absl::ResourceExhaustedError(absl::StrCat("JSON of ", text.size(), " bytes: no memory"));
  const auto root = parser_.parse(text.data(), text.size(), slack < kJsonPadding);
  error = root.error();
  if (error) return InvalidError("json_c1", "not JSON: ", simdjson::error_message(error));
  return Json{root.value_unsafe(), {}};
}

}  // namespace tare::pt2
