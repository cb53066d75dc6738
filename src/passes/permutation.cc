#include "passes/permutation.h"

#include <numeric>
#include <utility>

namespace tare {

std::optional<std::vector<int64_t>> PermutationOf(const PermuteOps& ops, Node node) {
  const Op op = node.op();
  if (!ops.IsView(op) && !ops.IsCopy(op)) return std::nullopt;
  const Node self = node.arg("self");
  if (!self.has_value() || !self.is_tensor()) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(self.tensor().shape.size());
  const auto wrap = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  std::vector<int64_t> p(rank);
  std::iota(p.begin(), p.end(), 0);
  if (op == ops.t || op == ops.t_copy) {
    if (rank == 2) std::swap(p[0], p[1]);
    return p;
  }
  if (op == ops.transpose || op == ops.transpose_copy) {
    const std::optional<int64_t> dim0 = node.integer("dim0"), dim1 = node.integer("dim1");
    if (!dim0.has_value() || !dim1.has_value()) return std::nullopt;
    if (rank == 0) return p;
    const int64_t a = wrap(*dim0), b = wrap(*dim1);
    if (a < 0 || b < 0 || a >= rank || b >= rank) return std::nullopt;
    std::swap(p[a], p[b]);
    return p;
  }
  if (!node.has_constant_ints("dims")) return std::nullopt;
  const std::vector<int64_t> dims = node.ints("dims");
  if (static_cast<int64_t>(dims.size()) != rank) return std::nullopt;
  uint64_t seen = 0;
  for (int64_t i = 0; i < rank; ++i) {
    p[i] = wrap(dims[i]);
    if (p[i] < 0 || p[i] >= rank || (seen >> p[i] & 1) != 0) return std::nullopt;
    seen |= uint64_t{1} << p[i];
  }
  return p;
}

}  // namespace tare
