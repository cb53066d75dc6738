// Rule functions that look at storage anew: diagonals, windows, other strides, other element types.
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

// The elements (i, i + offset) of two dims, as a new last dim.
ValueOr Diagonal(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const Dim offset = args.Int(1);
  const int64_t dim1 = args.Constant(2), dim2 = args.Constant(3);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  const size_t rank = self.shape.size();
  TARE_ASSIGN_OR_RETURN(const int64_t row, WrapDim(dim1, rank));
  TARE_ASSIGN_OR_RETURN(const int64_t column, WrapDim(dim2, rank));
  if (row == column) return InvalidError("diagonal_c1", "dim1 and dim2 both name dim ", row, "; name two dims");
  const Dim zero = Dim::Static(0);
  const SymInt rows(syms, self.shape[row]), columns(syms, self.shape[column]);
  TARE_ASSIGN_OR_RETURN(const bool below, rc.Less(offset, zero));
  const SymInt length = below ? Max(Min(rows + offset, columns), zero) : Max(Min(columns - offset, rows), zero);
  const SymInt row_stride(syms, self.strides[row]), column_stride(syms, self.strides[column]);
  SymInt start(syms, self.offset);
  // Of an empty diagonal the offset stays; where extents are symbolic the exporter moves it all the same.
  const bool symbolic = !std::ranges::all_of(self.shape, [](Dim dim) { return dim.is_static(); });
  if (symbolic || !rc.KnownEqual(length, zero)) {
    start = below ? start - row_stride * offset : start + column_stride * offset;
  }
  const int64_t outer = std::max(row, column), inner = std::min(row, column);
  std::span<const Dim> shape = WithoutAxis(rc, WithoutAxis(rc, self.shape, outer), inner);
  std::span<const Dim> strides = WithoutAxis(rc, WithoutAxis(rc, self.strides, outer), inner);
  const int64_t end = static_cast<int64_t>(shape.size());
  return Value::Tensor(Restrided(rc, self, WithAxis(rc, shape, end, length),
                                 WithAxis(rc, strides, end, row_stride + column_stride), start));
}

ValueOr AsStrided(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> size = args.Ints(1), stride = args.Ints(2);
  const std::optional<Dim> offset = args.MaybeInt(3);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  if (size.size() != stride.size()) {
    return InvalidError("as_strided_c1", "size has ", size.size(), " entries, stride ", stride.size());
  }
  const Dim zero = Dim::Static(0);
  for (size_t i = 0; i < size.size(); ++i) {
    TARE_REQUIRE(rc, syms.Le(zero, size[i]), InvalidError("as_strided_c2", "size of dim ", i, " is negative"));
    TARE_REQUIRE(rc, syms.Le(zero, stride[i]), InvalidError("as_strided_c3", "stride of dim ", i, " is negative"));
  }
  const Dim start = offset.value_or(self.offset);
  TARE_REQUIRE(rc, syms.Le(zero, start), InvalidError("as_strided_c4", "storage_offset is negative"));
  // How far the storage reaches is not known here: `self` may be a part of it.
  return Value::Tensor(Restrided(rc, self, size, stride, start));
}

// Windows of `size` elements every `step` along `dim`, as a new last dim.
ValueOr Unfold(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const Dim size = args.Int(2), step = args.Int(3);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  const size_t rank = self.shape.size();
  TARE_ASSIGN_OR_RETURN(const int64_t axis, WrapDim(dim, rank));
  const SymInt extent(syms, rank == 0 ? Dim::Static(1) : self.shape[axis]);
  const Dim zero = Dim::Static(0);
  TARE_REQUIRE(rc, syms.Le(zero, size), InvalidError("unfold_c1", "size is negative"));
  TARE_REQUIRE(rc, syms.Le(size, extent),
               InvalidError("unfold_c2", "size ", rc.Print(Value::Int(size)), " exceeds ", rc.Print(Value::Int(extent)),
                            ", the extent of dim ", axis));
  TARE_REQUIRE(rc, syms.Lt(zero, step), InvalidError("unfold_c3", "step must be at least 1"));
  const SymInt count = FloorDiv(extent - size, step) + 1;
  const int64_t end = static_cast<int64_t>(rank);
  if (rank == 0) {
    return Value::Tensor(
        Restrided(rc, self, WithAxis(rc, {}, 0, size), WithAxis(rc, {}, 0, Dim::Static(1)), self.offset));
  }
  const SymInt stride(syms, self.strides[axis]);
  return Value::Tensor(Restrided(rc, self, WithAxis(rc, WithExtent(rc, self.shape, axis, count), end, size),
                                 WithAxis(rc, WithExtent(rc, self.strides, axis, stride * step), end, stride),
                                 self.offset));
}

// The same bytes read as another element type; the last dim grows or shrinks with the width.
ValueOr ViewAsType(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const DType dtype = args.Type(1);
  TARE_RETURN_IF_ERROR(args.status());
  const int64_t old_bytes = BytesOf(self.dtype), new_bytes = BytesOf(dtype);
  if (old_bytes == 0 || new_bytes == 0) {
    return InvalidError("view_dtype_c1", Name(self.dtype), " cannot be seen as ", Name(dtype));
  }
  TensorMeta result = self;
  result.dtype = dtype;
  if (old_bytes == new_bytes) return Value::Tensor(rc.NewTensor(result));
  SymStore& syms = rc.syms();
  const size_t rank = self.shape.size();
  if (rank == 0) {
    return InvalidError("view_dtype_c2", "a tensor without dims cannot be seen as ", Name(dtype), " of another width");
  }
  const size_t last = rank - 1;
  if (!rc.EqualOrFalse(self.strides[last], Dim::Static(1))) {
    return InvalidError("view_dtype_c3", "the last dim must be contiguous to be seen as ", Name(dtype));
  }
  std::span<Dim> shape = rc.NewDims(rank), strides = rc.NewDims(rank);
  std::copy(self.shape.begin(), self.shape.end(), shape.begin());
  std::copy(self.strides.begin(), self.strides.end(), strides.begin());
  if (new_bytes < old_bytes) {
    const int64_t ratio = old_bytes / new_bytes;
    shape[last] = SymInt(syms, shape[last]) * ratio;
    for (size_t i = 0; i < last; ++i) strides[i] = SymInt(syms, strides[i]) * ratio;
    result.offset = SymInt(syms, self.offset) * ratio;
  } else {
    const Dim ratio = Dim::Static(new_bytes / old_bytes), zero = Dim::Static(0);
    const auto unfit = [&](std::string_view what) {
      return InvalidError("view_dtype_c4", what, " is not a multiple of ", ratio.value(), ", the elements of one ",
                          Name(dtype));
    };
    TARE_REQUIRE_EQUAL(rc, syms.Mod(shape[last], ratio), zero, unfit("the extent of the last dim"));
    TARE_REQUIRE_EQUAL(rc, syms.Mod(self.offset, ratio), zero, unfit("the storage offset"));
    for (size_t i = 0; i < last; ++i) {
      TARE_REQUIRE_EQUAL(rc, syms.Mod(strides[i], ratio), zero, unfit("a stride"));
      strides[i] = syms.FloorDiv(strides[i], ratio);
    }
    shape[last] = syms.FloorDiv(shape[last], ratio);
    result.offset = syms.FloorDiv(self.offset, ratio);
  }
  result.shape = shape;
  result.strides = strides;
  return Value::Tensor(rc.NewTensor(result));
}

DType PartOf(DType dtype) {
  return dtype == DType::kC32 ? DType::kF16 : dtype == DType::kC64 ? DType::kF32 : DType::kF64;
}

// Complex numbers as pairs of reals in a new last dim.
ValueOr ViewAsReal(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  if (!IsComplex(self.dtype)) return InvalidError("view_as_real_c1", Name(self.dtype), " is not complex");
  const size_t rank = self.shape.size();
  std::span<Dim> strides = rc.NewDims(rank + 1);
  for (size_t i = 0; i < rank; ++i) strides[i] = SymInt(rc.syms(), self.strides[i]) * 2;
  strides[rank] = Dim::Static(1);
  TensorMeta result = self;
  result.dtype = PartOf(self.dtype);
  result.shape = WithAxis(rc, self.shape, static_cast<int64_t>(rank), Dim::Static(2));
  result.strides = strides;
  result.offset = SymInt(rc.syms(), self.offset) * 2;
  return Value::Tensor(rc.NewTensor(result));
}

ValueOr ViewAsComplex(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  const Dim two = Dim::Static(2), zero = Dim::Static(0);
  TensorMeta result = self;
  switch (self.dtype) {
    case DType::kF16:
      result.dtype = DType::kC32;
      break;
    case DType::kF32:
      result.dtype = DType::kC64;
      break;
    case DType::kF64:
      result.dtype = DType::kC128;
      break;
    default:
      return InvalidError("view_as_complex_c1", Name(self.dtype), " has no complex type; use f16, f32 or f64");
  }
  const size_t rank = self.shape.size();
  if (rank == 0) return InvalidError("view_as_complex_c2", "a tensor without dims holds no pairs");
  const size_t last = rank - 1;
  TARE_REQUIRE_EQUAL(rc, self.shape[last], two, InvalidError("view_as_complex_c3", "the last dim must have extent 2"));
  TARE_REQUIRE_EQUAL(rc, self.strides[last], Dim::Static(1),
                     InvalidError("view_as_complex_c4", "the last dim must have stride 1"));
  std::span<Dim> strides = rc.NewDims(last);
  for (size_t i = 0; i < last; ++i) {
    TARE_REQUIRE_EQUAL(rc, syms.Mod(self.strides[i], two), zero,
                       InvalidError("view_as_complex_c5", "the stride of dim ", i, " must be even"));
    strides[i] = syms.FloorDiv(self.strides[i], two);
  }
  TARE_REQUIRE_EQUAL(rc, syms.Mod(self.offset, two), zero,
                     InvalidError("view_as_complex_c6", "the storage offset must be even"));
  result.shape = self.shape.first(last);
  result.strides = strides;
  result.offset = syms.FloorDiv(self.offset, two);
  return Value::Tensor(rc.NewTensor(result));
}

constexpr RuleFunctionRow kRows[] = {
    {"diagonal", "diagonal(x, offset, dim1, dim2) -> tensor", "The diagonal of two dims, as a new last dim.", 4, 4,
     Diagonal},
    {"as_strided", "as_strided(x, size, stride, offset) -> tensor",
     "The storage of x with these sizes, strides and offset.", 4, 4, AsStrided},
    {"unfold", "unfold(x, dim, size, step) -> tensor", "Windows along dim, as a new last dim.", 4, 4, Unfold},
    {"view_as_type", "view_as_type(x, dtype) -> tensor", "The bytes of x as another element type.", 2, 2, ViewAsType},
    {"view_as_real", "view_as_real(x) -> tensor", "Complex numbers as pairs in a new last dim.", 1, 1, ViewAsReal},
    {"view_as_complex", "view_as_complex(x) -> tensor", "Pairs of the last dim as complex numbers.", 1, 1,
     ViewAsComplex},
};

}  // namespace

std::span<const RuleFunctionRow> StorageFunctions() { return kRows; }

}  // namespace tare
