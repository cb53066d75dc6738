#include "meta/tosa_spec.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ir/status.h"

namespace tare {
namespace {

constexpr std::array<std::string_view, 2> kPrefixes = {"TOSA-1.0", "TOSA-1.1"};

// What an extension extends, and the first minor version that has it.
struct Extension {
  std::string_view name;
  bool of_int, of_fp;
  int since;
};
constexpr Extension kExtensions[] = {
    {"int16", true, false, 0},
    {"int4", true, false, 0},
    {"var", true, true, 0},
    {"cf", true, true, 0},
    {"bf16", false, true, 0},
    {"fp8e4m3", false, true, 0},
    {"fp8e5m2", false, true, 0},
    {"fft", false, true, 0},
    {"shape", true, true, 1},
    {"int64", true, true, 1},
    {"random", false, true, 1},
    {"mxfp", false, true, 1},
    {"blockscale_ue5m3", false, true, 1},
};

template <typename... Why>
absl::Status Bad(std::string_view spec, const Why&... why) {
  return InvalidError(
      "tosa_spec_c1", "TOSA specification `", spec, "`: ", why...,
      "; write TOSA-1.0 or TOSA-1.1, then +INT, +FP or +INT+FP, then extensions (int16 int4 var cf bf16 "
      "fp8e4m3 fp8e5m2 fft; from 1.1 on shape int64 random mxfp blockscale_ue5m3), +8k, +u55, +u85");
}

}  // namespace

absl::Status CheckTosaSpec(std::string_view spec) {
  std::vector<std::string_view> tokens;
  for (std::string_view rest = spec;; rest.remove_prefix(tokens.back().size() + 1)) {
    tokens.push_back(rest.substr(0, rest.find('+')));
    if (tokens.back().size() == rest.size()) break;
  }
  int minor = -1;
  for (size_t i = 0; i < kPrefixes.size(); ++i) {
    // A patch number may follow: TOSA-1.0.1.
    if (tokens[0] == kPrefixes[i] ||
        (tokens[0].starts_with(kPrefixes[i]) && tokens[0].substr(kPrefixes[i].size()).starts_with(".")))
      minor = static_cast<int>(i);
  }
  if (minor < 0) return Bad(spec, "unknown version");
  const auto count = [&](std::string_view token) { return std::count(tokens.begin() + 1, tokens.end(), token); };
  if (count("INT") + count("FP") == 0) return Bad(spec, "no profile");
  if (count("INT") > 1 || count("FP") > 1) return Bad(spec, "a profile is named twice");
  for (size_t i = 1; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    if (token == "INT" || token == "FP" || token == "8k" || token == "u55" || token == "u85") continue;
    const auto* row = std::find_if(std::begin(kExtensions), std::end(kExtensions),
                                   [&](const Extension& extension) { return extension.name == token; });
    if (row == std::end(kExtensions)) return Bad(spec, "unknown extension ", token);
    if (row->since > minor) return Bad(spec, "extension ", token, " needs TOSA-1.1");
    if (!(row->of_int && count("INT") > 0) && !(row->of_fp && count("FP") > 0)) {
      return Bad(spec, "extension ", token, " is not one of the chosen profile");
    }
  }
  return absl::OkStatus();
}

bool TosaSpecHas(std::string_view spec, std::string_view token) {
  if (token == "1.0" || token == "1.1") return spec.substr(0, 8) == kPrefixes[token == "1.1" ? 1 : 0];
  // Every token stands behind a +; tokens have none.
  for (size_t at = 0; at + token.size() < spec.size(); ++at) {
    if (spec[at] != '+') continue;
    const size_t end = at + 1 + token.size();
    if ((end == spec.size() || spec[end] == '+') && spec.substr(at + 1, token.size()) == token) return true;
  }
  return false;
}

}  // namespace tare
