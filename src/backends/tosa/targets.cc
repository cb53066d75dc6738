#include "backends/tosa/targets.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ir/status.h"
#include "meta/tosa_spec.h"

namespace tare {
namespace {

constexpr std::string_view kU55 = "TOSA-1.0+INT+int16+int4+u55", kU85 = "TOSA-1.0+INT+int16+int4+cf+u85";

constexpr TosaTargetRow kTargets[] = {
    {"ethos-u55-128", kU55, "ethos-u55", "Ethos-U55, 128 MACs a cycle"},
    {"ethos-u55-256", kU55, "ethos-u55", "Ethos-U55, 256 MACs a cycle"},
    {"ethos-u55-32", kU55, "ethos-u55", "Ethos-U55, 32 MACs a cycle"},
    {"ethos-u55-64", kU55, "ethos-u55", "Ethos-U55, 64 MACs a cycle"},
    {"ethos-u65-256", kU55, "ethos-u55", "Ethos-U65, 256 MACs a cycle"},
    {"ethos-u65-512", kU55, "ethos-u55", "Ethos-U65, 512 MACs a cycle"},
    {"ethos-u85-1024", kU85, "ethos-u85", "Ethos-U85, 1024 MACs a cycle"},
    {"ethos-u85-128", kU85, "ethos-u85", "Ethos-U85, 128 MACs a cycle"},
    {"ethos-u85-2048", kU85, "ethos-u85", "Ethos-U85, 2048 MACs a cycle"},
    {"ethos-u85-256", kU85, "ethos-u85", "Ethos-U85, 256 MACs a cycle"},
    {"ethos-u85-512", kU85, "ethos-u85", "Ethos-U85, 512 MACs a cycle"},
    {"tosa-1.0+fp", "TOSA-1.0+FP", "tosa-fp", "TOSA 1.0, floating point"},
    {"tosa-1.0+int", "TOSA-1.0+INT", "tosa-int", "TOSA 1.0, integers"},
    {"tosa-1.0+int+fp", "TOSA-1.0+INT+FP", "tosa-fp", "TOSA 1.0, integers and floating point"},
    {"tosa-1.0+int+int16", "TOSA-1.0+INT+int16", "tosa-int", "TOSA 1.0, integers and 16-bit activations"},
};

}  // namespace

std::span<const TosaTargetRow> TosaTargets() { return kTargets; }

absl::StatusOr<TosaTarget> FindTosaTarget(std::string_view name) {
  const std::string lower = absl::AsciiStrToLower(TextPiece(name));
  for (const TosaTargetRow& row : kTargets)
    if (row.name == lower) return TosaTarget{lower, std::string(row.spec), std::string(row.pipeline)};
  const auto known = [] {
    std::vector<absl::string_view> names;
    for (const TosaTargetRow& row : kTargets) names.push_back(TextPiece(row.name));
    return absl::StrCat("; known are ", absl::StrJoin(names, ", "), ", and tosa-1.0 with other extensions");
  };
  if (lower.rfind("tosa-", 0) != 0)
    return CheckError(absl::StatusCode::kNotFound, "target_c1",
                      absl::StrCat("unknown target ", TextPiece(name), known()));
  if (!lower.starts_with("tosa-1.0"))
    return InvalidError("target_c3", "target ", name, ": programs are lowered to TOSA 1.0", known());
  // Profiles are in capitals, extensions are not.
  std::vector<std::string> parts = absl::StrSplit(lower, '+');
  bool floats = false;
  for (std::string& part : parts) {
    if (part == "int" || part == "fp") part = absl::AsciiStrToUpper(part);
    floats = floats || part == "FP";
  }
  parts[0] = absl::AsciiStrToUpper(parts[0]);
  TosaTarget target{lower, absl::StrJoin(parts, "+"), floats ? "tosa-fp" : "tosa-int"};
  TARE_RETURN_IF_ERROR(CheckTosaSpec(target.spec));
  return target;
}

}  // namespace tare
