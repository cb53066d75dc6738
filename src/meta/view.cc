#include "meta/view.h"

#include <algorithm>
#include <array>

#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"

namespace tare {
namespace {

// The constant value of a size entry, when it is one.
std::optional<int64_t> StaticValue(RuleContext& rc, Dim dim) { return rc.syms().Constant(dim); }

std::string PrintShape(RuleContext& rc, std::span<const Dim> shape) { return rc.Print(Value::Ints(shape)); }

}  // namespace

absl::StatusOr<int64_t> WrapDim(int64_t dim, size_t rank) {
  const int64_t end = rank == 0 ? 1 : static_cast<int64_t>(rank);
  if (dim < -end || dim >= end) {
    return InvalidError("dim_c1", "dim ", dim, " is not in [", -end, ", ", end - 1, "]; the tensor has rank ", rank);
  }
  return dim < 0 ? dim + end : dim;
}

absl::StatusOr<int64_t> WrapDimOfShaped(int64_t dim, size_t rank) {
  if (rank == 0) return InvalidError("dim_c2", "a tensor without dims has no dim ", dim, "; give it one first");
  return WrapDim(dim, rank);
}

absl::StatusOr<llvm::SmallVector<int64_t, 8>> WrapDims(RuleContext& rc, std::span<const Dim> dims, size_t rank) {
  llvm::SmallVector<int64_t, 8> wrapped(dims.size());
  uint64_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    TARE_ASSIGN_OR_RETURN(const int64_t dim, rc.Concrete(dims[i]));
    TARE_ASSIGN_OR_RETURN(wrapped[i], WrapDim(dim, rank));
    if (wrapped[i] >= kMaxRank || (seen >> wrapped[i] & 1) != 0) {
      return InvalidError("dim_c3", "dim ", wrapped[i], " is named twice in ", PrintShape(rc, dims));
    }
    seen |= uint64_t{1} << wrapped[i];
  }
  return wrapped;
}

absl::StatusOr<std::span<const Dim>> InferSize(RuleContext& rc, Dim numel, std::span<const Dim> size) {
  std::optional<size_t> unknown;
  SymInt product(rc.syms(), int64_t{1});
  bool zero = false;
  for (size_t i = 0; i < size.size(); ++i) {
    const std::optional<int64_t> entry = StaticValue(rc, size[i]);
    if (entry == -1) {
      if (unknown.has_value()) return InvalidError("size_c1", PrintShape(rc, size), " has more than one -1");
      unknown = i;
      continue;
    }
    if (entry.has_value() && *entry < -1) {
      return InvalidError("size_c2", "extent ", *entry, " of ", PrintShape(rc, size), " is negative");
    }
    zero = zero || entry == 0;
    product = product * size[i];
  }
  if (zero) product = SymInt(rc.syms(), int64_t{0});
  const auto differs = [&] {
    return InvalidError("size_c3", PrintShape(rc, size), " does not hold ", rc.Print(Value::Int(numel)),
                        " elements; change the size");
  };
  if (!unknown.has_value()) {
    TARE_REQUIRE_EQUAL(rc, numel, product, differs());
    return size;
  }
  if (rc.KnownEqual(product, Dim::Static(0))) {
    return InvalidError("size_c4", "the -1 of ", PrintShape(rc, size), " may be anything; state the extent");
  }
  std::span<Dim> inferred = rc.NewDims(size.size());
  std::copy(size.begin(), size.end(), inferred.begin());
  const SymInt total(rc.syms(), numel);
  TARE_REQUIRE_EQUAL(rc, Mod(total, product), Dim::Static(0), differs());
  inferred[*unknown] = FloorDiv(total, product);
  return std::span<const Dim>(inferred);
}

absl::StatusOr<std::optional<std::span<const Dim>>> ViewStrides(RuleContext& rc, const TensorMeta& self,
                                                                std::span<const Dim> shape) {
  SymStore& syms = rc.syms();
  if (self.shape.size() == shape.size() && std::equal(shape.begin(), shape.end(), self.shape.begin())) {
    return self.strides;
  }
  if (IsContiguous(rc, self)) {
    const std::span<const Dim> contiguous = ContiguousStrides(rc, shape);
    // Equal leading dims keep their strides: as numbers they are the same, as expressions simpler.
    size_t kept = 0;
    while (kept < shape.size() && kept < self.shape.size() && shape[kept] == self.shape[kept]) ++kept;
    if (kept == 0 || std::ranges::all_of(contiguous, [](Dim dim) { return dim.is_static(); })) return contiguous;
    std::span<Dim> mixed = rc.NewDims(shape.size());
    std::copy(contiguous.begin(), contiguous.end(), mixed.begin());
    std::copy_n(self.strides.begin(), kept, mixed.begin());
    return mixed;
  }
  // Walks the source from the right and gathers chunks that lie evenly in storage; each chunk is
  // used up by target extents before the next begins.
  std::span<Dim> strides = rc.NewDims(shape.size());
  size_t target = shape.size();
  SymInt base(syms, self.strides.back());
  SymInt chunk(syms, int64_t{1});
  SymInt used(syms, int64_t{1});
  for (size_t i = self.shape.size(); i-- > 0;) {
    chunk = chunk * self.shape[i];
    if (i > 0 &&
        (rc.EqualOrFalse(self.shape[i - 1], Dim::Static(1)) || rc.EqualOrFalse(self.strides[i - 1], chunk * base))) {
      continue;
    }
    while (target > 0) {
      if (!rc.EqualOrFalse(shape[target - 1], Dim::Static(1))) {
        if (rc.KnownEqual(used, chunk)) break;
        TARE_ASSIGN_OR_RETURN(const bool more, rc.Less(used, chunk));
        if (!more) break;
      }
      --target;
      strides[target] = used * base;
      used = used * shape[target];
    }
    TARE_ASSIGN_OR_RETURN(const bool exact, rc.Equal(used, chunk));
    if (!exact) return std::nullopt;
    if (i > 0) {
      base = SymInt(syms, self.strides[i - 1]);
      chunk = SymInt(syms, int64_t{1});
      used = SymInt(syms, int64_t{1});
    }
  }
  if (target != 0) return std::nullopt;
  return strides;
}

const TensorMeta* Restrided(RuleContext& rc, const TensorMeta& self, std::span<const Dim> shape,
                            std::span<const Dim> strides, Dim offset) {
  TensorMeta result = self;
  result.shape = shape;
  result.strides = strides;
  result.offset = offset;
  return rc.NewTensor(result);
}

namespace {

// A bound of a slice counted from the front and clamped to the extent; nothing where not even its
// sign is known before run time. Source: torch/_subclasses/fake_impls.py, slice_forward.
std::optional<SymInt> ResolveBound(RuleContext& rc, SymInt extent, Dim bound) {
  SymStore& syms = rc.syms();
  const Dim zero = Dim::Static(0);
  const SymInt from_end = extent + bound;
  const auto both = [&](ExprId x, ExprId y) { return syms.Make(ExprKind::kAnd, std::array{x, y}); };
  const ExprId not_negative = syms.Le(zero, bound), negative = syms.Lt(bound, zero);
  if (rc.OrFalse(both(not_negative, syms.Le(bound, extent)))) return SymInt(syms, bound);
  if (rc.OrFalse(both(negative, syms.Le(zero, from_end)))) return from_end;
  if (rc.OrFalse(syms.Lt(from_end, zero))) return SymInt(syms, zero);
  if (rc.OrFalse(syms.Lt(extent, bound))) return extent;
  if (rc.OrFalse(not_negative)) return Min(SymInt(syms, bound), extent);
  if (rc.OrFalse(negative)) return Max(from_end, zero);
  return std::nullopt;
}

}  // namespace

TensorOr Slice(RuleContext& rc, const TensorMeta& self, int64_t dim, std::optional<Dim> start, std::optional<Dim> end,
               Dim step) {
  SymStore& syms = rc.syms();
  TARE_ASSIGN_OR_RETURN(dim, WrapDimOfShaped(dim, self.shape.size()));
  const Dim zero = Dim::Static(0);
  TARE_REQUIRE(rc, syms.Le(Dim::Static(1), step),
               InvalidError("slice_c1", "step ", rc.Print(Value::Int(step)), " must be at least 1"));
  const SymInt extent(syms, self.shape[dim]);
  std::optional<SymInt> from(SymInt(syms, zero)), to(extent);
  if (start.has_value()) from = ResolveBound(rc, extent, *start);
  if (end.has_value() && syms.Constant(*end) != INT64_MAX) to = ResolveBound(rc, extent, *end);
  std::optional<SymInt> length;
  if (from.has_value() && to.has_value()) {
    if (rc.OrFalse(syms.Le(*from, *to))) {
      length = *to - *from;
    } else if (rc.OrFalse(syms.Le(*to, *from))) {
      length = SymInt(syms, zero);
    } else {
      length = Max(*to - *from, zero);
    }
    length = CeilDiv(*length, step);
  } else {
    const Dim most = extent;
    length = SymInt(syms, rc.MintInt(0, 0, most.is_static() ? most.value() : INT64_MAX));
  }
  const SymInt stride(syms, self.strides[dim]);
  const Dim offset = from.has_value() ? Dim(*from * stride + self.offset) : rc.MintInt(1, 0, INT64_MAX);
  return Restrided(rc, self, WithExtent(rc, self.shape, dim, *length), WithExtent(rc, self.strides, dim, stride * step),
                   offset);
}

TensorOr Select(RuleContext& rc, const TensorMeta& self, int64_t dim, Dim index) {
  SymStore& syms = rc.syms();
  TARE_ASSIGN_OR_RETURN(dim, WrapDimOfShaped(dim, self.shape.size()));
  const SymInt extent(syms, self.shape[dim]);
  const auto outside = [&] {
    return InvalidError("select_c1", "index ", rc.Print(Value::Int(index)), " is outside dim ", dim, " of extent ",
                        rc.Print(Value::Int(extent)));
  };
  const ExprId from_front = syms.Le(Dim::Static(0), index);
  const ExprId from_end = syms.Lt(index, Dim::Static(0));
  SymInt position(syms, index);
  if (rc.Known(from_front)) {
    TARE_REQUIRE(rc, syms.Lt(index, extent), outside());
  } else if (rc.Known(from_end)) {
    position = position + extent;
    TARE_REQUIRE(rc, syms.Le(Dim::Static(0), position), outside());
  } else {
    absl::StatusOr<bool> negative = rc.Decide(from_end);
    if (!negative.ok()) {
      // The sign is only known at run time: the offset is a number of its own.
      return Restrided(rc, self, WithoutAxis(rc, self.shape, dim), WithoutAxis(rc, self.strides, dim),
                       rc.MintInt(0, INT64_MIN, INT64_MAX));
    }
    if (*negative) position = position + extent;
    TARE_REQUIRE(rc, syms.Le(Dim::Static(0), position), outside());
    TARE_REQUIRE(rc, syms.Lt(position, extent), outside());
  }
  return Restrided(rc, self, WithoutAxis(rc, self.shape, dim), WithoutAxis(rc, self.strides, dim),
                   position * self.strides[dim] + self.offset);
}

std::span<const Dim> WithoutAxis(RuleContext& rc, std::span<const Dim> dims, int64_t axis) {
  std::span<Dim> kept = rc.NewDims(dims.size() - 1);
  std::copy(dims.begin(), dims.begin() + axis, kept.begin());
  std::copy(dims.begin() + axis + 1, dims.end(), kept.begin() + axis);
  return kept;
}

std::span<const Dim> WithAxis(RuleContext& rc, std::span<const Dim> dims, int64_t axis, Dim value) {
  std::span<Dim> wider = rc.NewDims(dims.size() + 1);
  std::copy(dims.begin(), dims.begin() + axis, wider.begin());
  wider[axis] = value;
  std::copy(dims.begin() + axis, dims.end(), wider.begin() + axis + 1);
  return wider;
}

std::span<const Dim> WithExtent(RuleContext& rc, std::span<const Dim> dims, int64_t axis, Dim value) {
  std::span<Dim> changed = rc.NewDims(dims.size());
  std::copy(dims.begin(), dims.end(), changed.begin());
  changed[axis] = value;
  return changed;
}

TensorOr Permute(RuleContext& rc, const TensorMeta& self, std::span<const int64_t> order) {
  std::span<Dim> shape = rc.NewDims(order.size());
  std::span<Dim> strides = rc.NewDims(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    shape[i] = self.shape[order[i]];
    strides[i] = self.strides[order[i]];
  }
  return Restrided(rc, self, shape, strides, self.offset);
}

TensorOr Narrow(RuleContext& rc, const TensorMeta& self, int64_t dim, Dim start, Dim length) {
  SymStore& syms = rc.syms();
  TARE_ASSIGN_OR_RETURN(dim, WrapDimOfShaped(dim, self.shape.size()));
  const SymInt extent(syms, self.shape[dim]);
  TARE_REQUIRE(rc, syms.Le(Dim::Static(0), length),
               InvalidError("narrow_c1", "length ", rc.Print(Value::Int(length)), " is negative"));
  SymInt from(syms, start);
  TARE_ASSIGN_OR_RETURN(const bool from_end, rc.Less(from, Dim::Static(0)));
  if (from_end) from = from + extent;
  const auto outside = [&] {
    return InvalidError("narrow_c2", "start ", rc.Print(Value::Int(start)), " with length ",
                        rc.Print(Value::Int(length)), " leaves dim ", dim, " of extent ", rc.Print(Value::Int(extent)));
  };
  TARE_REQUIRE(rc, syms.Le(Dim::Static(0), from), outside());
  TARE_REQUIRE(rc, syms.Le(from + length, extent), outside());
  return Slice(rc, self, dim, from, from + length, Dim::Static(1));
}

TensorOr Expand(RuleContext& rc, const TensorMeta& self, std::span<const Dim> size) {
  const size_t rank = self.shape.size();
  if (size.size() < rank) {
    return InvalidError("expand_c1", "size ", PrintShape(rc, size), " has fewer dims than the tensor, which has ",
                        rank);
  }
  const size_t added = size.size() - rank;
  std::span<Dim> shape = rc.NewDims(size.size());
  std::span<Dim> strides = rc.NewDims(size.size());
  for (size_t i = size.size(); i-- > 0;) {
    const std::optional<int64_t> wanted = StaticValue(rc, size[i]);
    if (wanted.has_value() && *wanted < -1) {
      return InvalidError("expand_c2", "extent ", *wanted, " of dim ", i, " is negative; -1 keeps an extent");
    }
    if (i < added) {
      if (wanted == -1) {
        return InvalidError("expand_c3", "-1 in new leading dim ", i, " has no extent to keep; state one");
      }
      shape[i] = size[i];
      strides[i] = Dim::Static(0);
      continue;
    }
    const Dim old_extent = self.shape[i - added];
    const Dim old_stride = self.strides[i - added];
    if (wanted == -1 || rc.KnownEqual(size[i], old_extent)) {
      shape[i] = old_extent;
      strides[i] = old_stride;
      continue;
    }
    if (rc.EqualOrFalse(old_extent, Dim::Static(1))) {
      shape[i] = size[i];
      strides[i] = Dim::Static(0);
      continue;
    }
    TARE_REQUIRE_EQUAL(rc, old_extent, size[i],
                       InvalidError("expand_c4", "dim ", i - added, " of extent ", rc.Print(Value::Int(old_extent)),
                                    " cannot become ", rc.Print(Value::Int(size[i])), "; only an extent of 1 expands"));
    shape[i] = size[i];
    strides[i] = old_stride;
  }
  return Restrided(rc, self, shape, strides, self.offset);
}

TensorOr Unsqueeze(RuleContext& rc, const TensorMeta& self, int64_t dim) {
  const size_t rank = self.shape.size();
  TARE_ASSIGN_OR_RETURN(dim, WrapDim(dim, rank + 1));
  const bool last = static_cast<size_t>(dim) == rank;
  const Dim stride = last ? Dim::Static(1) : rc.syms().Mul(self.shape[dim], self.strides[dim]);
  return Restrided(rc, self, WithAxis(rc, self.shape, dim, Dim::Static(1)), WithAxis(rc, self.strides, dim, stride),
                   self.offset);
}

TensorOr Reshape(RuleContext& rc, const TensorMeta& self, std::span<const Dim> size) {
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, InferSize(rc, Numel(rc, self.shape), size));
  TARE_ASSIGN_OR_RETURN(const std::optional<std::span<const Dim>> strides, ViewStrides(rc, self, shape));
  if (strides.has_value()) return Restrided(rc, self, shape, *strides, self.offset);
  return Restrided(rc, self, shape, rc.Contiguous(self.dtype, shape)->strides, Dim::Static(0));
}

TensorsOr SplitWithSizes(RuleContext& rc, const TensorMeta& self, std::span<const Dim> sizes, int64_t dim) {
  SymStore& syms = rc.syms();
  TARE_ASSIGN_OR_RETURN(dim, WrapDimOfShaped(dim, self.shape.size()));
  SymInt sum(syms, int64_t{0});
  std::span<Value> parts = rc.NewValues(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    TARE_REQUIRE(rc, syms.Le(Dim::Static(0), sizes[i]),
                 InvalidError("split_c1", "part ", i, " of ", PrintShape(rc, sizes), " is negative"));
    parts[i] = Value::Tensor(Restrided(rc, self, WithExtent(rc, self.shape, dim, sizes[i]), self.strides,
                                       sum * self.strides[dim] + self.offset));
    sum = sum + sizes[i];
  }
  TARE_REQUIRE_EQUAL(rc, sum, self.shape[dim],
                     InvalidError("split_c2", "parts ", PrintShape(rc, sizes), " do not add up to ",
                                  rc.Print(Value::Int(self.shape[dim])), ", the extent of dim ", dim));
  return Value::List(parts);
}

}  // namespace tare
