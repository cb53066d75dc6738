// Reading JSON values with the place they stand at, on top of simdjson's DOM.
//
// Only the .cc files of this folder include it. A `Json` knows its path (`graph_module.graph.nodes[3]
// .inputs[0].arg`), which costs nothing until a message needs it. Paths live on the stack: a Json must
// not outlive the Json it was taken from.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/status.h"

namespace tare::pt2 {

inline constexpr size_t kJsonPadding = simdjson::SIMDJSON_PADDING;

struct JsonPath {
  const JsonPath* up = nullptr;
  std::string_view key;  // of an object; or
  int64_t index = -1;    // of an array
};

// Of an element known to be one. By value: a range-for keeps it alive.
inline simdjson::dom::object ObjectOf(simdjson::dom::element element) {
  simdjson::dom::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) object = {};
  return object;
}
inline simdjson::dom::array ArrayOf(simdjson::dom::element element) {
  simdjson::dom::array array;
  if (element.get_array().get(array) != simdjson::SUCCESS) array = {};
  return array;
}

struct Json {
  simdjson::dom::element element;
  JsonPath path;

  Json At(std::string_view key, simdjson::dom::element child) const { return {child, {&path, key, -1}}; }
  Json At(int64_t index, simdjson::dom::element child) const { return {child, {&path, {}, index}}; }

  std::string Where() const;      // "graph_module.graph.nodes[3]"
  std::string_view Kind() const;  // "a string"
  bool is_null() const { return element.is_null(); }
  bool is_string() const { return element.is_string(); }
  bool is_object() const { return element.is_object(); }
  bool is_array() const { return element.is_array(); }

  // Errors of all: InvalidArgument [json_c2] `PATH: found a string, expected an integer`.
  absl::StatusOr<int64_t> Int() const;   // written as an integer, within 64 bits
  absl::StatusOr<double> Float() const;  // also an integer, "Infinity", "-Infinity", "NaN"
  absl::StatusOr<bool> Bool() const;
  absl::StatusOr<std::string_view> String() const;  // lives as long as the document
  absl::StatusOr<simdjson::dom::array> Array() const;
  absl::StatusOr<simdjson::dom::object> Object() const;
  // A union: an object with exactly one key.
  struct Union;
  absl::StatusOr<Union> Tag() const;

  absl::Status Expected(std::string_view what) const;
  template <typename... Parts>
  absl::Status Error(std::string_view check, const Parts&... parts) const {
    return InvalidError(check, Where(), ": ", parts...);
  }
};

struct Json::Union {
  std::string_view tag;
  simdjson::dom::element value;
};

// The fields of an object against a fixed list of names; `found[i]` is that of `names[i]`.
// Errors: [json_c3] a name twice, a required one missing. Unknown names are skipped.
struct JsonField {
  std::string_view name;
  bool required = true;
};
struct FoundFields {
  uint32_t present = 0;  // bit per name
  bool has_unknown = false;
  bool Has(size_t i) const { return (present >> i & 1) != 0; }
};
template <size_t kNames>
struct JsonFields : FoundFields {
  simdjson::dom::element found[kNames];
  // Present and not null.
  bool Given(size_t i) const { return Has(i) && !found[i].is_null(); }
};
// Writes the fields to `found`, one place per name.
absl::StatusOr<FoundFields> FindFields(const Json& json, std::span<const JsonField> names,
                                       std::span<simdjson::dom::element> found);
template <size_t kNames>
absl::StatusOr<JsonFields<kNames>> ReadFields(const Json& json, const JsonField (&names)[kNames]) {
  static_assert(kNames <= 32);
  JsonFields<kNames> fields;
  TARE_ASSIGN_OR_RETURN(static_cast<FoundFields&>(fields), FindFields(json, names, fields.found));
  return fields;
}

// The same value, written with the same order of keys. Nesting is bounded by the parser.
bool SameJson(simdjson::dom::element a, simdjson::dom::element b);

// The text with NaN, Infinity and -Infinity, which old writers put where JSON allows no such number, as the strings
// that stand for them since. Empty when there is none. Cost: one walk over the text.
std::string QuoteBareFloats(std::string_view text);

// One document. The text must stay alive and have kJsonPadding readable bytes behind it, or it is copied.
class JsonDocument {
 public:
  // Errors: InvalidArgument [json_c1] not JSON, not UTF-8, too deep, too long.
  absl::StatusOr<Json> Parse(std::string_view text, size_t slack);

 private:
  simdjson::dom::parser parser_;
};

}  // namespace tare::pt2
