// Lines `call -> result | facts # comment`: what an op answers, as text.
//
//   aten.mm.default(f32[2,3], f32[4,5]) -> error
//   aten.add.Tensor(f32[s0,3], f32[s1,3]) -> f32[s0,3] | s0 == s1
//   tosa.CAST.default(i8[2,3], dtype=i32) -> i32[2,3] | spec=TOSA-1.0+INT
//
// Results are compared under the stated facts. Symbols a rule mints are matched with those the line
// names; results that are not the same text are equal when they are equal for many assignments that
// satisfy the facts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/inferrer.h"

namespace tare {

struct GoldenLine {
  std::string call, want, facts, spec;
};
// nullopt for a line without a call. Errors: InvalidArgument [golden_c1].
absl::StatusOr<std::optional<GoldenLine>> SplitGoldenLine(std::string_view text);

enum class GoldenVerdict : uint8_t { kEqual, kDifferent, kUnsupported };

struct GoldenAnswer {
  GoldenVerdict verdict = GoldenVerdict::kDifferent;
  std::string op;   // "" when the call could not be read that far
  std::string got;  // result or `error: …`
  bool refused = false;
};

// Answers lines; one thread.
class GoldenChecker {
 public:
  explicit GoldenChecker(Context& context) : context_(context) {}
  // Compares with `line.want` unless that is empty; then the verdict is kEqual for an answer and
  // kDifferent for a refusal.
  GoldenAnswer Check(const GoldenLine& line);

 private:
  Inferrer& InferrerFor(const std::string& spec);
  Context& context_;
  absl::flat_hash_map<std::string, std::unique_ptr<Inferrer>> inferrers_;
};

}  // namespace tare
