// Nodes that permute dims, whatever they are called.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/context.h"
#include "passes/node.h"

namespace tare {

struct PermuteOps {
  explicit PermuteOps(const Context& context);
  Op permute, transpose, t;                 // views
  Op permute_copy, transpose_copy, t_copy;  // copies

  bool IsView(Op op) const { return op.has_value() && (op == permute || op == transpose || op == t); }
  bool IsCopy(Op op) const { return op.has_value() && (op == permute_copy || op == transpose_copy || op == t_copy); }
  std::vector<Op> All() const;
};

// Result axis i is input axis p[i], 0 <= p[i] < rank; nothing when the node is no permutation of a
// tensor or is not well-formed.
std::optional<std::vector<int64_t>> PermutationOf(const PermuteOps& ops, Node node);

}  // namespace tare
