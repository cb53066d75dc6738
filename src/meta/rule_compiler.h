// Files of op rows (TOML) to tables of rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ir/stores.h"
#include "meta/rule_code.h"
#include "meta/rule_parser.h"

namespace tare {

struct RuleFile {
  std::string name;  // as diagnostics print it
  std::string text;
};

struct CompiledOp {
  std::string name, schema, doc, source;
  uint16_t traits = 0;
  int32_t rule = -1;  // row of `arrays`
  std::string place;  // FILE:LINE:COLUMN of its name
};

struct CompiledRules {
  RuleArrays arrays;
  std::vector<CompiledOp> ops;  // by name
};

// Rules that exist already and that `rule('…')` may name: op name to rule number. The new rows are
// numbered from `first_rule`.
struct KnownRules {
  absl::flat_hash_map<std::string, int32_t> by_name;
  int32_t first_rule = 0;
};

// All files are one namespace; a family is known within its file.
// Errors: as AddOpsFile.
absl::StatusOr<CompiledRules> CompileRules(std::span<const RuleFile> files, const KnownRules& known, StringPool& pool);

}  // namespace tare
