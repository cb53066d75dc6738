// What the passes to TOSA share: the ops they make or look for, looked up once, and what they declare.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/tosa/affine.h"
#include "backends/tosa/tosa_ops.h"
#include "passes/pass.h"

namespace tare {

class TosaRewrite : public RewritePass {
 public:
  TosaRewrite(std::string_view name, const Context& context, std::vector<Op> targets = {})
      : qdq_(context), ops_(context), targets_(std::move(targets)), name_(name) {}
  std::string_view name() const final { return name_; }
  // An op that never occurs when there is none: an empty list would mean every node.
  std::span<const Op> targets() const final { return targets_.empty() ? std::span<const Op>(kNever) : targets_; }

 protected:
  const QdqOps qdq_;
  const TosaOps ops_;
  std::vector<Op> targets_;

 private:
  static constexpr Op kNever[1] = {};
  const std::string_view name_;  // a literal
};

// With a row for each op that says what becomes of it.
template <typename Row>
class TosaTableRewrite : public TosaRewrite {
 protected:
  using TosaRewrite::TosaRewrite;

  // Nothing when the op set lacks `op`.
  void Add(Op op, Row row) {
    if (!op.has_value()) return;
    targets_.push_back(op);
    rows_.push_back(std::move(row));
  }
  const Row& RowOf(Node node) const {
    return rows_[std::find(targets_.begin(), targets_.end(), node.op()) - targets_.begin()];
  }

 private:
  std::vector<Row> rows_;  // pairs with targets_
};

}  // namespace tare
