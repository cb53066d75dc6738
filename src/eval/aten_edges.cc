// ATen's borders made of what lies inside, constants of a pattern, and a few ops that are others
// under another name. Source: torch/_refs/__init__.py, torch/_decomp.
#include <algorithm>
#include <cmath>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

Extents ShapeOf(const Tensor& x) { return Extents(x.shape().begin(), x.shape().end()); }

enum class Border : uint8_t { kReflect, kReplicate };

// Where an element of the border, `at` from the start of `extent` elements, is taken from.
int64_t Inside(Border border, int64_t at, int64_t extent) {
  if (border == Border::kReplicate) return std::clamp<int64_t>(at, 0, extent - 1);
  if (at < 0) at = -at;
  return at >= extent ? 2 * (extent - 1) - at : at;
}

// `padding` names the last axis first, before and after; negative ones cut off.
template <Border kBorder, int kAxes>
absl::StatusOr<Value> PadEdges(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const std::vector<int64_t> padding = call.ints("padding", 2 * kAxes);
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < kAxes) return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  Extents shape = ShapeOf(x);
  Tensor result = x;
  const int bytes = ElementBytes(x.dtype());
  for (int i = 0; i < kAxes; ++i) {
    const size_t axis = static_cast<size_t>(x.rank() - 1 - i);
    const int64_t before = padding[static_cast<size_t>(2 * i)], after = padding[static_cast<size_t>(2 * i + 1)];
    const int64_t extent = shape[axis], limit = kBorder == Border::kReflect ? extent - 1 : int64_t{1} << 31;
    if (before > limit || after > limit || before < -extent || after < -extent || extent + before + after < 0 ||
        (extent == 0 && before + after > 0))
      return InvalidError("eval_c18", call.op_name(), ": a border of ", before, " and ", after, " around ", extent);
    const Tensor from = result;
    shape[axis] = extent + before + after;
    TARE_ASSIGN_OR_RETURN(result, call.Make(x.dtype(), shape));
    int64_t outer = 1, inner = bytes;
    for (size_t k = 0; k < shape.size(); ++k)
      if (k != axis) (k < axis ? outer : inner) *= shape[k];
    for (int64_t row = 0; row < outer; ++row)
      for (int64_t k = 0; k < shape[axis]; ++k) {
        const int64_t place = Inside(kBorder, k - before, extent);
        std::copy_n(from.bytes().data() + (row * extent + place) * inner, inner,
                    result.mutable_bytes().data() + (row * shape[axis] + k) * inner);
      }
  }
  return Value(std::move(result));
}

absl::StatusOr<Value> Zero(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(call.Make(x.dtype(), x.shape()));
}

// In the shape that the node states: prims that only regroup axes.
absl::StatusOr<Value> Regrouped(KernelCall& call) {
  const Tensor& x = call.tensor("a");
  TARE_RETURN_IF_ERROR(call.status());
  const std::optional<std::vector<int64_t>> shape = call.result_shape();
  return shape.has_value() ? AsValue(ReshapedTo(call, x, *shape)) : Value(x);
}

// All axes in the opposite order.
absl::StatusOr<Value> Turned(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  std::vector<int64_t> perms;
  for (int i = x.rank(); i-- > 0;) perms.push_back(i);
  return AsValue(Permuted(call, x, perms));
}

// A matrix with the vector on a diagonal, or the diagonal of a matrix.
absl::StatusOr<Value> Diag(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int64_t diagonal = call.integer("diagonal");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < 1 || x.rank() > 2 || diagonal > INT32_MAX || diagonal < -INT32_MAX)
    return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  const int64_t row = std::max<int64_t>(-diagonal, 0), column = std::max<int64_t>(diagonal, 0);
  const bool makes = x.rank() == 1;
  const int64_t side = makes ? x.size() + std::abs(diagonal) : x.extent(1);
  const int64_t count = makes ? x.size() : std::max<int64_t>(std::min(x.extent(0) - row, x.extent(1) - column), 0);
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), makes ? Extents{side, side} : Extents{count}));
  const int64_t start = row * side + column;
  if (count > 0)
    CopyStrided(x.bytes(), makes ? 0 : start, {makes ? 1 : side + 1}, result.mutable_bytes(), makes ? start : 0,
                {makes ? side + 1 : 1}, Extents{count}, ElementBytes(x.dtype()));
  return Value(std::move(result));
}

absl::StatusOr<Value> Trace(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() != 2) return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  const DType dtype = call.result_dtype().value_or(IsFloating(x.dtype()) ? x.dtype() : DType::kI64);
  TARE_ASSIGN_OR_RETURN(const Tensor wide, Converted(call, x, dtype));
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(dtype, Extents{}));
  return AsValue(VisitElements(dtype, call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    Sum sum = 0;
    for (int64_t i = 0; i < std::min(x.extent(0), x.extent(1)); ++i)
      sum += static_cast<Sum>(wide.data<T>()[i * x.extent(1) + i]);
    result.mutable_data<T>()[0] = static_cast<T>(sum);
    return result;
  }));
}

// Ones where they belong; `ones` says at which places of the result.
template <typename Visit>
absl::StatusOr<Value> Pattern(KernelCall& call, const Extents& shape, Visit visit) {
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(Tensor wide, call.Make(DType::kI64, shape));
  visit(wide.mutable_data<int64_t>());
  return AsValue(Converted(call, wide, call.result_dtype().value_or(DType::kF32)));
}
absl::StatusOr<Value> Eye(KernelCall& call) {
  const int64_t rows = call.integer("n"), columns = call.op_name().ends_with(".m") ? call.integer("m") : rows;
  return Pattern(call, Extents{rows, columns}, [&](auto elements) {
    for (int64_t i = 0; i < std::min(rows, columns); ++i) elements[static_cast<size_t>(i * columns + i)] = 1;
  });
}
// Rows and columns of the places on one side of a diagonal.
template <bool kLower>
absl::StatusOr<Value> TriangleIndices(KernelCall& call) {
  const int64_t rows = call.integer("row"), columns = call.integer("col"), offset = call.integer("offset");
  const std::optional<std::vector<int64_t>> shape = call.result_shape();
  TARE_RETURN_IF_ERROR(call.status());
  if (!shape.has_value() || shape->size() != 2 || rows < 0 || columns < 0 || offset > INT32_MAX || offset < -INT32_MAX)
    return InvalidError("eval_c18", call.op_name(), " of ", rows, " x ", columns);
  return Pattern(call, Extents(shape->begin(), shape->end()), [&](auto elements) {
    const size_t count = elements.size() / 2;
    size_t next = 0;
    for (int64_t i = 0; i < rows && next < count; ++i) {
      const int64_t first = kLower ? 0 : std::clamp<int64_t>(i + offset, 0, columns);
      const int64_t last = kLower ? std::clamp<int64_t>(i + offset + 1, 0, columns) : columns;
      for (int64_t j = first; j < last && next < count; ++j, ++next) {
        elements[next] = i;
        elements[count + next] = j;
      }
    }
  });
}

// x . y / (max(|x|, eps) max(|y|, eps)) along one axis.
absl::StatusOr<Value> CosineSimilarity(KernelCall& call) {
  const Tensor &x = call.tensor("x1"), &y = call.tensor("x2");
  const double eps = call.real("eps");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(Extents shape, BroadcastShape(x.shape(), y.shape()));
  const int axis = call.axis("dim", static_cast<int>(shape.size()));
  TARE_RETURN_IF_ERROR(call.status());
  const DType dtype = call.result_dtype().value_or(x.dtype());
  TARE_ASSIGN_OR_RETURN(const Tensor a, Converted(call, x, DType::kF64));
  TARE_ASSIGN_OR_RETURN(const Tensor b, Converted(call, y, DType::kF64));
  TARE_ASSIGN_OR_RETURN(const Tensor left, Expanded(call, a, shape));
  TARE_ASSIGN_OR_RETURN(const Tensor right, Expanded(call, b, shape));
  if (shape.empty()) shape.push_back(1);
  const auto along = static_cast<size_t>(axis);
  const int64_t extent = shape[along];
  int64_t outer = 1, inner = 1;
  for (size_t k = 0; k < shape.size(); ++k)
    if (k != along) (k < along ? outer : inner) *= shape[k];
  Extents kept = shape;
  kept.erase(kept.begin() + axis);
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(DType::kF64, kept));
  for (int64_t i = 0; i < outer * inner; ++i) {
    double product = 0, p = 0, q = 0;
    for (int64_t k = 0; k < extent; ++k) {
      const int64_t at = (i / inner * extent + k) * inner + i % inner;
      const double u = left.data<double>()[at], v = right.data<double>()[at];
      product += u * v;
      p += u * u;
      q += v * v;
    }
    result.mutable_data<double>()[i] = product / (std::max(std::sqrt(p), eps) * std::max(std::sqrt(q), eps));
  }
  return AsValue(Converted(call, result, dtype));
}

constexpr KernelRow kRows[] = {
    {"aten.cosine_similarity.default", CosineSimilarity},
    {"aten.diag.default", Diag},
    {"aten.eye.default", Eye},
    {"aten.eye.m", Eye},
    {"aten.numpy_T.default", Turned},
    {"aten.reflection_pad1d.default", PadEdges<Border::kReflect, 1>},
    {"aten.reflection_pad2d.default", PadEdges<Border::kReflect, 2>},
    {"aten.reflection_pad3d.default", PadEdges<Border::kReflect, 3>},
    {"aten.replication_pad1d.default", PadEdges<Border::kReplicate, 1>},
    {"aten.replication_pad2d.default", PadEdges<Border::kReplicate, 2>},
    {"aten.replication_pad3d.default", PadEdges<Border::kReplicate, 3>},
    {"aten.trace.default", Trace},
    {"aten.tril_indices.default", TriangleIndices<true>},
    {"aten.triu_indices.default", TriangleIndices<false>},
    {"aten.zero.default", Zero},
    {"prims.collapse.default", Regrouped},
    {"prims.split_dim.default", Regrouped},
    {"prims.view_of.default", Regrouped},
};

}  // namespace

std::span<const KernelRow> AtenEdgeKernels() { return kRows; }

}  // namespace tare
