// Rule functions of views. Each gives the tensor seen; `materialise` makes it a copy.
#include <algorithm>
#include <array>
#include <utility>

#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/rule_args.h"
#include "meta/rule_context.h"
#include "meta/sym_int.h"
#include "meta/view.h"

namespace tare {
namespace {

using Values = std::span<const Value>;
using ValueOr = absl::StatusOr<Value>;

ValueOr OfTensor(TensorOr tensor) {
  if (!tensor.ok()) return std::move(tensor).status();
  return Value::Tensor(*tensor);
}

ValueOr View(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> size = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, InferSize(rc, Numel(rc, self.shape), size));
  TARE_ASSIGN_OR_RETURN(const std::optional<std::span<const Dim>> strides, ViewStrides(rc, self, shape));
  if (!strides.has_value()) {
    return InvalidError("view_c1", "strides ", rc.Print(Value::Ints(self.strides)), " of shape ",
                        rc.Print(Value::Ints(self.shape)), " cannot be seen as ", rc.Print(Value::Ints(shape)),
                        "; use reshape or make the tensor contiguous");
  }
  return Value::Tensor(Restrided(rc, self, shape, *strides, self.offset));
}

ValueOr ReshapeFunction(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> size = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  return OfTensor(Reshape(rc, self, size));
}

// A contiguous copy, or one of every tensor of a list.
ValueOr Materialise(RuleContext& rc, Values values) {
  const Value& value = values[0];
  if (value.kind == ValueKind::kList) {
    std::span<Value> copies = rc.NewValues(value.items().size());
    for (size_t i = 0; i < copies.size(); ++i) {
      TARE_ASSIGN_OR_RETURN(copies[i], Materialise(rc, value.items().subspan(i, 1)));
    }
    return Value::List(copies);
  }
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  const TensorMeta* contiguous = rc.Contiguous(self.dtype, self.shape);
  return Value::Tensor(Restrided(rc, self, self.shape, contiguous->strides, Dim::Static(0)));
}

ValueOr PermuteFunction(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> dims = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  if (dims.size() != self.shape.size()) {
    return InvalidError("permute_c1", "dims has ", dims.size(), " entries, the tensor has rank ", self.shape.size());
  }
  TARE_ASSIGN_OR_RETURN(const auto order, WrapDims(rc, dims, self.shape.size()));
  return OfTensor(Permute(rc, self, order));
}

llvm::SmallVector<int64_t, 8> Identity(size_t rank) {
  llvm::SmallVector<int64_t, 8> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(i);
  return order;
}

ValueOr Transpose(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim0 = args.Constant(1), dim1 = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  const size_t rank = self.shape.size();
  TARE_ASSIGN_OR_RETURN(const int64_t first, WrapDim(dim0, rank));
  TARE_ASSIGN_OR_RETURN(const int64_t second, WrapDim(dim1, rank));
  llvm::SmallVector<int64_t, 8> order = Identity(rank);
  if (rank > 0) std::swap(order[first], order[second]);
  return OfTensor(Permute(rc, self, order));
}

ValueOr ReverseDims(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  llvm::SmallVector<int64_t, 8> order = Identity(self.shape.size());
  std::reverse(order.begin(), order.end());
  return OfTensor(Permute(rc, self, order));
}

// The dims named in `source` go to the places named in `destination`, the others keep their order.
ValueOr MoveDims(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> source = args.Ints(1), destination = args.Ints(2);
  TARE_RETURN_IF_ERROR(args.status());
  if (source.size() != destination.size()) {
    return InvalidError("movedim_c1", "source names ", source.size(), " dims, destination ", destination.size());
  }
  const size_t rank = self.shape.size();
  TARE_ASSIGN_OR_RETURN(const auto from, WrapDims(rc, source, rank));
  TARE_ASSIGN_OR_RETURN(const auto to, WrapDims(rc, destination, rank));
  if (rank == 0) return Value::Tensor(&self);
  llvm::SmallVector<int64_t, 8> order(rank, -1);
  llvm::SmallVector<bool, 8> moved(rank, false);
  for (size_t i = 0; i < from.size(); ++i) {
    order[to[i]] = from[i];
    moved[from[i]] = true;
  }
  size_t next = 0;
  for (int64_t& place : order) {
    if (place >= 0) continue;
    while (moved[next]) ++next;
    place = static_cast<int64_t>(next++);
  }
  return OfTensor(Permute(rc, self, order));
}

ValueOr ExpandFunction(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> size = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  return OfTensor(Expand(rc, self, size));
}

ValueOr SliceFunction(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const std::optional<Dim> start = args.MaybeInt(2), end = args.MaybeInt(3);
  const Dim step = args.Int(4);
  TARE_RETURN_IF_ERROR(args.status());
  return OfTensor(Slice(rc, self, dim, start, end, step));
}

ValueOr SelectFunction(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const Dim index = args.Int(2);
  TARE_RETURN_IF_ERROR(args.status());
  return OfTensor(Select(rc, self, dim, index));
}

ValueOr NarrowFunction(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const Dim start = args.Int(2), length = args.Int(3);
  TARE_RETURN_IF_ERROR(args.status());
  return OfTensor(Narrow(rc, self, dim, start, length));
}

// Drops dims of extent 1: all of them, or those of `dims` that have it.
ValueOr Squeeze(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const bool all = args.size() < 2;
  const std::span<const Dim> dims = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  const size_t rank = self.shape.size();
  llvm::SmallVector<bool, 8> candidate(rank, all);
  if (!all) {
    TARE_ASSIGN_OR_RETURN(const auto named, WrapDims(rc, dims, rank));
    for (int64_t dim : named) {
      if (rank > 0) candidate[dim] = true;
    }
  }
  std::span<Dim> shape = rc.NewDims(rank), strides = rc.NewDims(rank);
  size_t kept = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (candidate[i] && rc.EqualOrFalse(self.shape[i], Dim::Static(1))) continue;
    shape[kept] = self.shape[i];
    strides[kept++] = self.strides[i];
  }
  return Value::Tensor(Restrided(rc, self, shape.first(kept), strides.first(kept), self.offset));
}

ValueOr UnsqueezeFunction(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  TARE_RETURN_IF_ERROR(args.status());
  return OfTensor(Unsqueeze(rc, self, dim));
}

// Dims start … end as one.
ValueOr Flatten(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t start = args.Constant(1), end = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  const size_t rank = self.shape.size();
  TARE_ASSIGN_OR_RETURN(const int64_t first, WrapDim(start, rank));
  TARE_ASSIGN_OR_RETURN(const int64_t last, WrapDim(end, rank));
  if (last < first) return InvalidError("flatten_c1", "start_dim ", first, " lies behind end_dim ", last);
  if (rank == 0) return OfTensor(Unsqueeze(rc, self, 0));
  if (first == last) return Value::Tensor(&self);
  const size_t merged = static_cast<size_t>(last - first);
  std::span<Dim> shape = rc.NewDims(rank - merged);
  std::copy(self.shape.begin(), self.shape.begin() + first, shape.begin());
  shape[first] = Numel(rc, self.shape.subspan(first, merged + 1));
  std::copy(self.shape.begin() + last + 1, self.shape.end(), shape.begin() + first + 1);
  return OfTensor(Reshape(rc, self, shape));
}

// Dim `dim` as several, of which one may be -1.
ValueOr Unflatten(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const std::span<const Dim> sizes = args.Ints(2);
  TARE_RETURN_IF_ERROR(args.status());
  const size_t rank = self.shape.size();
  TARE_ASSIGN_OR_RETURN(const int64_t axis, WrapDimOfShaped(dim, rank));
  if (sizes.empty()) return InvalidError("unflatten_c1", "sizes is empty; name at least one extent");
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> inferred, InferSize(rc, self.shape[axis], sizes));
  std::span<Dim> shape = rc.NewDims(rank - 1 + sizes.size());
  std::copy(self.shape.begin(), self.shape.begin() + axis, shape.begin());
  std::copy(inferred.begin(), inferred.end(), shape.begin() + axis);
  std::copy(self.shape.begin() + axis + 1, self.shape.end(), shape.begin() + axis + static_cast<int64_t>(sizes.size()));
  const std::array<Value, 2> call = {Value::Tensor(&self), Value::Ints(shape)};
  return View(rc, call);
}

// tensor_like(x, shape[, strides]): contiguous unless strides are given, with the element type and device of x.
ValueOr TensorLike(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> shape = args.Ints(1);
  const std::span<const Dim> strides = args.size() > 2 ? args.Ints(2) : ContiguousStrides(rc, shape);
  TARE_RETURN_IF_ERROR(args.status());
  if (strides.size() != shape.size()) {
    return InvalidError("tensor_like_c1", strides.size(), " strides for ", shape.size(), " dims");
  }
  return Value::Tensor(Restrided(rc, self, shape, strides, Dim::Static(0)));
}

constexpr RuleFunctionRow kRows[] = {
    {"tensor_like", "tensor_like(x, shape[, strides]) -> tensor",
     "A new tensor with the element type of x, contiguous by default.", 2, 3, TensorLike},
    {"view", "view(x, size) -> tensor", "x seen with that size; refused where its strides do not allow it.", 2, 2,
     View},
    {"reshape", "reshape(x, size) -> tensor", "view(x, size), or a contiguous copy where no view is possible.", 2, 2,
     ReshapeFunction},
    {"materialise", "materialise(x) -> tensor", "A contiguous copy of x, or of every tensor of a list.", 1, 1,
     Materialise},
    {"permute", "permute(x, dims) -> tensor", "Dim i of the result is dim dims[i] of x.", 2, 2, PermuteFunction},
    {"transpose", "transpose(x, dim0, dim1) -> tensor", "x with two dims exchanged.", 3, 3, Transpose},
    {"reverse_dims", "reverse_dims(x) -> tensor", "x with its dims in reverse order.", 1, 1, ReverseDims},
    {"move_dims", "move_dims(x, source, destination) -> tensor",
     "The dims of source at the places of destination, the others in order.", 3, 3, MoveDims},
    {"expand", "expand(x, size) -> tensor", "Dims of extent 1 repeated without a copy; -1 keeps an extent.", 2, 2,
     ExpandFunction},
    {"slice", "slice(x, dim, start, end, step) -> tensor", "x[start:end:step] along dim, bounds wrapped and clamped.",
     5, 5, SliceFunction},
    {"select", "select(x, dim, index) -> tensor", "x[index] along dim, which goes.", 3, 3, SelectFunction},
    {"narrow", "narrow(x, dim, start, length) -> tensor", "length elements from start along dim.", 4, 4,
     NarrowFunction},
    {"squeeze", "squeeze(x[, dims]) -> tensor", "x without its dims of extent 1, or without those of dims.", 1, 2,
     Squeeze},
    {"unsqueeze", "unsqueeze(x, dim) -> tensor", "x with a new dim of extent 1.", 2, 2, UnsqueezeFunction},
    {"flatten", "flatten(x, start, end) -> tensor", "Dims start … end as one.", 3, 3, Flatten},
    {"unflatten", "unflatten(x, dim, sizes) -> tensor", "One dim as several.", 3, 3, Unflatten},
};

}  // namespace

std::span<const RuleFunctionRow> ViewFunctions() { return kRows; }

}  // namespace tare
