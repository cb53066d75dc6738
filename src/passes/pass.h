// What a pass is.
//
// A pass is stateless and const, so threads share it. It declares what it targets, looks at one node
// and its neighbours, and says what it wants. A rule that does not apply is not an error.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "passes/rewriter.h"

namespace tare {

// One node at a time, in graph order.
class RewritePass {
 public:
  virtual ~RewritePass() = default;
  virtual std::string_view name() const = 0;        // with its options, if it has any
  virtual std::span<const Op> targets() const = 0;  // skipped when none occurs; empty = every node
  virtual absl::Status Rewrite(Node node, Rewriter& rw) const = 0;
};

// Whole-graph work.
class GraphPass {
 public:
  virtual ~GraphPass() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const Op> targets() const = 0;   // skipped when none occurs; empty = always run
  virtual absl::Status Run(Rewriter& rw) const = 0;  // called once per graph of the program
};

// Either of the two.
struct Pass {
  std::shared_ptr<const RewritePass> rewrite;
  std::shared_ptr<const GraphPass> graph;

  Pass() = default;
  Pass(std::shared_ptr<const RewritePass> p) : rewrite(std::move(p)) {}
  Pass(std::shared_ptr<const GraphPass> p) : graph(std::move(p)) {}
  std::string_view name() const { return rewrite ? rewrite->name() : graph->name(); }
  std::span<const Op> targets() const { return rewrite ? rewrite->targets() : graph->targets(); }
};

}  // namespace tare
