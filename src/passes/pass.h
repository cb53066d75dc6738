// Passes and the manager that runs pipelines of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/rewriter.h"

namespace tare {

// A pass is stateless and const, so threads share it. It declares what it targets, looks at one
// node and its neighbours, and says what it wants. A rule that does not apply is not an error.
class RewritePass {
 public:
  virtual ~RewritePass() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view doc() const = 0;         // one line for `tare passes`
  virtual std::span<const Op> targets() const = 0;  // empty = every node
  virtual absl::Status Rewrite(Node node, Rewriter& rw) const = 0;
};

// Whole-graph work.
class GraphPass {
 public:
  virtual ~GraphPass() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view doc() const = 0;
  virtual std::span<const Op> targets() const = 0;   // skipped when none of them occurs; empty = always run
  virtual absl::Status Run(Rewriter& rw) const = 0;  // called once per graph of the program
};

}  // namespace tare
