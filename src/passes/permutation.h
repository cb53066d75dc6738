// Nodes that permute dims, whatever they are called.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/context.h"
#include "meta/op_names.h"
#include "passes/node.h"

namespace tare {

struct PermuteOps {
  explicit PermuteOps(const Context&) {}
  // Views and copies.
  Op permute = op::aten_permute_default, transpose = op::aten_transpose_int, t = op::aten_t_default;
  Op permute_copy = op::aten_permute_copy_default, transpose_copy = op::aten_transpose_copy_int,
     t_copy = op::aten_t_copy_default;

  bool IsView(Op op) const { return op == permute || op == transpose || op == t; }
  bool IsCopy(Op op) const { return op == permute_copy || op == transpose_copy || op == t_copy; }
  std::vector<Op> All() const { return {permute, transpose, t, permute_copy, transpose_copy, t_copy}; }
};

// Result axis i is input axis p[i], 0 <= p[i] < rank; nothing when the node is no permutation of a
// tensor or is not well-formed.
std::optional<std::vector<int64_t>> PermutationOf(const PermuteOps& ops, Node node);

}  // namespace tare
