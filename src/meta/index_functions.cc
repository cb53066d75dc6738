// Rule functions that pick elements by tensors of indices or masks.
#include <algorithm>

#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"
#include "meta/view.h"

namespace tare {
namespace {

const Dim kZero = Dim::Static(0);

std::string Text(RuleContext& rc, Dim dim) { return rc.Print(Value::Int(dim)); }

bool IsMask(DType dtype) { return dtype == DType::kBool || dtype == DType::kU8; }

// A fresh count of selected elements. Small extents teach nothing, as in the exporter.
Dim MintCount(RuleContext& rc, int k, Dim most) {
  const int64_t limit = most.is_static() ? most.value() : rc.syms().RangeOf(most, rc.facts()).max;
  return rc.MintInt(k, 0, limit > 2 ? limit : INT64_MAX);
}

enum class Masks : bool { kRefuse, kAllow };

// What `self[indices]` reads: the picked shape where the indexed dims were, and what it was read from.
struct Picked {
  std::span<const Dim> shape;
  const TensorMeta* source;  // self with the indexed dims replaced by dims of stride 0
  bool has_mask = false;
};

// Source: torch/_meta_registrations.py, meta_index_Tensor.
absl::StatusOr<Picked> Pick(RuleContext& rc, const TensorMeta& self, std::span<const TensorMeta* const> indices,
                            Masks masks) {
  const size_t rank = self.shape.size();
  if (indices.empty()) return InvalidError("index_c1", "there is no index; give at least one");
  // One entry per dim of self: the shape of its index, or nothing where all of the dim is kept.
  llvm::SmallVector<std::optional<std::span<const Dim>>, 8> per_dim;
  Picked picked;
  int minted = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const TensorMeta* index = indices[i];
    if (index == nullptr) {
      per_dim.push_back(std::nullopt);
    } else if (IsMask(index->dtype)) {
      if (masks == Masks::kRefuse) return InvalidError("index_c2", "index ", i, " is a mask; give integers");
      if (index->shape.empty()) return InvalidError("index_c3", "mask ", i, " has no dims");
      picked.has_mask = true;
      std::span<Dim> count = rc.NewDims(1);
      const Dim most = Numel(rc, index->shape);
      count[0] = rc.KnownEqual(most, kZero) ? kZero : MintCount(rc, minted++, most);
      for (size_t k = 0; k < index->shape.size(); ++k) {
        if (per_dim.size() >= rank) return InvalidError("index_c4", "mask ", i, " reaches beyond the tensor's dims");
        TARE_REQUIRE_EQUAL(rc, index->shape[k], self.shape[per_dim.size()],
                           InvalidError("index_c5", "mask ", i, " has extent ", Text(rc, index->shape[k]), " in dim ",
                                        k, ", the tensor has ", Text(rc, self.shape[per_dim.size()])));
        per_dim.push_back(std::span<const Dim>(count));
      }
    } else if (index->dtype == DType::kI64 || index->dtype == DType::kI32) {
      per_dim.push_back(index->shape);
    } else {
      return InvalidError("index_c6", "index ", i, " is ", Name(index->dtype), "; use i64, i32, bool or u8");
    }
  }
  if (per_dim.size() > rank) {
    return InvalidError("index_c7", per_dim.size(), " indices for a tensor of rank ", rank);
  }
  per_dim.resize(rank, std::nullopt);
  std::span<const Dim> common;
  llvm::SmallVector<size_t, 8> indexed, kept;
  for (size_t i = 0; i < rank; ++i) {
    if (!per_dim[i].has_value()) {
      kept.push_back(i);
      continue;
    }
    indexed.push_back(i);
    TARE_ASSIGN_OR_RETURN(common, Broadcast(rc, common, *per_dim[i]));
  }
  // Indexed dims that are not neighbours move to the front.
  const bool adjacent = indexed.empty() || indexed.back() - indexed.front() + 1 == indexed.size();
  const size_t before = adjacent && !indexed.empty() ? indexed.front() : 0;
  llvm::SmallVector<size_t, 8> order(indexed);
  if (adjacent) {
    order.assign(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(before));
    order.append(indexed);
  }
  order.append(kept.begin() + static_cast<ptrdiff_t>(adjacent ? before : 0), kept.end());
  std::span<Dim> shape = rc.NewDims(kept.size() + common.size()), strides = rc.NewDims(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i >= before && i < before + common.size()) {
      shape[i] = common[i - before];
      strides[i] = kZero;
      continue;
    }
    const size_t at = i < before ? i : i - common.size();
    shape[i] = self.shape[kept[at]];
    // Indices without dims leave the strides of the first dims in the exporter's answer, not of the kept ones.
    strides[i] = self.strides[common.empty() ? order[at] : kept[at]];
  }
  picked.shape = shape;
  picked.source = Restrided(rc, self, shape, strides, kZero);
  return picked;
}

// index(x, indices, masks_allowed) -> tensor
absl::StatusOr<Value> Index(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const auto indices = args.Tensors(1);
  const Masks masks = args.Flag(2) ? Masks::kAllow : Masks::kRefuse;
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const Picked picked, Pick(rc, self, indices, masks));
  const bool empty = rc.KnownEqual(Numel(rc, self.shape), kZero);
  const TensorMeta* sources[] = {picked.source};
  const std::span<const Dim> strides =
      empty ? ContiguousStrides(rc, picked.shape) : ElementwiseStrides(rc, picked.shape, sources);
  return Value::Tensor(Restrided(rc, self, picked.shape, strides, kZero));
}

// One number written at one mask fills, and is converted. Source: aten/src/ATen/native/TensorAdvancedIndexing.cpp,
// can_dispatch_to_maskedfill.
bool FillsMask(RuleContext& rc, std::span<const TensorMeta* const> indices, const TensorMeta& written,
               bool accumulate) {
  int masks = 0;
  for (const TensorMeta* index : indices) {
    if (index == nullptr) continue;
    if (index->dtype != DType::kBool && index->dtype != DType::kU8) return false;
    ++masks;
  }
  return masks == 1 && !accumulate && rc.KnownEqual(Numel(rc, written.shape), Dim::Static(1));
}

// index_put(x, indices, values, masks_allowed, accumulate) -> tensor: x after the write.
absl::StatusOr<Value> IndexPut(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const auto indices = args.Tensors(1);
  const TensorMeta& written = args.Tensor(2);
  const Masks masks = args.Flag(3) ? Masks::kAllow : Masks::kRefuse;
  const bool accumulate = args.Flag(4);
  TARE_RETURN_IF_ERROR(args.status());
  if (written.dtype != self.dtype && !FillsMask(rc, indices, written, accumulate)) {
    return InvalidError("index_put_c1", "values are ", Name(written.dtype), ", the tensor ", Name(self.dtype),
                        "; cast the values");
  }
  TARE_ASSIGN_OR_RETURN(const Picked picked, Pick(rc, self, indices, masks));
  // How many elements a mask selects is only known at run time, and so is what may be written.
  if (!picked.has_mask) TARE_RETURN_IF_ERROR(RequireExpandable(rc, written.shape, picked.shape));
  return Value::Tensor(Restrided(rc, self, self.shape, PreserveStrides(rc, self), kZero));
}

// nonzero(x) -> tensor: coordinates, one row each, stored by columns.
absl::StatusOr<Value> Nonzero(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  const Dim numel = Numel(rc, self.shape);
  std::span<Dim> shape = rc.NewDims(2), strides = rc.NewDims(2);
  shape[0] = rc.KnownEqual(numel, kZero) ? kZero : MintCount(rc, 0, numel);
  shape[1] = Dim::Static(static_cast<int64_t>(self.shape.size()));
  strides[0] = Dim::Static(1);
  strides[1] = shape[0];
  TensorMeta result = self;
  result.dtype = DType::kI64;
  return Value::Tensor(Restrided(rc, result, shape, strides, kZero));
}

// fresh_count(most[, least]) -> int: how many of `most` elements are selected at run time.
absl::StatusOr<Value> FreshCount(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::optional<Dim> most = args.MaybeInt(0);
  TARE_RETURN_IF_ERROR(args.status());
  const int64_t least = args.size() > 1 ? args.Constant(1) : 0;
  TARE_RETURN_IF_ERROR(args.status());
  if (most.has_value()) return Value::Int(MintCount(rc, 0, *most));
  return Value::Int(rc.MintInt(0, std::max<int64_t>(least, 0), INT64_MAX));
}

// triangle_size(rows, columns, offset): row i has min(max(i + 1 + offset, 0), columns) of them.
absl::StatusOr<Value> TriangleSize(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const int64_t rows = args.Constant(0), columns = args.Constant(1), offset = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  constexpr int64_t kLimit = int64_t{1} << 31;
  if (rows < 0 || columns < 0 || rows > kLimit || columns > kLimit) {
    return InvalidError("triangle_size_c1", "a matrix of ", rows, " x ", columns, " has no triangle");
  }
  const int64_t diagonal = std::clamp(offset, -kLimit, kLimit);
  // Rows that are empty, then rows that grow by one each, then full rows.
  const int64_t empty = std::clamp<int64_t>(-diagonal, 0, rows);
  const int64_t full_from = std::clamp<int64_t>(columns - diagonal, empty, rows);
  const int64_t growing = full_from - empty;
  const int64_t first = std::max<int64_t>(empty + 1 + diagonal, 0);
  const int64_t size = growing * first + growing * (growing - 1) / 2 + (rows - full_from) * columns;
  return Value::Int(rc.syms().Int(size));
}

constexpr RuleFunctionRow kRows[] = {
    {"index", "index(x, indices, masks) -> tensor", "x[indices]; masks mint a symbol where they are allowed.", 3, 3,
     Index},
    {"index_put", "index_put(x, indices, values, masks, accumulate) -> tensor", "x after x[indices] = values.", 5, 5,
     IndexPut},
    {"nonzero", "nonzero(x) -> tensor", "Coordinates of the elements that are not 0; mints a symbol.", 1, 1, Nonzero},
    {"fresh_count", "fresh_count(most[, least]) -> int",
     "A fresh symbol: how many of `most` elements are selected, at least `least`; none = no bound.", 1, 2, FreshCount},
    {"triangle_size", "triangle_size(rows, columns, offset) -> int",
     "Elements of a matrix that lie on and below a diagonal.", 3, 3, TriangleSize},
};

}  // namespace

std::span<const RuleFunctionRow> IndexFunctions() { return kRows; }

}  // namespace tare
