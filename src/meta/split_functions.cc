// Rule functions that cut a tensor into a list of views.
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

ValueOr Split(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> sizes = args.Ints(1);
  const int64_t dim = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  return SplitWithSizes(rc, self, sizes, dim);
}

// Parts of `length` along `dim`, the last one shorter.
TensorsOr SplitEvery(RuleContext& rc, const TensorMeta& self, Dim length, int64_t dim) {
  SymStore& syms = rc.syms();
  TARE_ASSIGN_OR_RETURN(dim, WrapDimOfShaped(dim, self.shape.size()));
  const SymInt extent(syms, self.shape[dim]);
  TARE_REQUIRE(rc, syms.Le(Dim::Static(0), length),
               InvalidError("split_c3", "split size ", rc.Print(Value::Int(length)), " is negative"));
  TARE_ASSIGN_OR_RETURN(const bool empty, rc.Equal(length, Dim::Static(0)));
  int64_t count = 1;
  if (empty) {
    TARE_REQUIRE_EQUAL(rc, extent, Dim::Static(0), InvalidError("split_c4", "split size 0 never covers dim ", dim));
  } else {
    TARE_ASSIGN_OR_RETURN(count, rc.Concrete(FloorDiv(extent + length - 1, length)));
  }
  count = std::max<int64_t>(count, 1);
  if (count > kMaxParts) return InvalidError("split_c5", count, " parts are more than ", kMaxParts);
  std::span<Dim> sizes = rc.NewDims(static_cast<size_t>(count));
  std::fill(sizes.begin(), sizes.end(), length);
  sizes.back() = extent - SymInt(syms, length) * (count - 1);
  return SplitWithSizes(rc, self, sizes, dim);
}

ValueOr SplitEveryFunction(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const Dim length = args.Int(1);
  const int64_t dim = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  return SplitEvery(rc, self, length, dim);
}

ValueOr Chunk(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t chunks = args.Constant(1), dim = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const int64_t axis, WrapDimOfShaped(dim, self.shape.size()));
  if (chunks < 1) return InvalidError("chunk_c1", "chunks ", chunks, " must be at least 1");
  const SymInt extent(rc.syms(), self.shape[axis]);
  if (rc.KnownEqual(extent, Dim::Static(0))) {
    if (chunks > kMaxParts) return InvalidError("chunk_c2", chunks, " chunks are more than ", kMaxParts);
    std::span<Dim> sizes = rc.NewDims(static_cast<size_t>(chunks));
    std::fill(sizes.begin(), sizes.end(), Dim::Static(0));
    return SplitWithSizes(rc, self, sizes, axis);
  }
  // More chunks than elements are chunks of one; more elements than this are too many parts in any case.
  constexpr int64_t kEnough = int64_t{1} << 31;
  return SplitEvery(rc, self, CeilDiv(extent, Dim::Static(std::min(chunks, kEnough))), axis);
}

// `sections` parts whose lengths differ by at most one, the longer ones first.
ValueOr SplitEvenly(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t sections = args.Constant(1), dim = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  TARE_ASSIGN_OR_RETURN(const int64_t axis, WrapDimOfShaped(dim, self.shape.size()));
  if (sections < 1 || sections > kMaxParts) {
    return InvalidError("tensor_split_c1", "sections ", sections, " must be in [1, ", kMaxParts, "]");
  }
  const SymInt extent(syms, self.shape[axis]);
  const SymInt length = FloorDiv(extent, Dim::Static(sections)), longer = Mod(extent, Dim::Static(sections));
  std::span<Dim> sizes = rc.NewDims(static_cast<size_t>(sections));
  for (int64_t i = 0; i < sections; ++i) {
    TARE_ASSIGN_OR_RETURN(const bool one_more, rc.Less(Dim::Static(i), longer));
    sizes[i] = one_more ? length + 1 : length;
  }
  return SplitWithSizes(rc, self, sizes, axis);
}

// Cuts before every position of `indices`.
ValueOr SplitAt(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> indices = args.Ints(1);
  const int64_t dim = args.Constant(2);
  TARE_RETURN_IF_ERROR(args.status());
  std::span<Value> parts = rc.NewValues(indices.size() + 1);
  Dim start = Dim::Static(0);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<Dim> end = i < indices.size() ? std::optional<Dim>(indices[i]) : std::nullopt;
    TARE_ASSIGN_OR_RETURN(const TensorMeta* part, Slice(rc, self, dim, start, end, Dim::Static(1)));
    parts[i] = Value::Tensor(part);
    if (end.has_value()) start = *end;
  }
  return Value::List(parts);
}

ValueOr Unbind(RuleContext& rc, Values values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const int64_t axis, WrapDimOfShaped(dim, self.shape.size()));
  TARE_ASSIGN_OR_RETURN(const int64_t count, rc.Concrete(self.shape[axis]));
  if (count > kMaxParts) return InvalidError("unbind_c1", count, " parts are more than ", kMaxParts);
  std::span<Value> parts = rc.NewValues(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    TARE_ASSIGN_OR_RETURN(const TensorMeta* part, Select(rc, self, axis, Dim::Static(i)));
    parts[i] = Value::Tensor(part);
  }
  return Value::List(parts);
}

constexpr RuleFunctionRow kRows[] = {
    {"split", "split(x, sizes, dim) -> tensors", "Parts of these lengths along dim.", 3, 3, Split},
    {"split_every", "split_every(x, length, dim) -> tensors", "Parts of one length, the last one shorter.", 3, 3,
     SplitEveryFunction},
    {"split_evenly", "split_evenly(x, sections, dim) -> tensors", "Parts whose lengths differ by at most one.", 3, 3,
     SplitEvenly},
    {"split_at", "split_at(x, indices, dim) -> tensors", "Parts between the cuts at indices.", 3, 3, SplitAt},
    {"chunk", "chunk(x, chunks, dim) -> tensors", "At most `chunks` parts of equal length, the last one shorter.", 3, 3,
     Chunk},
    {"unbind", "unbind(x, dim) -> tensors", "x[0], x[1], … along dim.", 2, 2, Unbind},
};

}  // namespace

std::span<const RuleFunctionRow> SplitFunctions() { return kRows; }

}  // namespace tare
