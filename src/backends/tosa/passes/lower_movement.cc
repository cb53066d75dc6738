#include <algorithm>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"
#include "ir/text.h"
#include "passes/permutation.h"

namespace tare {
namespace {

enum class Move : uint8_t {
  kSame,       // gives what it is given
  kReshape,    // same elements in order, another shape
  kPermute,    // PermutationOf
  kSlice,      // slice, narrow
  kSelect,     // one index of a dim, which goes away
  kTile,       // expand and repeat
  kFlip,       // reversed dims
  kShuffle,    // pixel_shuffle
  kUnshuffle,  // pixel_unshuffle
};

struct MoveRow {
  std::string_view op;
  Move move;
};

constexpr MoveRow kRows[] = {
    {"aten._reshape_alias.default", Move::kReshape},
    {"aten._unsafe_view.default", Move::kReshape},
    {"aten.alias.default", Move::kSame},
    {"aten.alias_copy.default", Move::kSame},
    {"aten.broadcast_to.default", Move::kTile},
    {"aten.clone.default", Move::kSame},
    {"aten.contiguous.default", Move::kSame},
    {"aten.copy.default", Move::kSame},
    {"aten.detach.default", Move::kSame},
    {"aten.detach_copy.default", Move::kSame},
    {"aten.dropout.default", Move::kSame},
    {"aten.expand.default", Move::kTile},
    {"aten.expand_as.default", Move::kTile},
    {"aten.expand_copy.default", Move::kTile},
    {"aten.flatten.using_ints", Move::kReshape},
    {"aten.flip.default", Move::kFlip},
    {"aten.lift_fresh_copy.default", Move::kSame},
    {"aten.narrow.default", Move::kSlice},
    {"aten.permute.default", Move::kPermute},
    {"aten.permute_copy.default", Move::kPermute},
    {"aten.pixel_shuffle.default", Move::kShuffle},
    {"aten.pixel_unshuffle.default", Move::kUnshuffle},
    {"aten.repeat.default", Move::kTile},
    {"aten.reshape.default", Move::kReshape},
    {"aten.select.int", Move::kSelect},
    {"aten.select_copy.int", Move::kSelect},
    {"aten.slice.Tensor", Move::kSlice},
    {"aten.slice_copy.Tensor", Move::kSlice},
    {"aten.squeeze.default", Move::kReshape},
    {"aten.squeeze.dim", Move::kReshape},
    {"aten.squeeze.dims", Move::kReshape},
    {"aten.squeeze_copy.default", Move::kReshape},
    {"aten.squeeze_copy.dim", Move::kReshape},
    {"aten.squeeze_copy.dims", Move::kReshape},
    {"aten.t.default", Move::kPermute},
    {"aten.t_copy.default", Move::kPermute},
    {"aten.transpose.int", Move::kPermute},
    {"aten.transpose_copy.int", Move::kPermute},
    {"aten.unflatten.int", Move::kReshape},
    {"aten.unsqueeze.default", Move::kReshape},
    {"aten.unsqueeze_copy.default", Move::kReshape},
    {"aten.view.default", Move::kReshape},
    {"aten.view_as.default", Move::kReshape},
    {"aten.view_copy.default", Move::kReshape},
    {"dim_order_ops._clone_dim_order.default", Move::kSame},
};

// Writes ops that only move elements of one tensor: RESHAPE, TRANSPOSE, SLICE, TILE, REVERSE.
//
// Integers behind a dequantize are moved as they are; when the quantize behind has other parameters, a rescale follows.
class LowerMovement final : public TosaTableRewrite<Move> {
 public:
  explicit LowerMovement(const Context& context) : TosaTableRewrite("lower-movement", context), permutes_(context) {
    for (const MoveRow& row : kRows) Add(context.ops.Find(row.op), row.move);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Move move = RowOf(node);
    const Node x = node.arg(node.arg("src").has_value() ? "src" : node.arg("self").has_value() ? "self" : "input");
    if (!x.has_value() || !x.is_tensor() || !node.is_tensor()) return absl::OkStatus();
    if (x.tensor().dtype != node.tensor().dtype) return absl::OkStatus();
    if (rw.StorageOf(node).mutated) return absl::OkStatus();
    if (node.flag("train").value_or(false)) return absl::OkStatus();
    const Node arguments[] = {x};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value()) return absl::OkStatus();
    if (site->quantised && !site->inputs[0].q->per_tensor()) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    const Node moved = Apply(emit, move, node, site->inputs[0].value);
    if (emit.ok() && moved.has_value()) FinishMoved(emit, *site, moved);
    return emit.Finish();
  }

 private:
  Node Apply(Emitter& emit, Move move, Node node, Node x) const {
    const std::vector<int64_t> in = emit.ShapeOf(x), out = emit.ShapeOf(node);
    if (!emit.ok()) return Node();
    switch (move) {
      case Move::kSame:
        // Ops that stay may rest on the strides of a dense copy.
        if (x.meta() != node.meta() &&
            (!IsContiguous(emit.rewriter().context(), x.tensor()) || emit.rewriter().StorageOf(node).restrided))
          return Node();
        return in == out ? x : Node();
      case Move::kReshape:
        return emit.Reshape(x, out);
      case Move::kPermute: {
        const auto perms = PermutationOf(permutes_, node);
        return perms.has_value() ? emit.Transpose(x, *perms) : Node();
      }
      case Move::kSlice:
        return Slice(emit, node, x, in, out);
      case Move::kSelect: {
        int64_t dim = node.integer("dim").value_or(0);
        const std::optional<int64_t> index = node.integer("index");
        if (dim < 0) dim += static_cast<int64_t>(in.size());
        if (!index.has_value() || dim < 0 || dim >= static_cast<int64_t>(in.size())) return Node();
        std::vector<int64_t> start(in.size(), 0), size = in;
        start[dim] = *index < 0 ? *index + in[dim] : *index;
        size[dim] = 1;
        return emit.Reshape(emit.Slice(x, start, size), out);
      }
      case Move::kTile: {
        const Node ranked = emit.ToRank(x, out.size());
        const std::vector<int64_t> shape = emit.ShapeOf(ranked);
        if (!emit.ok() || shape.size() != out.size()) return Node();
        std::vector<int64_t> multiples;
        for (size_t i = 0; i < out.size(); ++i) {
          if (shape[i] == 0 || out[i] % shape[i] != 0) return Node();
          multiples.push_back(out[i] / shape[i]);
        }
        if (shape == out) return ranked;
        return emit.Insert(ops_.tile, {{"input1", ranked}, {"multiples", multiples}});
      }
      case Move::kFlip: {
        Node result = x;
        for (int64_t dim : node.ints("dims")) {
          if (dim < 0) dim += static_cast<int64_t>(in.size());
          result = emit.Insert(ops_.reverse, {{"input1", result}, {"axis", dim}});
        }
        return result;
      }
      case Move::kShuffle:
      case Move::kUnshuffle:
        return Shuffle(emit, node, x, in, out, move == Move::kShuffle);
    }
    return Node();
  }

  static Node Slice(Emitter& emit, Node node, Node x, const std::vector<int64_t>& in, const std::vector<int64_t>& out) {
    int64_t dim = node.integer("dim").value_or(0);
    if (dim < 0) dim += static_cast<int64_t>(in.size());
    if (dim < 0 || dim >= static_cast<int64_t>(in.size())) return Node();
    const AttrValue& begin = node.attr("start");
    if (!begin.is_none() && begin.kind != AttrKind::kInt) return Node();
    const int64_t extent = in[dim], step = node.integer("step").value_or(1);
    int64_t first = begin.is_none() ? 0 : begin.integer;
    first = std::clamp<int64_t>(first < 0 ? first + extent : first, 0, extent);
    std::vector<int64_t> start(in.size(), 0), size = in;
    start[dim] = first;
    size[dim] = out[dim];
    if (step == 1 || out[dim] == 0) return emit.Slice(x, start, size);
    // Groups of `step` elements, of which the first is kept; the last group may lack its rest.
    const int64_t whole = (out[dim] - 1) * step + 1, rest = std::min(extent - first, out[dim] * step) - whole;
    if (rest == step - 1) {
      size[dim] = whole + rest;
    } else {
      size[dim] = whole;
    }
    Node part = emit.Slice(x, start, size);
    if (size[dim] == whole) {
      std::vector<int64_t> padding(2 * in.size(), 0);
      padding[2 * dim + 1] = step - 1;
      if (!emit.ok()) return Node();
      const bool floats = IsFloating(x.tensor().dtype);
      part = emit.Insert(
          emit.ops().pad,
          {{"input1", part}, {"padding", padding}, {"value", floats ? AttrValue::Float(0) : AttrValue::Int(0)}});
    }
    std::vector<int64_t> split = out;
    split.insert(split.begin() + dim + 1, step);
    std::vector<int64_t> one = split;
    one[dim + 1] = 1;
    return emit.Reshape(emit.Slice(emit.Reshape(part, split), std::vector<int64_t>(one.size(), 0), one), out);
  }

  // [.., C*r*r, H, W] <-> [.., C, H*r, W*r]
  static Node Shuffle(Emitter& emit, Node node, Node x, const std::vector<int64_t>& in, const std::vector<int64_t>& out,
                      bool up) {
    const int64_t r = node.integer(up ? "upscale_factor" : "downscale_factor").value_or(0);
    if (r < 1 || in.size() < 3) return Node();
    const std::vector<int64_t>& small = up ? in : out;  // has the channels
    const size_t rank = in.size();
    int64_t batch = 1;
    for (size_t i = 0; i + 3 < rank; ++i) batch *= in[i];
    const int64_t channels = small[rank - 3] / (r * r), height = small[rank - 2], width = small[rank - 1];
    if (up) {
      x = emit.Reshape(x, std::vector<int64_t>{batch * channels, r, r, height, width});
      x = emit.Transpose(x, std::vector<int64_t>{0, 3, 1, 4, 2});
    } else {
      x = emit.Reshape(x, std::vector<int64_t>{batch * channels, height, r, width, r});
      x = emit.Transpose(x, std::vector<int64_t>{0, 2, 4, 1, 3});
    }
    return emit.Reshape(x, out);
  }

  PermuteOps permutes_;
};

}  // namespace

absl::StatusOr<Pass> MakeLowerMovement(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerMovement>(context, options);
}

}  // namespace tare
