// Runs passes over a program, each as a transaction, and records what each of them did.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "passes/pass.h"
#include "passes/rewriter.h"

namespace tare {

struct PassStats {
  std::string name;
  int64_t ns = 0;
  bool skipped = false;  // none of its targets occurs
  bool changed = false;  // the program is another version
  PassCounters counters;
  int64_t memo_hits = 0, memo_misses = 0;
  std::vector<Refusal> refusals;  // nodes it left as they are, and why
};
// "redefined 1, erased 1, re-inferred 0, cold 1": counts of 0 are left out, but for re-inferred and cold.
std::string StatsLine(const PassCounters& counters);

enum class VerifyWhat : uint8_t { kNothing, kTouched, kAll };

struct RunOptions {
  VerifyWhat verify = VerifyWhat::kTouched;  // after each pass; all graphs at the end unless kNothing
  // Re-infers the whole program after each pass and fails on a value that is not what its rule says.
  bool check_meta = false;
  // Called after each pass that was not skipped. `before` is null unless `keep_before`.
  std::function<absl::Status(const PassStats& stats, const Program& now, const Program* before)> after_pass;
  bool keep_before = false;
  std::span<const NodeId> leave;  // nodes of main that no RewritePass visits
};

// An editing session that runs passes one after the other.
class PassRunner {
 public:
  // `rw` outlives the runner; its program changes with each pass.
  explicit PassRunner(Rewriter& rw, const RunOptions& options = {});
  // An error leaves the program as it was before the pass; its message names the pass.
  absl::StatusOr<PassStats> Run(const Pass& pass);
  absl::Status Finish();  // the check of all graphs

 private:
  absl::Status RunOver(const Pass& pass);
  absl::Status Check();
  Rewriter& rw_;
  const RunOptions options_;
  absl::flat_hash_set<NodeId> leave_;
  int64_t clock_ns_ = 0;  // end of the last pass
};

// All of `passes` in order.
absl::StatusOr<std::vector<PassStats>> RunPasses(Program& program, Inferrer& inferrer, std::span<const Pass> passes,
                                                 const RunOptions& options = {});

}  // namespace tare
