// What a program can be lowered to.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tare {

struct TosaTarget {
  std::string name;      // "ethos-u55-128", "tosa-1.0+int"
  std::string spec;      // "TOSA-1.0+INT+int16"; part of the rule-set id while lowering
  std::string pipeline;  // below pipelines/
};

struct TosaTargetRow {
  std::string_view name, spec, pipeline, doc;
};
// Those with a name of their own; any valid specification is a target as well.
std::span<const TosaTargetRow> TosaTargets();

// `name` in any case: a row's, or a specification `tosa-1.0+int+int16`.
// Errors: NotFound [target_c1] and InvalidArgument [target_c3], of another version than 1.0, naming those there are;
// InvalidArgument [tosa_spec_c1].
absl::StatusOr<TosaTarget> FindTosaTarget(std::string_view name);

}  // namespace tare
