// ATen's indexing. Source: torch/_refs/__init__.py, torch/_meta_registrations.py.
#include <algorithm>
#include <cstring>
#include <optional>

#include "eval/aten_select.h"
#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

Extents ShapeOf(const Tensor& x) { return Extents(x.shape().begin(), x.shape().end()); }

// An index within `extent`, negative ones counted from the end; nothing when it is outside.
std::optional<int64_t> Within(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  if (index < 0 || index >= extent) return std::nullopt;
  return index;
}

absl::Status Outside(const KernelCall& call, int64_t index, int64_t extent) {
  return InvalidError("eval_c15", call.op_name(), ": index ", index, " is outside 0 ... ", extent - 1);
}

// Rows of `row_bytes` picked from [outer, extent] blocks.
absl::StatusOr<Tensor> Picked(const KernelCall& call, const Tensor& x, int axis, const Tensor& indices) {
  TARE_ASSIGN_OR_RETURN(const Tensor wide, Converted(call, indices, DType::kI64));
  Extents shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  int64_t outer = 1, inner = ElementBytes(x.dtype());
  for (int i = 0; i < axis; ++i) outer *= x.extent(i);
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.extent(i);
  const int64_t extent = x.extent(axis);
  std::byte* to = result.mutable_bytes().data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : wide.data<int64_t>()) {
      const std::optional<int64_t> at = Within(index, extent);
      if (!at) return Outside(call, index, extent);
      std::memcpy(to, x.bytes().data() + (o * extent + *at) * inner, inner);
      to += inner;
    }
  }
  return result;
}

absl::StatusOr<Value> Embedding(KernelCall& call) {
  const Tensor& weight = call.tensor("weight");
  const Tensor& indices = call.tensor("indices");
  TARE_RETURN_IF_ERROR(call.status());
  if (weight.rank() != 2) return InvalidError("eval_c16", call.op_name(), " of ", Describe(weight));
  return AsValue(Picked(call, weight, 0, indices));
}

absl::StatusOr<Value> IndexSelect(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const Tensor& index = call.tensor("index");
  const int axis = call.axis("dim", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0 || index.rank() > 1) return InvalidError("eval_c16", call.op_name(), " of ", Describe(x));
  return AsValue(Picked(call, x, axis, index.Reshaped(Extents{index.size()})));
}

absl::StatusOr<Value> Index(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Selection s, SelectByIndices(call, x));
  TARE_ASSIGN_OR_RETURN(Tensor rows, call.Make(x.dtype(), s.shape));
  const int64_t bytes = ElementBytes(x.dtype());
  for (size_t i = 0; i < s.offsets.size(); ++i) {
    std::memcpy(rows.mutable_bytes().data() + i * s.row * bytes, s.x.bytes().data() + s.offsets[i] * bytes,
                s.row * bytes);
  }
  return AsValue(s.FromRows(call, rows));
}

// result[i][j][k] = self[index[i][j][k]][j][k] for dim 0. visit(offset in self, offset in index).
template <typename Visit>
absl::Status ForEachIndexed(const KernelCall& call, const Tensor& self, int axis, const Tensor& index, Visit visit) {
  const Extents strides = ContiguousStrides(self.shape()), own = ContiguousStrides(index.shape());
  for (int i = 0; i < index.rank(); ++i) {
    if (i != axis && index.extent(i) > self.extent(i))
      return InvalidError("eval_c16", call.op_name(), ": ", Describe(index), " exceeds ", Describe(self));
  }
  for (int64_t i = 0; i < index.size(); ++i) {
    const int64_t value = index.data<int64_t>()[i];
    const std::optional<int64_t> picked = Within(value, self.extent(axis));
    if (!picked) return Outside(call, value, self.extent(axis));
    int64_t at = *picked * strides[axis];
    for (int k = 0; k < index.rank(); ++k) {
      if (k != axis) at += i / own[k] % index.extent(k) * strides[k];
    }
    visit(at, i);
  }
  return absl::OkStatus();
}

// The argument `index`, of 32 or 64 bits, in 64.
absl::StatusOr<Tensor> Positions(KernelCall& call) {
  const Tensor& index = call.tensor("index");
  TARE_RETURN_IF_ERROR(call.status());
  if (index.dtype() != DType::kI64 && index.dtype() != DType::kI32)
    return InvalidError("eval_c16", call.op_name(), ": an index of ", Name(index.dtype()));
  return Converted(call, index, DType::kI64);
}

absl::StatusOr<Value> Gather(KernelCall& call) {
  Tensor x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  TARE_ASSIGN_OR_RETURN(Tensor index, Positions(call));
  if (x.rank() == 0) x = x.Reshaped(Extents{1});
  const Extents shape = ShapeOf(index);
  if (index.rank() == 0) index = index.Reshaped(Extents{1});
  if (index.rank() != x.rank())
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(x), " and ", Describe(index));
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  const int64_t bytes = ElementBytes(x.dtype());
  TARE_RETURN_IF_ERROR(ForEachIndexed(call, x, axis, index, [&](int64_t at, int64_t i) {
    std::memcpy(result.mutable_bytes().data() + i * bytes, x.bytes().data() + at * bytes, bytes);
  }));
  return Value(std::move(result));
}

// self with parts replaced: a copy that `write` changes.
template <typename Write>
absl::StatusOr<Value> Changed(const KernelCall& call, const Tensor& self, Write write) {
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(self.dtype(), self.shape()));
  std::memcpy(result.mutable_bytes().data(), self.bytes().data(), self.bytes().size());
  TARE_RETURN_IF_ERROR(write(result));
  return Value(std::move(result));
}

template <bool kAdd>
absl::StatusOr<Value> ScatterFrom(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const int axis = call.axis("dim", self.rank());
  const Tensor source = call.tensor_or_number(call.given("src") ? "src" : "value");
  TARE_ASSIGN_OR_RETURN(const Tensor index, Positions(call));
  TARE_ASSIGN_OR_RETURN(const Tensor values, Converted(call, source, self.dtype()));
  if (self.rank() == 0 || index.rank() != self.rank() || (values.rank() > 0 && values.rank() != index.rank()))
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(self), " and ", Describe(index));
  const Extents own = ContiguousStrides(index.shape()), strides = ContiguousStrides(values.shape());
  for (int k = 0; k < values.rank(); ++k) {
    if (index.extent(k) > values.extent(k))
      return InvalidError("eval_c16", call.op_name(), ": ", Describe(index), " exceeds ", Describe(values));
  }
  return Changed(call, self, [&](Tensor& result) {
    const auto scatter = [&](auto tag) -> absl::StatusOr<Tensor> {
      using T = typename decltype(tag)::type;
      TARE_RETURN_IF_ERROR(ForEachIndexed(call, self, axis, index, [&](int64_t at, int64_t i) {
        int64_t from = 0;
        for (int k = 0; k < values.rank(); ++k) from += i / own[k] % index.extent(k) * strides[k];
        T& to = result.mutable_data<T>()[at];
        to = kAdd ? static_cast<T>(to + values.data<T>()[from]) : values.data<T>()[from];
      }));
      return result;
    };
    return VisitElements(self.dtype(), call.op_name(), scatter).status();
  });
}

// Source written over `size` elements of an axis from `start` on, `step` apart.
absl::StatusOr<Value> Overwritten(KernelCall& call, const Tensor& self, const Tensor& source, int axis, int64_t start,
                                  int64_t step) {
  const Extents strides = ContiguousStrides(self.shape());
  Extents steps = strides;
  steps[axis] *= step;
  return Changed(call, self, [&](Tensor& result) {
    CopyStrided(source.bytes(), 0, ContiguousStrides(source.shape()), result.mutable_bytes(), start * strides[axis],
                steps, source.shape(), ElementBytes(self.dtype()));
    return absl::OkStatus();
  });
}

absl::StatusOr<Value> SliceScatter(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& source = call.tensor("src");
  const int axis = call.axis("dim", self.rank());
  const int64_t step = call.integer("step");
  TARE_RETURN_IF_ERROR(call.status());
  if (self.rank() == 0 || step < 1) return InvalidError("eval_c16", call.op_name(), " of ", Describe(self));
  const int64_t extent = self.extent(axis);
  int64_t start = call.given("start") ? call.integer("start") : 0,
          end = call.given("end") ? call.integer("end") : extent;
  TARE_RETURN_IF_ERROR(call.status());
  start = std::clamp<int64_t>(start < 0 ? start + extent : start, 0, extent);
  end = std::clamp<int64_t>(end < 0 ? end + extent : end, start, extent);
  Extents shape = ShapeOf(self);
  shape[axis] = (end - start) / step + ((end - start) % step != 0 ? 1 : 0);
  if (source.dtype() != self.dtype() || ShapeOf(source) != shape)
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(source), " does not fit ", Describe(self));
  return Overwritten(call, self, source, axis, start, step);
}

absl::StatusOr<Value> SelectScatter(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& source = call.tensor("src");
  const int axis = call.axis("dim", self.rank());
  const int64_t index = call.integer("index");
  TARE_RETURN_IF_ERROR(call.status());
  if (self.rank() == 0) return InvalidError("eval_c16", call.op_name(), " of ", Describe(self));
  const std::optional<int64_t> at = Within(index, self.extent(axis));
  if (!at) return Outside(call, index, self.extent(axis));
  Extents shape = ShapeOf(self);
  shape[axis] = 1;
  Extents without = ShapeOf(self);
  without.erase(without.begin() + axis);
  if (source.dtype() != self.dtype() || ShapeOf(source) != without)
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(source), " does not fit ", Describe(self));
  return Overwritten(call, self, source.Reshaped(shape), axis, *at, 1);
}

// Differences of neighbours along an axis, n times.
absl::StatusOr<Value> Diff(KernelCall& call) {
  Tensor x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  const int64_t times = call.integer("n");
  const Tensor* before = call.optional_tensor("prepend");
  const Tensor* after = call.optional_tensor("append");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c16", call.op_name(), " of ", Describe(x));
  std::vector<const Tensor*> parts;
  if (before != nullptr) parts.push_back(before);
  parts.push_back(&x);
  if (after != nullptr) parts.push_back(after);
  TARE_ASSIGN_OR_RETURN(x, Concatenated(call, parts, axis));
  for (int64_t i = 0; i < times && x.extent(axis) > 0; ++i) {
    Extents size = ShapeOf(x), start(x.rank(), 0);
    const Extents step(x.rank(), 1);
    --size[axis];
    TARE_ASSIGN_OR_RETURN(const Tensor low, Sliced(call, x, start, size, step));
    start[axis] = 1;
    TARE_ASSIGN_OR_RETURN(const Tensor high, Sliced(call, x, start, size, step));
    const bool truth = x.dtype() == DType::kBool;
    TARE_ASSIGN_OR_RETURN(x, VisitElements(x.dtype(), call.op_name(), [&](auto tag) {
                            using T = typename decltype(tag)::type;
                            return Map2<T, T>(call, high, low, x.dtype(), [truth](T a, T b) {
                              return truth ? static_cast<T>(a != b) : static_cast<T>(a - b);
                            });
                          }));
  }
  return Value(x);
}

constexpr KernelRow kRows[] = {
    {"aten.diff.default", Diff},
    {"aten.embedding.default", Embedding},
    {"aten.gather.default", Gather},
    {"aten.index.Tensor", Index},
    {"aten.index_select.default", IndexSelect},
    {"aten.scatter.src", ScatterFrom<false>},
    {"aten.scatter.value", ScatterFrom<false>},
    {"aten.scatter_add.default", ScatterFrom<true>},
    {"aten.select_scatter.default", SelectScatter},
    {"aten.slice_scatter.default", SliceScatter},
};

}  // namespace

std::span<const KernelRow> AtenIndexKernels() { return kRows; }

}  // namespace tare
