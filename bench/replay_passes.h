// Passes with a known cost, for benchmarks.
#pragma once

#include <utility>
#include <vector>

#include "passes/function_pass.h"
#include "passes/pass_manager.h"

namespace tare::bench {

// Looks at nodes with `targets` (all when empty) and changes nothing.
inline Pass LookPass(std::vector<Op> targets) {
  return MakeFunctionPass(std::move(targets), [](Node node, Rewriter&) {
    return node.num_operands() < 0 ? absl::InternalError("") : absl::OkStatus();
  });
}

// Of every aten.add.Tensor: alpha 1 becomes 2 and the other way round. Metadata stays equal.
inline Pass TogglePass(Op add) {
  return MakeFunctionPass({add}, [](Node node, Rewriter& rw) {
    return rw.Amend(node, {{"alpha", int64_t{node.integer("alpha") == 1 ? 2 : 1}}});
  });
}

inline RunOptions Unverified() {
  RunOptions options;
  options.verify = VerifyWhat::kNothing;
  return options;
}

}  // namespace tare::bench
