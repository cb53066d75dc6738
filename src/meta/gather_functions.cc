// Rule functions that gather and scatter along one dim, and of embeddings.
#include <algorithm>
#include <array>

#include "ir/status.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"
#include "meta/view.h"

namespace tare {
namespace {

const Dim kZero = Dim::Static(0);
const Dim kOne = Dim::Static(1);

std::string Text(RuleContext& rc, Dim dim) { return rc.Print(Value::Int(dim)); }

// A tensor without dims counts as one element along one dim.
size_t RankOf(const TensorMeta& tensor) { return std::max<size_t>(tensor.shape.size(), 1); }
Dim ExtentOf(const TensorMeta& tensor, size_t dim) { return tensor.shape.empty() ? kOne : tensor.shape[dim]; }

absl::Status RequireIndexType(std::string_view check_id, const TensorMeta& index) {
  if (index.dtype == DType::kI64 || index.dtype == DType::kI32) return absl::OkStatus();
  return InvalidError(check_id, "index is ", Name(index.dtype), "; use i64 or i32");
}

// `index` is no larger than `tensor` in any dim but `except` (-1: in any dim).
absl::Status RequireInside(RuleContext& rc, std::string_view check_id, const TensorMeta& index,
                           const TensorMeta& tensor, int64_t except) {
  for (size_t i = 0; i < RankOf(index); ++i) {
    if (static_cast<int64_t>(i) == except) continue;
    TARE_REQUIRE(rc, rc.syms().Le(ExtentOf(index, i), ExtentOf(tensor, i)),
                 InvalidError(check_id, "index has extent ", Text(rc, ExtentOf(index, i)), " in dim ", i,
                              ", which exceeds ", Text(rc, ExtentOf(tensor, i))));
  }
  return absl::OkStatus();
}

absl::Status CheckGather(RuleContext& rc, const TensorMeta& self, const TensorMeta& index, int64_t dim) {
  TARE_ASSIGN_OR_RETURN(const int64_t axis, WrapDim(dim, self.shape.size()));
  if (rc.KnownEqual(Numel(rc, index.shape), kZero)) return absl::OkStatus();
  TARE_RETURN_IF_ERROR(RequireIndexType("gather_c1", index));
  if (RankOf(self) != RankOf(index)) {
    return InvalidError("gather_c2", "index has rank ", index.shape.size(), ", the tensor ", self.shape.size(),
                        "; they must agree");
  }
  return RequireInside(rc, "gather_c3", index, self, axis);
}

// gather(x, dim, index) -> shape
absl::StatusOr<Value> Gather(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const TensorMeta& index = args.Tensor(2);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_RETURN_IF_ERROR(CheckGather(rc, self, index, dim));
  return Value::Ints(index.shape);
}

// scatter(x, dim, index[, src]) -> shape
absl::StatusOr<Value> Scatter(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const TensorMeta& index = args.Tensor(2);
  const TensorMeta* src = args.MaybeTensor(3);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_RETURN_IF_ERROR(CheckGather(rc, self, index, dim));
  if (src == nullptr) return Value::Ints(self.shape);
  if (src->dtype != self.dtype) {
    return InvalidError("scatter_c1", "src is ", Name(src->dtype), ", the tensor ", Name(self.dtype), "; cast src");
  }
  if (rc.KnownEqual(Numel(rc, index.shape), kZero)) return Value::Ints(self.shape);
  if (RankOf(*src) != RankOf(index)) {
    return InvalidError("scatter_c2", "src has rank ", src->shape.size(), ", index ", index.shape.size());
  }
  TARE_RETURN_IF_ERROR(RequireInside(rc, "scatter_c3", index, *src, -1));
  return Value::Ints(self.shape);
}

// take_along(x, dim, index) -> shape: whole slices at the positions of a 1-D index.
absl::StatusOr<Value> TakeAlong(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const TensorMeta& index = args.Tensor(2);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  TARE_ASSIGN_OR_RETURN(const int64_t axis, WrapDim(dim, self.shape.size()));
  TARE_RETURN_IF_ERROR(RequireIndexType("take_along_c1", index));
  if (index.shape.size() > 1) return InvalidError("take_along_c2", "index has rank ", index.shape.size(), ", needs 1");
  const Dim count = Numel(rc, index.shape);
  if (self.shape.empty()) {
    TARE_REQUIRE_EQUAL(
        rc, count, kOne,
        InvalidError("take_along_c3", "a tensor without dims has one element, index asks for ", Text(rc, count)));
    return Value::Ints(self.shape);
  }
  TARE_REQUIRE(rc, syms.Make(ExprKind::kOr, std::array{syms.Lt(kZero, self.shape[axis]), syms.Eq(count, kZero)}),
               InvalidError("take_along_c4", "dim ", axis, " has no elements to take"));
  return Value::Ints(WithExtent(rc, self.shape, axis, count));
}

// put_along(x, dim, index, source) -> shape: whole slices of source written at a 1-D index.
absl::StatusOr<Value> PutAlong(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const int64_t dim = args.Constant(1);
  const TensorMeta& index = args.Tensor(2);
  const TensorMeta& source = args.Tensor(3);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const int64_t axis, WrapDim(dim, self.shape.size()));
  TARE_RETURN_IF_ERROR(RequireIndexType("put_along_c1", index));
  if (index.shape.size() > 1) return InvalidError("put_along_c2", "index has rank ", index.shape.size(), ", needs 1");
  if (source.dtype != self.dtype) {
    return InvalidError("put_along_c3", "source is ", Name(source.dtype), ", the tensor ", Name(self.dtype),
                        "; cast source");
  }
  if (!source.shape.empty() && !self.shape.empty() && source.shape.size() != self.shape.size()) {
    return InvalidError("put_along_c4", "source has rank ", source.shape.size(), ", the tensor ", self.shape.size());
  }
  const Dim count = Numel(rc, index.shape);
  TARE_REQUIRE_EQUAL(rc, ExtentOf(source, axis), count,
                     InvalidError("put_along_c5", "source has ", Text(rc, ExtentOf(source, axis)), " slices along dim ",
                                  axis, ", index names ", Text(rc, count)));
  for (size_t i = 0; i < source.shape.size() && i < self.shape.size(); ++i) {
    if (static_cast<int64_t>(i) == axis) continue;
    TARE_REQUIRE_EQUAL(rc, source.shape[i], self.shape[i],
                       InvalidError("put_along_c6", "source has extent ", Text(rc, source.shape[i]), " in dim ", i,
                                    ", the tensor has ", Text(rc, self.shape[i])));
  }
  return Value::Ints(self.shape);
}

// embedding(weight, indices) -> shape
absl::StatusOr<Value> Embedding(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& weight = args.Tensor(0);
  const TensorMeta& indices = args.Tensor(1);
  TARE_RETURN_IF_ERROR(args.status());
  if (weight.shape.size() != 2)
    return InvalidError("embedding_c1", "weight has rank ", weight.shape.size(), ", needs 2");
  TARE_RETURN_IF_ERROR(RequireIndexType("embedding_c2", indices));
  if (rc.KnownEqual(weight.shape[0], kZero)) {
    TARE_REQUIRE_EQUAL(rc, Numel(rc, indices.shape), kZero,
                       InvalidError("embedding_c3", "weight has no rows to look up"));
  }
  const size_t rank = indices.shape.size();
  return Value::Ints(WithAxis(rc, indices.shape, static_cast<int64_t>(rank), weight.shape[1]));
}

constexpr RuleFunctionRow kRows[] = {
    {"gather", "gather(x, dim, index) -> shape", "Shape of x gathered at index along dim.", 3, 3, Gather},
    {"scatter", "scatter(x, dim, index[, src]) -> shape", "Shape of x after a scatter along dim; checks index and src.",
     3, 4, Scatter},
    {"take_along", "take_along(x, dim, index) -> shape", "Shape of the slices of x at a 1-D index along dim.", 3, 3,
     TakeAlong},
    {"put_along", "put_along(x, dim, index, source) -> shape",
     "Shape of x after slices of source went to a 1-D index along dim.", 4, 4, PutAlong},
    {"embedding", "embedding(weight, indices) -> shape", "Shape of the rows of weight at indices.", 2, 2, Embedding},
};

}  // namespace

std::span<const RuleFunctionRow> GatherFunctions() { return kRows; }

}  // namespace tare
