#include <algorithm>

#include "backends/tosa/constants.h"
#include "backends/tosa/formulas/formula.h"

namespace tare {
namespace {

std::vector<int64_t> StridesOf(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Integers that name places. The FP profile alone neither reshapes nor compares them: there they are computed as f32,
// which holds every place of a tensor of up to 2^24 elements.
class Places {
 public:
  Places(FormulaCall& c, int64_t total) : c_(c) {
    const Node like = c.emit.ok() ? c.emit.Integers("one", DType::kI32, std::vector<int64_t>{1}, kOne) : Node();
    if (!c.emit.ok()) return;
    const bool reshapes =
        c.emit.rewriter().Infer(c.emit.ops().reshape, {{"input1", like}, {"shape", std::vector<int64_t>{1, 1}}}).ok();
    dtype_ = reshapes ? DType::kI32 : DType::kF32;
    if (total > (reshapes ? int64_t{INT32_MAX} : int64_t{1} << 24)) c.Refuse("more places than integers here hold");
  }

  // The index as it is counted here, from 0 where it may count from the end.
  Node Of(Node index, int64_t extent, bool wraps) {
    if (!index.is_tensor() || !IsInteger(index.tensor().dtype)) return c_.Refuse("an index that is no integer");
    const Node place = c_.m.Convert(index, dtype_);
    if (!wraps) return place;
    const Node below = c_.m.Less(place, 0), wrapped = c_.m.Add(place, static_cast<double>(extent));
    return c_.m.Select(below, wrapped, place);
  }
  Node Constant(std::span<const int64_t> shape, std::span<const int64_t> values) {
    if (dtype_ == DType::kI32) return c_.emit.Integers("places", DType::kI32, shape, values);
    return c_.emit.Floats("places", dtype_, shape, std::vector<float>(values.begin(), values.end()));
  }
  // [batch, count] for GATHER and SCATTER, each row the same.
  Node Rows(Node places, int64_t batch) {
    const int64_t count = CountOf(c_.emit.ShapeOf(places));
    const Node row = c_.emit.Reshape(places, std::vector<int64_t>{1, count});
    return c_.emit.Cast(Broadcast(c_.emit, row, std::vector<int64_t>{batch, count}), DType::kI32);
  }

 private:
  static constexpr int64_t kOne[] = {1};
  FormulaCall& c_;
  DType dtype_ = DType::kI32;
};

// An access by one index per dim of `dims`, the others whole: values as [batch, places, row].
struct Access {
  std::vector<int64_t> perms;  // of the values, before
  int64_t batch = 1, places = 1, row = 1;
  Node rows;                    // [batch, count]
  std::vector<int64_t> result;  // shape of what is accessed, values permuted
};

std::optional<Access> ReadAccess(FormulaCall& c, Node values, const std::vector<Node>& list) {
  const std::vector<int64_t> shape = c.emit.ShapeOf(values);
  std::vector<size_t> dims;
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].has_value()) dims.push_back(i);
  if (!c.emit.ok() || dims.empty() || dims.back() >= shape.size()) return std::nullopt;
  const bool together = dims.back() - dims.front() + 1 == dims.size();
  Access access;
  std::vector<int64_t> before, after;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i < list.size() && list[i].has_value()) {
      access.places *= shape[i];
      continue;
    }
    (together && i < dims.front() ? before : after).push_back(static_cast<int64_t>(i));
  }
  for (const int64_t i : before) access.perms.push_back(i);
  for (const size_t i : dims) access.perms.push_back(static_cast<int64_t>(i));
  for (const int64_t i : after) access.perms.push_back(i);
  for (const int64_t i : before) access.batch *= shape[static_cast<size_t>(i)];
  for (const int64_t i : after) access.row *= shape[static_cast<size_t>(i)];

  Places places(c, access.places);
  Node flat;
  int64_t stride = access.places;
  for (const size_t dim : dims) {
    stride /= shape[dim];
    const Node part = c.m.Mul(places.Of(list[dim], shape[dim], true), static_cast<double>(stride));
    flat = flat.has_value() ? c.m.Add(flat, part) : part;
  }
  const std::vector<int64_t> found = c.emit.ShapeOf(flat);
  access.rows = places.Rows(flat, access.batch);
  for (const int64_t i : before) access.result.push_back(shape[static_cast<size_t>(i)]);
  access.result.insert(access.result.end(), found.begin(), found.end());
  for (const int64_t i : after) access.result.push_back(shape[static_cast<size_t>(i)]);
  return access;
}

// The values with those at rows [batch, count] replaced by `input`, [batch, count, row].
Node ScatterRows(FormulaCall& c, Node values, Node rows, Node input) {
  const Op scatter = TosaOps::Find(c.emit.rewriter().context(), "SCATTER");
  const Node put = c.emit.Insert(
      scatter, {{"values_in", Carried(c.emit, values)}, {"indices", rows}, {"input", Carried(c.emit, input)}});
  return c.emit.ok() ? c.m.Convert(put, values.tensor().dtype) : put;
}

Node Index(FormulaCall& c) {
  const Node values = c.Arg("self");
  const std::optional<Access> access = ReadAccess(c, values, c.node.arg_list("indices"));
  if (!access.has_value() || !c.emit.ok()) return c.Refuse("indices that are not there");
  const Node moved = c.emit.Reshape(c.emit.Transpose(values, access->perms),
                                    std::vector<int64_t>{access->batch, access->places, access->row});
  return GatherRows(c.emit, moved, access->rows);
}

// `input` at the places of an access, in `values`.
Node Put(FormulaCall& c, Node values, const Access& access, Node input) {
  const std::vector<int64_t> shape = c.emit.ShapeOf(values);
  const Node moved = c.emit.Transpose(values, access.perms);
  const std::vector<int64_t> moved_shape = c.emit.ShapeOf(moved);
  if (!c.emit.ok()) return Node();
  const int64_t count = CountOf(access.result) / (access.batch * access.row);
  const Node rows =
      c.emit.Reshape(Broadcast(c.emit, input, access.result), std::vector<int64_t>{access.batch, count, access.row});
  const Node flat = c.emit.Reshape(moved, std::vector<int64_t>{access.batch, access.places, access.row});
  const Node put = ScatterRows(c, flat, access.rows, rows);
  std::vector<int64_t> back(access.perms.size());
  for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(access.perms[i])] = static_cast<int64_t>(i);
  return c.emit.Transpose(c.emit.Reshape(put, moved_shape), back);
}

// index_put by one mask, whose dims begin at `first`, is a choice where each true place gets the same value:
// values of the shape [dims before the mask, 1, dims after it], or of the last of these.
Node PutByMask(FormulaCall& c, Node values, Node mask, size_t first) {
  const Node input = c.Replacing("values");
  const std::vector<int64_t> given = c.emit.ShapeOf(input), own = c.emit.ShapeOf(mask);
  if (!c.emit.ok()) return Node();
  const size_t rank = values.tensor().shape.size(), after = rank - first - own.size();
  std::vector<int64_t> where(rank, 1), each = given;
  std::copy(own.begin(), own.end(), where.begin() + static_cast<ptrdiff_t>(first));
  if (given.size() > after) {
    const auto counted = each.begin() + static_cast<ptrdiff_t>(given.size() - after - 1);
    if (*counted != 1) return c.Refuse("several values behind a mask");
    if (own.empty()) {
      each.erase(counted);
    } else {
      each.insert(counted, own.size() - 1, 1);
    }
  }
  return c.m.Select(c.emit.Reshape(mask, where), c.emit.Reshape(input, each), values);
}

Node IndexPut(FormulaCall& c) {
  const Node values = c.Arg("self");
  const std::vector<Node> list = c.node.arg_list("indices");
  if (c.node.flag("accumulate").value_or(false)) return c.Refuse("sums at places");
  const auto given = std::find_if(list.begin(), list.end(), [](Node index) { return index.has_value(); });
  if (given != list.end() && given->tensor().dtype == DType::kBool &&
      std::none_of(given + 1, list.end(), [](Node index) { return index.has_value(); }))
    return PutByMask(c, values, *given, static_cast<size_t>(given - list.begin()));
  const std::optional<Access> access = ReadAccess(c, values, list);
  if (!access.has_value() || !c.emit.ok()) return c.Refuse("indices that are not there");
  return Put(c, values, *access, c.Replacing("values"));
}

// One index tensor along one dim, as a list of indices.
std::vector<Node> Along(FormulaCall& c, std::string_view index) {
  const auto axis = static_cast<size_t>(c.Axis("dim", c.RankOf("self")));
  std::vector<Node> list(axis + 1);
  list[axis] = c.node.arg(index);
  return list;
}
Node IndexSelect(FormulaCall& c) {
  const Node values = c.Arg("self");
  if (values.tensor().shape.empty()) return values;
  const std::optional<Access> access = ReadAccess(c, values, Along(c, "index"));
  if (!access.has_value() || !c.emit.ok()) return c.Refuse("indices that are not there");
  const Node moved = c.emit.Reshape(values, std::vector<int64_t>{access->batch, access->places, access->row});
  return GatherRows(c.emit, moved, access->rows);
}
Node IndexCopy(FormulaCall& c) {
  const std::optional<Access> access = ReadAccess(c, c.Arg("self"), Along(c, "index"));
  if (!access.has_value() || !c.emit.ok()) return c.Refuse("indices that are not there");
  return Put(c, c.Arg("self"), *access, c.Replacing(c.node.arg("source").has_value() ? "source" : "value"));
}
Node Embedding(FormulaCall& c) {
  const std::optional<Access> access = ReadAccess(c, c.Arg("weight"), {c.node.arg("indices")});
  if (!access.has_value() || !c.emit.ok()) return c.Refuse("indices that are not there");
  const Node table = c.emit.Reshape(c.Arg("weight"), std::vector<int64_t>{1, access->places, access->row});
  return GatherRows(c.emit, table, access->rows);
}
Node TakeFlat(FormulaCall& c) {
  const int64_t total = CountOf(c.ShapeOf("self"));
  Places places(c, total);
  const Node rows = places.Rows(places.Of(c.node.arg("index"), total, true), 1);
  const Node flat = c.emit.Reshape(c.Arg("self"), std::vector<int64_t>{1, total, 1});
  return GatherRows(c.emit, flat, rows);
}

// Places of gather and scatter among all elements: the index along one dim, its own coordinates along the others.
Node ElementPlaces(FormulaCall& c, int64_t total) {
  const std::vector<int64_t> shape = c.ShapeOf("self"), own = c.ShapeOf("index"), strides = StridesOf(shape);
  const int64_t count = CountOf(own);
  if (!c.emit.ok() || shape.size() != own.size() || shape.empty()) return c.Refuse("an index of another rank");
  const auto axis = static_cast<size_t>(c.Axis("dim", shape.size()));
  if (count > (int64_t{1} << 24)) return c.Refuse("too many elements");
  std::vector<int64_t> offsets(static_cast<size_t>(count), 0);
  for (size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t d = shape.size(); d-- > 0;) {
      if (d != axis) offsets[i] += rest % own[d] * strides[d];
      rest /= own[d];
    }
  }
  Places places(c, total);
  const Node along = c.m.Mul(places.Of(c.node.arg("index"), shape[axis], true), static_cast<double>(strides[axis]));
  return places.Rows(c.m.Add(along, places.Constant(own, offsets)), 1);
}
Node Gather(FormulaCall& c) {
  const int64_t total = CountOf(c.ShapeOf("self"));
  const Node rows = ElementPlaces(c, total);
  const Node flat = c.emit.Reshape(c.Arg("self"), std::vector<int64_t>{1, total, 1});
  return GatherRows(c.emit, flat, rows);
}
Node Scatter(FormulaCall& c) {
  const std::vector<int64_t> shape = c.ShapeOf("self"), own = c.ShapeOf("index");
  const int64_t total = CountOf(shape), count = CountOf(own);
  const Node rows = ElementPlaces(c, total);
  Node source = c.Replacing(c.node.arg("src").has_value() ? "src" : "value");
  if (c.node.arg("src").has_value()) source = c.emit.Slice(source, std::vector<int64_t>(own.size(), 0), own);
  source = c.emit.Reshape(Broadcast(c.emit, source, own), std::vector<int64_t>{1, count, 1});
  const Node flat = c.emit.Reshape(c.Arg("self"), std::vector<int64_t>{1, total, 1});
  return ScatterRows(c, flat, rows, source);
}

constexpr FormulaRow kRows[] = {
    {"aten.embedding.default", Embedding, kMoves},
    {"aten.gather.default", Gather, kMoves},
    {"aten.index.Tensor", Index, kMoves},
    {"aten.index_copy.default", IndexCopy, kReplaces},
    {"aten.index_fill.int_Scalar", IndexCopy, kReplaces},
    {"aten.index_put.default", IndexPut, kReplaces},
    {"aten.index_select.default", IndexSelect, kMoves},
    {"aten.scatter.src", Scatter, kReplaces},
    {"aten.scatter.value", Scatter, kReplaces},
    {"aten.take.default", TakeFlat, kMoves},
};

}  // namespace

std::span<const FormulaRow> IndexFormulas() { return kRows; }

}  // namespace tare
