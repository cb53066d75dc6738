#include <algorithm>
#include <numeric>

#include "backends/tosa/constants.h"
#include "backends/tosa/formulas/formula.h"
#include "ir/text.h"

namespace tare {
namespace {

Node Reshaped(FormulaCall& c) {
  const Node x = c.Arg(c.node.arg("self").has_value() ? "self" : "a");
  return x.has_value() ? x : c.Refuse("an argument that is no tensor");
}

std::vector<int64_t> Order(size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// movedim: sources go to destinations, the others keep their order.
Node MoveDims(FormulaCall& c) {
  const Node x = c.Arg("self");
  const auto rank = static_cast<int64_t>(c.RankOf("self"));
  std::vector<int64_t> from = c.node.ints("source"), to = c.node.ints("destination");
  if (from.size() != to.size()) return c.Refuse("as many sources as destinations");
  std::vector<int64_t> perms(static_cast<size_t>(rank), -1);
  std::vector<bool> used(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t source = from[i] < 0 ? from[i] + rank : from[i], target = to[i] < 0 ? to[i] + rank : to[i];
    if (source < 0 || source >= rank || target < 0 || target >= rank) return c.Refuse("an axis that is not there");
    perms[static_cast<size_t>(target)] = source;
    used[static_cast<size_t>(source)] = true;
  }
  int64_t next = 0;
  for (int64_t& perm : perms) {
    if (perm >= 0) continue;
    while (used[static_cast<size_t>(next)]) ++next;
    perm = next++;
  }
  return c.emit.Transpose(x, perms);
}
Node SwapDims(FormulaCall& c, std::string_view first, std::string_view second) {
  const size_t rank = c.RankOf("self");
  std::vector<int64_t> perms = Order(rank);
  const auto a = static_cast<size_t>(c.Axis(first, rank)), b = static_cast<size_t>(c.Axis(second, rank));
  if (!c.emit.ok()) return Node();
  std::swap(perms[a], perms[b]);
  return c.emit.Transpose(c.Arg("self"), perms);
}
// All dims, or the last two.
Node TurnDims(FormulaCall& c, bool all) {
  std::vector<int64_t> perms = Order(c.RankOf("self"));
  if (perms.size() < 2) return c.Arg("self");
  std::reverse(all ? perms.begin() : perms.end() - 2, perms.end());
  return c.emit.Transpose(c.Arg("self"), perms);
}

Node Reverse(Emitter& emit, Node x, int64_t axis) {
  return emit.Insert(emit.ops().reverse, {{"input1", x}, {"axis", axis}});
}
Node Rot90(FormulaCall& c) {
  const auto rank = static_cast<int64_t>(c.RankOf("self"));
  std::vector<int64_t> dims = c.node.ints("dims");
  if (dims.size() != 2) return c.Refuse("other than two dims");
  for (int64_t& dim : dims) dim += dim < 0 ? rank : 0;
  const int64_t turns = ((c.node.integer("k").value_or(1) % 4) + 4) % 4;
  Node x = c.Arg("self");
  std::vector<int64_t> perms = Order(static_cast<size_t>(rank));
  std::swap(perms[static_cast<size_t>(dims[0])], perms[static_cast<size_t>(dims[1])]);
  if (turns == 1) return c.emit.Transpose(Reverse(c.emit, x, dims[1]), perms);
  if (turns == 2) return Reverse(c.emit, Reverse(c.emit, x, dims[0]), dims[1]);
  if (turns == 3) return Reverse(c.emit, c.emit.Transpose(x, perms), dims[1]);
  return x;
}

// The two dims go last, as one of which every (columns + 1)th element is taken.
Node Diagonal(FormulaCall& c) {
  const Node x = c.Arg("self");
  const std::vector<int64_t> shape = c.emit.ShapeOf(x);
  const auto first = static_cast<size_t>(c.Axis("dim1", shape.size())),
             second = static_cast<size_t>(c.Axis("dim2", shape.size()));
  const int64_t offset = c.node.integer("offset").value_or(0);
  const std::vector<int64_t> out = c.emit.ShapeOf(c.result);
  if (!c.emit.ok() || first == second) return c.Refuse("one dim twice");
  std::vector<int64_t> perms, merged;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != first && i != second) {
      perms.push_back(static_cast<int64_t>(i));
      merged.push_back(shape[i]);
    }
  perms.push_back(static_cast<int64_t>(first));
  perms.push_back(static_cast<int64_t>(second));
  merged.push_back(shape[first] * shape[second]);
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < out.back(); ++i) {
    const int64_t row = i + std::max<int64_t>(-offset, 0), column = i + std::max<int64_t>(offset, 0);
    picked.push_back(row * shape[second] + column);
  }
  return Take(c.emit, c.emit.Reshape(c.emit.Transpose(x, perms), merged), merged.size() - 1, picked);
}

// `x` where a condition on row and column of the last two dims holds, else 0.
template <typename Holds>
Node Where(FormulaCall& c, Node x, Holds holds) {
  const std::vector<int64_t> shape = c.emit.ShapeOf(c.result);
  if (!c.emit.ok() || shape.size() < 2) return c.Refuse("fewer than two dims");
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (rows > (int64_t{1} << 24) / std::max<int64_t>(columns, 1)) return c.Refuse("too many elements");
  std::vector<int64_t> mask;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) mask.push_back(holds(i, j) ? 1 : 0);
  std::vector<int64_t> mask_shape(shape.size(), 1);
  mask_shape[shape.size() - 2] = rows;
  mask_shape.back() = columns;
  const Node condition = c.emit.Integers("mask", DType::kBool, mask_shape, mask);
  if (c.dtype() == DType::kBool) return c.m.Binary("LOGICAL_AND", condition, x);
  return c.m.Select(condition, x, c.m.Number(x, 0));
}
Node Lower(FormulaCall& c) {
  const int64_t k = c.node.integer("diagonal").value_or(0);
  return Where(c, c.Arg("self"), [k](int64_t i, int64_t j) { return j - i <= k; });
}
Node Upper(FormulaCall& c) {
  const int64_t k = c.node.integer("diagonal").value_or(0);
  return Where(c, c.Arg("self"), [k](int64_t i, int64_t j) { return j - i >= k; });
}
// The last dim on a diagonal of the last two of the result.
Node DiagonalMatrix(FormulaCall& c, int64_t offset) {
  std::vector<int64_t> shape = c.ShapeOf("self");
  const std::vector<int64_t> out = c.emit.ShapeOf(c.result);
  if (!c.emit.ok() || shape.empty() || out.size() != shape.size() + 1) return c.Refuse("a scalar as a diagonal");
  shape.push_back(1);  // along rows
  const int64_t before = std::max<int64_t>(-offset, 0), after = std::max<int64_t>(offset, 0);
  Node x = c.emit.Reshape(c.Arg("self"), shape);
  if (before + after > 0 && c.emit.ok()) {
    std::vector<int64_t> padding(2 * shape.size(), 0);
    padding[2 * shape.size() - 4] = before;
    padding[2 * shape.size() - 3] = after;
    const AttrValue zero = IsFloating(x.tensor().dtype) ? AttrValue::Float(0) : AttrValue::Int(0);
    x = c.emit.Insert(c.emit.ops().pad, {{"input1", x}, {"padding", padding}, {"value", zero}});
  }
  return Where(c, x, [offset](int64_t i, int64_t j) { return j - i == offset; });
}
Node DiagEmbed(FormulaCall& c) {
  const int64_t rank = static_cast<int64_t>(c.RankOf("self")) + 1;
  const int64_t first = c.Axis("dim1", static_cast<size_t>(rank)), second = c.Axis("dim2", static_cast<size_t>(rank));
  if (first != rank - 2 || second != rank - 1) return c.Refuse("a diagonal of other than the last dims");
  return DiagonalMatrix(c, c.node.integer("offset").value_or(0));
}
Node Diag(FormulaCall& c) {
  const int64_t k = c.node.integer("diagonal").value_or(0);
  if (c.RankOf("self") == 1) return DiagonalMatrix(c, k);
  const std::vector<int64_t> shape = c.ShapeOf("self"), out = c.emit.ShapeOf(c.result);
  if (!c.emit.ok()) return Node();
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < out[0]; ++i)
    picked.push_back((i + std::max<int64_t>(-k, 0)) * shape[1] + i + std::max<int64_t>(k, 0));
  return Take(c.emit, c.emit.Reshape(c.Arg("self"), std::vector<int64_t>{shape[0] * shape[1]}), 0, picked);
}

// Windows of `size` elements, `step` apart, along one dim; the elements of a window become the last dim.
Node Unfold(FormulaCall& c) {
  const Node x = c.Arg("self");
  const std::vector<int64_t> shape = c.emit.ShapeOf(x);
  if (shape.empty()) return c.Refuse("windows of a scalar");
  const auto axis = static_cast<size_t>(c.Axis("dimension", shape.size()));
  const int64_t size = c.node.integer("size").value_or(0), step = c.node.integer("step").value_or(1);
  const std::vector<int64_t> out = c.emit.ShapeOf(c.result);
  if (!c.emit.ok() || size < 1 || step < 1) return c.Refuse("empty windows");
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < out[axis]; ++i)
    for (int64_t j = 0; j < size; ++j) picked.push_back(i * step + j);
  std::vector<int64_t> split = shape, perms;
  split[axis] = out[axis];
  split.insert(split.begin() + static_cast<ptrdiff_t>(axis) + 1, size);
  for (size_t i = 0; i < split.size(); ++i)
    if (i != axis + 1) perms.push_back(static_cast<int64_t>(i));
  perms.push_back(static_cast<int64_t>(axis) + 1);
  return c.emit.Transpose(c.emit.Reshape(Take(c.emit, x, axis, picked), split), perms);
}

// Each element `repeats` times in a row.
Node RepeatInterleave(FormulaCall& c) {
  const int64_t repeats = c.node.integer("repeats").value_or(0);
  std::vector<int64_t> shape = c.ShapeOf("self");
  int64_t axis = 0;
  if (c.node.integer("dim").has_value()) {
    axis = c.Axis("dim", shape.size());
  } else {
    shape = {CountOf(shape)};
  }
  if (repeats < 1 || !c.emit.ok()) return c.Refuse("repeats that are not constant");
  shape.insert(shape.begin() + axis + 1, 1);
  const Node x = c.emit.Reshape(c.Arg("self"), shape);
  shape[static_cast<size_t>(axis) + 1] = repeats;
  return Broadcast(c.emit, x, shape);
}

// --- of several tensors
std::vector<Node> Parts(FormulaCall& c) {
  std::vector<Node> parts = c.node.arg_list("tensors");
  if (parts.empty()) parts = c.node.arg_list("self");
  std::vector<Node> full;
  for (const Node part : parts)
    if (part.has_value() && ElementCount(part.tensor()) != int64_t{0}) full.push_back(part);
  return full;
}
Node Join(FormulaCall& c, std::vector<Node> parts, int64_t axis) {
  for (Node& part : parts) part = c.m.Convert(part, c.dtype());
  if (!c.emit.ok() || parts.empty()) return c.Refuse("nothing is joined");
  return c.emit.Concat(parts, axis);
}
Node Cat(FormulaCall& c) { return Join(c, Parts(c), c.Axis("dim", c.emit.ShapeOf(c.result).size())); }
// hstack, vstack, dstack and column_stack, which lift tensors of few dims first.
template <int kAxis>
Node Stack(FormulaCall& c) {
  const size_t rank = c.emit.ShapeOf(c.result).size();
  std::vector<Node> parts;
  for (const Node part : Parts(c)) {
    std::vector<int64_t> shape = c.emit.ShapeOf(part);
    if (!c.emit.ok()) return Node();
    if (shape.size() < rank) {
      const bool column = kAxis == 1 && rank == 2;
      if (column) {
        shape.resize(2, 1);
      } else {
        if (shape.size() < 2) shape.insert(shape.begin(), 2 - shape.size(), 1);
        shape.resize(rank, 1);
      }
    }
    parts.push_back(c.emit.Reshape(part, shape));
  }
  return Join(c, parts, std::min<int64_t>(kAxis, static_cast<int64_t>(rank) - 1));
}
Node Meshgrid(FormulaCall& c) {
  const std::vector<Node> parts = c.node.arg_list("tensors");
  std::vector<int64_t> out = c.emit.ShapeOf(c.result);
  if (c.index < 0 || c.index >= static_cast<int64_t>(parts.size()) || out.size() != parts.size()) return Node();
  auto axis = static_cast<size_t>(c.index);
  const AttrValue& indexing = c.node.attr("indexing");
  if (indexing.kind == AttrKind::kString && indexing.text() == "xy" && axis < 2 && parts.size() > 1) axis = 1 - axis;
  std::vector<int64_t> shape(out.size(), 1);
  shape[axis] = out[axis];
  return Broadcast(c.emit, c.emit.Reshape(parts[static_cast<size_t>(c.index)], shape), out);
}
Node BroadcastTensors(FormulaCall& c) {
  const std::vector<Node> parts = c.node.arg_list("tensors");
  if (c.index < 0 || c.index >= static_cast<int64_t>(parts.size())) return Node();
  return Broadcast(c.emit, parts[static_cast<size_t>(c.index)], c.emit.ShapeOf(c.result));
}
Node Copy(FormulaCall& c) { return Broadcast(c.emit, c.In("src", c.dtype()), c.emit.ShapeOf(c.result)); }
Node Fill(FormulaCall& c) { return Broadcast(c.emit, c.In("value", c.dtype()), c.emit.ShapeOf(c.result)); }

// --- parts replaced
// Places first, first + step, … of dim `axis` are those of `source`.
Node Replaced(FormulaCall& c, Node source, size_t axis, int64_t first, int64_t step, int64_t count) {
  const Node x = c.Arg("self");
  const std::vector<int64_t> shape = c.emit.ShapeOf(x);
  if (!c.emit.ok() || count < 1) return count == 0 ? x : Node();
  if (step == 1) {
    std::vector<Node> parts;
    std::vector<int64_t> start(shape.size(), 0), size = shape;
    size[axis] = first;
    if (first > 0) parts.push_back(c.emit.Slice(x, start, size));
    parts.push_back(source);
    start[axis] = first + count;
    size[axis] = shape[axis] - start[axis];
    if (size[axis] > 0) parts.push_back(c.emit.Slice(x, start, size));
    return Join(c, parts, static_cast<int64_t>(axis));
  }
  std::vector<int64_t> picked, mask, mask_shape(shape.size(), 1);
  for (int64_t i = 0; i < shape[axis]; ++i) {
    const int64_t k = (i - first) / step;
    const bool inside = i >= first && (i - first) % step == 0 && k < count;
    picked.push_back(inside ? k : 0);
    mask.push_back(inside ? 1 : 0);
  }
  mask_shape[axis] = shape[axis];
  const Node condition = c.emit.Integers("mask", DType::kBool, mask_shape, mask);
  return c.m.Select(condition, Take(c.emit, source, axis, picked), x);
}
Node SliceScatter(FormulaCall& c) {
  const std::vector<int64_t> shape = c.ShapeOf("self"), source = c.ShapeOf("src");
  if (!c.emit.ok() || shape.size() != source.size() || shape.empty()) return c.Refuse("another rank");
  const auto axis = static_cast<size_t>(c.Axis("dim", shape.size()));
  const AttrValue& begin = c.node.attr("start");
  if (!begin.is_none() && begin.kind != AttrKind::kInt) return c.Refuse("a start that is not constant");
  const int64_t start = begin.is_none() ? 0 : begin.integer < 0 ? begin.integer + shape[axis] : begin.integer;
  return Replaced(c, c.In("src", c.dtype()), axis, std::clamp<int64_t>(start, 0, shape[axis]),
                  c.node.integer("step").value_or(1), source[axis]);
}
Node SelectScatter(FormulaCall& c) {
  std::vector<int64_t> shape = c.ShapeOf("self");
  const auto axis = static_cast<size_t>(c.Axis("dim", shape.size()));
  const std::optional<int64_t> index = c.node.integer("index");
  if (!index.has_value() || !c.emit.ok()) return c.Refuse("an index that is not constant");
  const int64_t at = *index < 0 ? *index + shape[axis] : *index;
  shape[axis] = 1;
  return Replaced(c, c.emit.Reshape(c.In("src", c.dtype()), shape), axis, at, 1, 1);
}

// One part of a split at given places.
Node SplitAt(FormulaCall& c) {
  const std::vector<int64_t> shape = c.ShapeOf("self"), out = c.emit.ShapeOf(c.result), places = c.node.ints("indices");
  const auto axis = static_cast<size_t>(c.Axis("dim", shape.size()));
  if (!c.emit.ok() || c.index > static_cast<int64_t>(places.size())) return c.Refuse("a part that is not there");
  std::vector<int64_t> start(shape.size(), 0);
  if (c.index > 0) {
    const int64_t place = places[static_cast<size_t>(c.index) - 1];
    start[axis] = std::clamp<int64_t>(place < 0 ? place + shape[axis] : place, 0, shape[axis]);
  }
  return c.emit.Slice(c.Arg("self"), start, out);
}

// Half of a dim, times the sigmoid of the other half.
Node Glu(FormulaCall& c) {
  const std::vector<int64_t> shape = c.ShapeOf("self");
  const auto axis = static_cast<size_t>(c.Axis("dim", shape.size()));
  if (!c.emit.ok()) return Node();
  std::vector<int64_t> start(shape.size(), 0), size = shape;
  size[axis] /= 2;
  const Node value = c.emit.Slice(c.In("self"), start, size);
  start[axis] = size[axis];
  const Node gate = c.emit.Slice(c.In("self"), start, size);
  return c.m.Mul(value, c.m.Unary("SIGMOID", gate));
}

// [N, g * k, …]: channel i of group j goes to place i * g + j.
Node ChannelShuffle(FormulaCall& c) {
  const std::vector<int64_t> shape = c.ShapeOf("self");
  const int64_t groups = c.node.integer("groups").value_or(0);
  if (!c.emit.ok() || groups < 1 || shape.size() < 3 || shape[1] % groups != 0) return c.Refuse("uneven groups");
  int64_t rest = 1;
  for (size_t i = 2; i < shape.size(); ++i) rest *= shape[i];
  const Node split = c.emit.Reshape(c.Arg("self"), std::vector<int64_t>{shape[0], groups, shape[1] / groups, rest});
  return c.emit.Transpose(split, std::vector<int64_t>{0, 2, 1, 3});
}

constexpr FormulaRow kRows[] = {
    {"aten.adjoint.default", [](FormulaCall& c) { return TurnDims(c, false); }, kMoves},
    {"aten.alpha_dropout.default",
     [](FormulaCall& c) { return c.node.flag("train").value_or(true) ? c.Refuse("a random result") : c.Arg("input"); },
     kMoves},
    {"aten.atleast_1d.default", Reshaped, kMoves},
    {"aten.atleast_2d.default", Reshaped, kMoves},
    {"aten.atleast_3d.default", Reshaped, kMoves},
    {"aten.broadcast_tensors.default", BroadcastTensors},
    {"aten.cat.default", Cat},
    {"aten.channel_shuffle.default", ChannelShuffle, kMoves},
    {"aten.column_stack.default", Stack<1>},
    {"aten.concat.default", Cat},
    {"aten.concatenate.default", Cat},
    {"aten.copy.default", Copy},
    {"aten.diag.default", Diag},
    {"aten.diag_embed.default", DiagEmbed},
    {"aten.diagonal.default", Diagonal, kMoves},
    {"aten.diagonal_copy.default", Diagonal, kMoves},
    {"aten.dstack.default", Stack<2>},
    {"aten.feature_dropout.default",
     [](FormulaCall& c) { return c.node.flag("train").value_or(true) ? c.Refuse("a random result") : c.Arg("input"); },
     kMoves},
    {"aten.fill.Scalar", Fill},
    {"aten.fill.Tensor", Fill},
    {"aten.fliplr.default", [](FormulaCall& c) { return Reverse(c.emit, c.Arg("self"), 1); }, kMoves},
    {"aten.flipud.default", [](FormulaCall& c) { return Reverse(c.emit, c.Arg("self"), 0); }, kMoves},
    {"aten.glu.default", Glu},
    {"aten.hstack.default",
     [](FormulaCall& c) { return c.emit.ShapeOf(c.result).size() == 1 ? Stack<0>(c) : Stack<1>(c); }},
    {"aten.mT.default", [](FormulaCall& c) { return TurnDims(c, false); }, kMoves},
    {"aten.matrix_H.default", [](FormulaCall& c) { return TurnDims(c, false); }, kMoves},
    {"aten.meshgrid.default", Meshgrid},
    {"aten.meshgrid.indexing", Meshgrid},
    {"aten.moveaxis.int", MoveDims, kMoves},
    {"aten.moveaxis.intlist", MoveDims, kMoves},
    {"aten.movedim.int", MoveDims, kMoves},
    {"aten.movedim.intlist", MoveDims, kMoves},
    {"aten.numpy_T.default", [](FormulaCall& c) { return TurnDims(c, true); }, kMoves},
    {"aten.ravel.default", Reshaped, kMoves},
    {"aten.repeat_interleave.self_int", RepeatInterleave, kMoves},
    {"aten.reshape_as.default", Reshaped, kMoves},
    {"aten.rot90.default", Rot90, kMoves},
    {"aten.select_scatter.default", SelectScatter},
    {"aten.slice_scatter.default", SliceScatter},
    {"aten.swapaxes.default", [](FormulaCall& c) { return SwapDims(c, "axis0", "axis1"); }, kMoves},
    {"aten.swapdims.default", [](FormulaCall& c) { return SwapDims(c, "dim0", "dim1"); }, kMoves},
    {"aten.tensor_split.indices", SplitAt, kMoves},
    {"aten.tril.default", Lower},
    {"aten.triu.default", Upper},
    {"aten.unfold.default", Unfold, kMoves},
    {"aten.unfold_copy.default", Unfold, kMoves},
    {"aten.vstack.default", Stack<0>},
    {"prims.collapse.default", Reshaped, kMoves},
    {"prims.split_dim.default", Reshaped, kMoves},
    {"prims.view_of.default", Reshaped, kMoves},
};

}  // namespace

std::span<const FormulaRow> MovementFormulas() { return kRows; }

}  // namespace tare
