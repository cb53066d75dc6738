// ATen's diagonals, turns and joins that are other ops under another name. Source: torch/_refs/__init__.py.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

Extents ShapeOf(const Tensor& x) { return Extents(x.shape().begin(), x.shape().end()); }

// Elements (i, i + offset) of two axes become the last axis.
absl::StatusOr<Value> Diagonal(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int64_t offset = call.integer("offset");
  const int first = call.axis("dim1", x.rank()), second = call.axis("dim2", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < 2 || first == second || offset > INT32_MAX || offset < -INT32_MAX)
    return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  const Extents own = ContiguousStrides(x.shape());
  Extents shape, from;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == first || i == second) continue;
    shape.push_back(x.extent(i));
    from.push_back(own[static_cast<size_t>(i)]);
  }
  const int64_t row = std::max<int64_t>(-offset, 0), column = std::max<int64_t>(offset, 0);
  shape.push_back(std::max<int64_t>(std::min(x.extent(first) - row, x.extent(second) - column), 0));
  const int64_t a = own[static_cast<size_t>(first)], b = own[static_cast<size_t>(second)];
  from.push_back(a + b);
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  if (result.size() > 0)
    CopyStrided(x.bytes(), row * a + column * b, from, result.mutable_bytes(), 0, ContiguousStrides(shape), shape,
                ElementBytes(x.dtype()));
  return Value(std::move(result));
}

// The last axis on a diagonal of the last two of the result, zeros elsewhere.
absl::StatusOr<Value> DiagEmbed(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int64_t offset = call.integer("offset");
  const int first = call.axis("dim1", x.rank() + 1), second = call.axis("dim2", x.rank() + 1);
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < 1 || first != x.rank() - 1 || second != x.rank() || offset > INT32_MAX || offset < -INT32_MAX)
    return UnimplementedError("eval_c19", call.op_name(), " into other axes than the last two is not evaluated");
  Extents shape = ShapeOf(x);
  const int64_t n = shape.back(), side = n + std::abs(offset);
  shape.back() = side;
  shape.push_back(side);
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  Extents to = ContiguousStrides(shape);
  const int64_t start = std::max<int64_t>(-offset, 0) * side + std::max<int64_t>(offset, 0);
  to.pop_back();
  to.back() = side + 1;
  if (x.size() > 0)
    CopyStrided(x.bytes(), 0, ContiguousStrides(x.shape()), result.mutable_bytes(), start, to, x.shape(),
                ElementBytes(x.dtype()));
  return Value(std::move(result));
}

absl::StatusOr<Tensor> Reversed(const KernelCall& call, const Tensor& x, int axis) {
  Extents start(static_cast<size_t>(x.rank()), 0), step(static_cast<size_t>(x.rank()), 1);
  start[static_cast<size_t>(axis)] = x.extent(axis) - 1;
  step[static_cast<size_t>(axis)] = -1;
  return Sliced(call, x, start, x.shape(), step);
}

// Quarter turns in the plane of two axes.
absl::StatusOr<Value> Rot90(KernelCall& call) {
  Tensor x = call.tensor("self");
  const int64_t turns = ((call.integer("k") % 4) + 4) % 4;
  const std::vector<int64_t> dims = call.ints("dims", 2);
  TARE_RETURN_IF_ERROR(call.status());
  const int64_t rank = x.rank();
  const int64_t first = dims[0] < 0 ? dims[0] + rank : dims[0], second = dims[1] < 0 ? dims[1] + rank : dims[1];
  if (first < 0 || second < 0 || first >= rank || second >= rank || first == second || x.size() == 0)
    return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  Extents perms(static_cast<size_t>(rank));
  std::iota(perms.begin(), perms.end(), 0);
  std::swap(perms[static_cast<size_t>(first)], perms[static_cast<size_t>(second)]);
  if (turns == 3) {
    TARE_ASSIGN_OR_RETURN(x, Permuted(call, x, perms));
  }
  if (turns == 2) {
    TARE_ASSIGN_OR_RETURN(x, Reversed(call, x, static_cast<int>(first)));
  }
  if (turns != 0) {
    TARE_ASSIGN_OR_RETURN(x, Reversed(call, x, static_cast<int>(second)));
  }
  if (turns == 1) {
    TARE_ASSIGN_OR_RETURN(x, Permuted(call, x, perms));
  }
  return Value(std::move(x));
}

// Joined along `axis`, tensors of fewer axes lifted to `rank`: a vector becomes a column or a row.
absl::StatusOr<Value> Joined(KernelCall& call, int rank, int axis, bool columns) {
  const std::vector<const Tensor*> tensors = call.tensors("tensors");
  TARE_RETURN_IF_ERROR(call.status());
  std::vector<Tensor> lifted;
  for (const Tensor* tensor : tensors) {
    if (tensor == nullptr) return InvalidError("eval_c18", call.op_name(), " of an absent tensor");
    Extents shape = ShapeOf(*tensor);
    if (columns && shape.size() < 2) {
      shape.resize(2, 1);
    } else {
      if (rank >= 2 && shape.size() < 2) shape.insert(shape.begin(), 2 - shape.size(), 1);
      if (shape.size() < static_cast<size_t>(rank)) shape.resize(static_cast<size_t>(rank), 1);
    }
    TARE_ASSIGN_OR_RETURN(Tensor part,
                          Converted(call, tensor->Reshaped(shape), call.result_dtype().value_or(tensor->dtype())));
    lifted.push_back(std::move(part));
  }
  if (lifted.empty()) return InvalidError("eval_c18", call.op_name(), " of nothing");
  std::vector<const Tensor*> parts;
  for (const Tensor& part : lifted) parts.push_back(&part);
  return AsValue(Concatenated(call, parts, std::min(axis, lifted[0].rank() - 1)));
}
absl::StatusOr<Value> HStack(KernelCall& call) { return Joined(call, 1, 1, false); }
absl::StatusOr<Value> VStack(KernelCall& call) { return Joined(call, 2, 0, false); }
absl::StatusOr<Value> DStack(KernelCall& call) { return Joined(call, 3, 2, false); }
absl::StatusOr<Value> ColumnStack(KernelCall& call) { return Joined(call, 2, 1, true); }

// Each vector along an axis of its own, over the grid of all; xy exchanges the first two axes.
absl::StatusOr<Value> Meshgrid(KernelCall& call) {
  const std::vector<const Tensor*> tensors = call.tensors("tensors");
  const bool swapped = call.given("indexing") && call.text("indexing") == "xy" && tensors.size() > 1;
  TARE_RETURN_IF_ERROR(call.status());
  Extents grid(tensors.size(), 1);
  const auto axis_of = [&](size_t i) { return swapped && i < 2 ? 1 - i : i; };
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] == nullptr || tensors[i]->rank() > 1)
      return InvalidError("eval_c18", call.op_name(), " of what is no vector");
    grid[axis_of(i)] = tensors[i]->size();
  }
  Value parts;
  parts.kind = ValueKind::kList;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Extents shape(grid.size(), 1);
    shape[axis_of(i)] = grid[axis_of(i)];
    TARE_ASSIGN_OR_RETURN(Tensor part, Expanded(call, tensors[i]->Reshaped(shape), grid));
    parts.items.emplace_back(std::move(part));
  }
  return parts;
}

// [N, C, H, W] as a column of C * KH * KW elements for each place of a window; what lies outside is 0.
absl::StatusOr<Value> Im2Col(KernelCall& call) {
  const Tensor& given = call.tensor("self");
  const std::vector<int64_t> kernel = call.ints("kernel_size"), dilation = call.ints("dilation"),
                             padding = call.ints("padding"), stride = call.ints("stride");
  TARE_RETURN_IF_ERROR(call.status());
  constexpr int64_t kMost = 1 << 20;
  const auto fit = [](const std::vector<int64_t>& list, int64_t least) {
    return list.size() == 2 && std::min(list[0], list[1]) >= least && std::max(list[0], list[1]) <= kMost;
  };
  const int rank = given.rank();
  if (rank < 3 || rank > 4 || !fit(kernel, 1) || !fit(dilation, 1) || !fit(padding, 0) || !fit(stride, 1))
    return InvalidError("eval_c18", call.op_name(), " of ", Describe(given));
  Extents shape = ShapeOf(given);
  if (rank == 3) shape.insert(shape.begin(), 1);
  int64_t out[2];
  for (int i = 0; i < 2; ++i) {
    out[i] = (shape[2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    if (shape[2 + i] + 2 * padding[i] < dilation[i] * (kernel[i] - 1) + 1)
      return InvalidError("eval_c18", call.op_name(), ": a window larger than ", Describe(given));
  }
  const int64_t taps = kernel[0] * kernel[1], places = out[0] * out[1];
  Extents columns = {shape[0], shape[1] * taps, places};
  if (rank == 3) columns.erase(columns.begin());
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(given.dtype(), columns));
  const int64_t bytes = ElementBytes(given.dtype());
  for (int64_t to = 0; to < result.size(); ++to) {
    const int64_t place = to % places, tap = to / places % taps, plane = to / places / taps;
    const int64_t row = place / out[1] * stride[0] + tap / kernel[1] * dilation[0] - padding[0];
    const int64_t column = place % out[1] * stride[1] + tap % kernel[1] * dilation[1] - padding[1];
    if (row < 0 || column < 0 || row >= shape[2] || column >= shape[3]) continue;
    std::memcpy(result.mutable_bytes().data() + to * bytes,
                given.bytes().data() + ((plane * shape[2] + row) * shape[3] + column) * bytes, bytes);
  }
  return Value(std::move(result));
}

// Half of an axis, times the sigmoid of the other half.
absl::StatusOr<Value> Glu(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0 || x.extent(axis) % 2 != 0) return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  Extents start(static_cast<size_t>(x.rank()), 0), size = ShapeOf(x);
  const Extents step(static_cast<size_t>(x.rank()), 1);
  size[static_cast<size_t>(axis)] /= 2;
  TARE_ASSIGN_OR_RETURN(const Tensor value, Sliced(call, x, start, size, step));
  start[static_cast<size_t>(axis)] = size[static_cast<size_t>(axis)];
  TARE_ASSIGN_OR_RETURN(const Tensor gate, Sliced(call, x, start, size, step));
  return AsValue(VisitFloats(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map2<T, T>(call, value, gate, x.dtype(), [](T v, T g) {
      return static_cast<T>(static_cast<double>(v) / (1 + std::exp(-static_cast<double>(g))));
    });
  }));
}

absl::StatusOr<Value> Outer(KernelCall& call) {
  const Tensor& a = call.tensor("self");
  const Tensor& b = call.tensor("vec2");
  TARE_RETURN_IF_ERROR(call.status());
  if (a.rank() != 1 || b.rank() != 1) return InvalidError("eval_c16", call.op_name(), " of other than vectors");
  const DType dtype = call.result_dtype().value_or(a.dtype());
  TARE_ASSIGN_OR_RETURN(const Tensor x, Converted(call, a.Reshaped(Extents{a.size(), 1}), dtype));
  TARE_ASSIGN_OR_RETURN(const Tensor y, Converted(call, b, dtype));
  return AsValue(VisitElements(dtype, call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map2<T, T>(call, x, y, dtype, [](T u, T v) {
      if constexpr (std::is_floating_point_v<T>) return u * v;
      return static_cast<T>(static_cast<uint64_t>(u) * static_cast<uint64_t>(v));
    });
  }));
}

constexpr KernelRow kRows[] = {
    {"aten.column_stack.default", ColumnStack},
    {"aten.diag_embed.default", DiagEmbed},
    {"aten.diagonal.default", Diagonal},
    {"aten.dstack.default", DStack},
    {"aten.ger.default", Outer},
    {"aten.glu.default", Glu},
    {"aten.hstack.default", HStack},
    {"aten.im2col.default", Im2Col},
    {"aten.meshgrid.default", Meshgrid},
    {"aten.meshgrid.indexing", Meshgrid},
    {"aten.outer.default", Outer},
    {"aten.rot90.default", Rot90},
    {"aten.vstack.default", VStack},
};

}  // namespace

std::span<const KernelRow> AtenArrangeKernels() { return kRows; }

}  // namespace tare
