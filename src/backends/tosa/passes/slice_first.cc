#include <algorithm>
#include <optional>
#include <vector>

#include "backends/tosa/constants.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"

namespace tare {
namespace {

// Slices before a transposition that then has nothing left to move.
//
//   SLICE(TRANSPOSE(%x, p), a, s)               =>  RESHAPE(SLICE(%x, a', s'), s)
//   SLICE(RESHAPE(TRANSPOSE(%x, p), t), a, s)   =>  RESHAPE(SLICE(%x, a', s'), s)      where t keeps the dim
//
// Only slices of one dim, and where all users of the transposition are such, as queries, keys and values that lie side
// by side: then it goes. After layouts are settled, since two transpositions that meet cost nothing either.
class SliceFirst final : public RewritePass {
 public:
  explicit SliceFirst(const Context& context) : ops_(context), targets_{ops_.slice} {}
  std::string_view name() const override { return "slice-first"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const std::optional<Cut> cut = CutOf(node);
    if (!cut.has_value()) return absl::OkStatus();
    const std::vector<Node> users = node.arg("input1").users();
    if (!std::all_of(users.begin(), users.end(), [&](Node user) { return CutOf(user).has_value(); }))
      return absl::OkStatus();
    TARE_ASSIGN_OR_RETURN(
        const Node part,
        rw.InsertBefore(node, ops_.slice, {{"input1", cut->source}, {"start", cut->start}, {"size", cut->size}}));
    rw.SetQuant(part, rw.context().quants.Get(node.quant()));
    return rw.Redefine(node, ops_.reshape, {{"input1", part}, {"shape", node.ints("size")}});
  }

 private:
  // What a slice of a transposition, of one dim, is of its source.
  struct Cut {
    Node source;
    std::vector<int64_t> start, size;
  };

  std::optional<Cut> CutOf(Node slice) const {
    if (slice.op() != ops_.slice || !slice.has_constant_ints("start") || !slice.has_constant_ints("size"))
      return std::nullopt;
    const Node whole = slice.arg("input1");
    const bool reshaped = whole.op() == ops_.reshape;
    const Node moved = reshaped ? whole.arg("input1") : whole;
    if (moved.op() != ops_.transpose || (reshaped && moved.num_uses() != 1)) return std::nullopt;
    const Node source = moved.arg("input");
    const auto shape = StaticShape(whole.tensor()), transposed = StaticShape(moved.tensor()),
               before = StaticShape(source.tensor());
    if (!shape.has_value() || !transposed.has_value() || !before.has_value()) return std::nullopt;
    const std::vector<int64_t> start = slice.ints("start"), size = slice.ints("size");
    const std::optional<size_t> dim = OnlyCut(*shape, size);
    const std::optional<size_t> axis = dim.has_value() ? SameDim(*shape, *dim, *transposed) : std::nullopt;
    if (!axis.has_value()) return std::nullopt;
    const std::vector<int64_t> perms = moved.ints("perms");
    const auto own = static_cast<size_t>(perms[*axis]);
    Cut cut{source, std::vector<int64_t>(before->size(), 0), *before};
    cut.start[own] = start[*dim];
    cut.size[own] = size[*dim];
    if (!MovesOnlyOnes(cut.size, perms)) return std::nullopt;
    return cut;
  }

  static std::optional<size_t> OnlyCut(const std::vector<int64_t>& shape, const std::vector<int64_t>& size) {
    std::optional<size_t> dim;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (size[i] == shape[i]) continue;
      if (dim.has_value()) return std::nullopt;
      dim = i;
    }
    return dim;
  }

  // The dim of `before` that is dim `dim` of `after`, a reshape of it.
  static std::optional<size_t> SameDim(const std::vector<int64_t>& after, size_t dim,
                                       const std::vector<int64_t>& before) {
    int64_t outer = 1, reached = 1;
    for (size_t i = 0; i < dim; ++i) outer *= after[i];
    size_t axis = 0;
    while (axis < before.size() && (reached != outer || before[axis] == 1)) reached *= before[axis++];
    if (axis == before.size() || before[axis] != after[dim]) return std::nullopt;
    return axis;
  }

  TosaOps ops_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeSliceFirst(Context& context, const PassOptions& options) {
  return MakeRewrite<SliceFirst>(context, options);
}

}  // namespace tare
