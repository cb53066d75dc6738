// ATen's writing by index, sorting and what depends on values. Source: torch/_refs, torch/_decomp,
// torch/_meta_registrations.py.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "eval/aten_select.h"
#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "eval/rows.h"
#include "ir/status.h"

namespace tare {
namespace {

Extents ShapeOf(const Tensor& x) { return Extents(x.shape().begin(), x.shape().end()); }

absl::StatusOr<Tensor> CopyOf(const KernelCall& call, const Tensor& x) {
  TARE_ASSIGN_OR_RETURN(Tensor copy, call.Make(x.dtype(), x.shape()));
  if (x.size() > 0) std::memcpy(copy.mutable_bytes().data(), x.bytes().data(), x.bytes().size());
  return copy;
}

// Writes or adds one element.
template <typename T>
void Put(T& to, T from, bool accumulate) {
  to = accumulate ? static_cast<T>(to + from) : from;
}

absl::StatusOr<Value> IndexPut(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& source = call.tensor("values");
  const bool accumulate = call.flag("accumulate");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Selection s, SelectByIndices(call, self));
  TARE_ASSIGN_OR_RETURN(const Tensor typed, Converted(call, source, self.dtype()));
  TARE_ASSIGN_OR_RETURN(const Tensor values, Expanded(call, typed, s.ResultShape()));
  TARE_ASSIGN_OR_RETURN(const Tensor rows, s.ToRows(call, values));
  TARE_ASSIGN_OR_RETURN(Tensor written, CopyOf(call, s.x));
  TARE_ASSIGN_OR_RETURN(
      const Tensor result, VisitElements(self.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
        using T = typename decltype(tag)::type;
        for (size_t i = 0; i < s.offsets.size(); ++i) {
          for (int64_t k = 0; k < s.row; ++k)
            Put(written.mutable_data<T>()[s.offsets[i] + k], rows.data<T>()[i * s.row + k], accumulate);
        }
        return written;
      }));
  return AsValue(s.FromIndexedFirst(call, result));
}

// self[.., index[i], ..] = or += alpha * source[.., i, ..]; or one value everywhere.
absl::StatusOr<Value> AlongIndex(KernelCall& call, bool accumulate, double alpha) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  const int axis = call.axis("dim", self.rank());
  const bool fills = !call.given("source");
  Tensor source = call.tensor_or_number(fills ? "value" : "source");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor positions, Converted(call, index, DType::kI64));
  Extents expected = ShapeOf(self);
  if (self.rank() > 0) expected[axis] = index.size();
  if (fills) {
    TARE_ASSIGN_OR_RETURN(source, Converted(call, source, self.dtype()));
    TARE_ASSIGN_OR_RETURN(source, Expanded(call, source, expected));
  }
  if (self.rank() == 0 || index.rank() > 1 || source.dtype() != self.dtype() || ShapeOf(source) != expected)
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(source), " does not go with ", Describe(self));
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= self.extent(i);
  for (int i = axis + 1; i < self.rank(); ++i) inner *= self.extent(i);
  TARE_ASSIGN_OR_RETURN(Tensor result, CopyOf(call, self));
  return AsValue(VisitElements(self.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    const int64_t extent = self.extent(axis), count = index.size();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < count; ++i) {
        int64_t at = positions.data<int64_t>()[i];
        if (at < 0) at += extent;
        if (at < 0 || at >= extent) return InvalidError("eval_c15", call.op_name(), ": index ", at, " is outside");
        for (int64_t k = 0; k < inner; ++k) {
          const T value = source.data<T>()[(o * count + i) * inner + k];
          Put(result.mutable_data<T>()[(o * extent + at) * inner + k],
              alpha == 1 ? value : static_cast<T>(value * static_cast<T>(alpha)), accumulate);
        }
      }
    }
    return result;
  }));
}
absl::StatusOr<Value> IndexCopy(KernelCall& call) { return AlongIndex(call, false, 1); }
absl::StatusOr<Value> IndexAdd(KernelCall& call) { return AlongIndex(call, true, call.real("alpha")); }

absl::StatusOr<Value> Copy(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& source = call.tensor(call.given("src") ? "src" : "value");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor typed, Converted(call, source, self.dtype()));
  return AsValue(Expanded(call, typed, self.shape()));
}

// --- sorting

template <typename T>
bool Below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

// The first `count` of each row in order, and where they were; equal ones stay in order.
absl::StatusOr<Value> Sorted(KernelCall& call, int64_t count, bool descending) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  const std::vector<int> axes = x.rank() == 0 ? std::vector<int>() : std::vector<int>{axis};
  TARE_ASSIGN_OR_RETURN(const Rows rows, RowsOf(call, x, axes));
  if (count < 0) count = rows.length;
  if (count > rows.length) return InvalidError("eval_c18", call.op_name(), ": ", count, " of ", rows.length);
  Extents shape = ShapeOf(x);
  if (x.rank() > 0) shape[axis] = count;
  TARE_ASSIGN_OR_RETURN(Tensor indices, call.Make(DType::kI64, Extents{rows.count * count}));
  TARE_ASSIGN_OR_RETURN(const Tensor values,
                        VisitElements(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
                          using T = typename decltype(tag)::type;
                          TARE_ASSIGN_OR_RETURN(Tensor out, call.Make(x.dtype(), Extents{rows.count * count}));
                          std::vector<int64_t> order(rows.length);
                          for (int64_t r = 0; r < rows.count; ++r) {
                            const T* row = rows.elements.data<T>().data() + r * rows.length;
                            std::iota(order.begin(), order.end(), 0);
                            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
                              return descending ? Below(row[b], row[a]) : Below(row[a], row[b]);
                            });
                            for (int64_t k = 0; k < count; ++k) {
                              out.mutable_data<T>()[r * count + k] = row[order[k]];
                              indices.mutable_data<int64_t>()[r * count + k] = order[k];
                            }
                          }
                          return out;
                        }));
  TARE_ASSIGN_OR_RETURN(Tensor first, FromRows(call, values, shape, axes));
  TARE_ASSIGN_OR_RETURN(Tensor second, FromRows(call, indices, shape, axes));
  return Value::List({Value(std::move(first)), Value(std::move(second))});
}

absl::StatusOr<Value> Sort(KernelCall& call) { return Sorted(call, -1, call.flag("descending")); }
absl::StatusOr<Value> TopK(KernelCall& call) { return Sorted(call, call.integer("k"), call.flag("largest")); }

// --- results that depend on values

absl::StatusOr<Value> Item(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.size() != 1) return InvalidError("eval_c16", call.op_name(), " of ", Describe(x));
  if (x.dtype() == DType::kBool) return Value::Bool(x.data<uint8_t>()[0] != 0);
  TARE_ASSIGN_OR_RETURN(const Tensor wide, Converted(call, x, IsFloating(x.dtype()) ? DType::kF64 : DType::kI64));
  return IsFloating(x.dtype()) ? Value::Float(wide.data<double>()[0]) : Value::Int(wide.data<int64_t>()[0]);
}

absl::StatusOr<Value> NonZero(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor mask, Converted(call, x, DType::kBool));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < mask.size(); ++i) {
    if (mask.data<uint8_t>()[i] != 0) found.push_back(i);
  }
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(DType::kI64, Extents{static_cast<int64_t>(found.size()), x.rank()}));
  const Extents strides = ContiguousStrides(x.shape());
  for (size_t i = 0; i < found.size(); ++i) {
    for (int axis = 0; axis < x.rank(); ++axis)
      result.mutable_data<int64_t>()[i * x.rank() + axis] = found[i] / strides[axis] % x.extent(axis);
  }
  return Value(std::move(result));
}

absl::StatusOr<Value> MaskedSelect(KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& mask = call.tensor("mask");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Extents shape, BroadcastShape(self.shape(), mask.shape()));
  TARE_ASSIGN_OR_RETURN(const Tensor x, Expanded(call, self, shape));
  TARE_ASSIGN_OR_RETURN(const Tensor truth, Converted(call, mask, DType::kBool));
  TARE_ASSIGN_OR_RETURN(const Tensor m, Expanded(call, truth, shape));
  const std::span<const uint8_t> taken = m.data<uint8_t>();
  const int64_t count = std::count(taken.begin(), taken.end(), 1);
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), Extents{count}));
  const int64_t bytes = ElementBytes(x.dtype());
  int64_t to = 0;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] != 0) std::memcpy(result.mutable_bytes().data() + bytes * to++, x.bytes().data() + bytes * i, bytes);
  }
  return Value(std::move(result));
}

absl::StatusOr<Value> Assert(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor truth, Converted(call, x, DType::kBool));
  for (const uint8_t v : truth.data<uint8_t>()) {
    if (v == 0) return InvalidError("eval_c15", call.op_name(), ": the assertion of the program does not hold");
  }
  return Value();
}

absl::StatusOr<Value> NanToNum(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const bool has_high = call.given("posinf"), has_low = call.given("neginf");
  const double nan = call.given("nan") ? call.real("nan") : 0, high = has_high ? call.real("posinf") : 0,
               low = has_low ? call.real("neginf") : 0;
  TARE_RETURN_IF_ERROR(call.status());
  if (!IsFloating(x.dtype())) return Value(x);
  return AsValue(VisitFloats(x.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map<T, T>(call, x, x.dtype(), [=](T v) {
      if (std::isnan(v)) return static_cast<T>(nan);
      if (!std::isinf(v)) return v;
      if (v > 0) return has_high ? static_cast<T>(high) : std::numeric_limits<T>::max();
      return has_low ? static_cast<T>(low) : std::numeric_limits<T>::lowest();
    });
  }));
}

// Windows of `size` every `step` along an axis, which become a last axis.
absl::StatusOr<Value> Unfold(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dimension", x.rank());
  const int64_t size = call.integer("size"), step = call.integer("step");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0 || size < 0 || step < 1 || size > x.extent(axis))
    return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  Extents shape = ShapeOf(x), strides = ContiguousStrides(x.shape());
  shape[axis] = (x.extent(axis) - size) / step + 1;
  shape.push_back(size);
  strides.push_back(strides[axis]);
  strides[axis] *= step;
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  CopyStrided(x.bytes(), 0, strides, result.mutable_bytes(), 0, ContiguousStrides(shape), shape,
              ElementBytes(x.dtype()));
  return Value(std::move(result));
}

absl::StatusOr<Value> MoveDim(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  std::vector<int64_t> from = call.ints("source"), to = call.ints("destination");
  TARE_RETURN_IF_ERROR(call.status());
  const int64_t rank = x.rank();
  if (from.size() != to.size()) return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  Extents perms(rank, -1);
  std::vector<bool> moved(rank, false);
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t a = from[i] < 0 ? from[i] + rank : from[i], b = to[i] < 0 ? to[i] + rank : to[i];
    if (a < 0 || a >= rank || b < 0 || b >= rank || moved[a] || perms[b] >= 0)
      return InvalidError("eval_c18", call.op_name(), " of ", Describe(x), ": axes are no permutation");
    perms[b] = a;
    moved[a] = true;
  }
  int64_t next = 0;
  for (int64_t& p : perms) {
    if (p >= 0) continue;
    while (moved[next]) ++next;
    p = next++;
  }
  return AsValue(Permuted(call, x, perms));
}

absl::StatusOr<Value> Linspace(KernelCall& call) {
  const double start = call.real("start"), end = call.real("end");
  const int64_t steps = call.integer("steps");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(Tensor values, call.Make(DType::kF64, Extents{steps}));
  // From both ends, as PyTorch, so that the last one is exact.
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  for (int64_t i = 0; i < steps; ++i) {
    values.mutable_data<double>()[i] = i < steps / 2 || steps == 1 ? start + step * static_cast<double>(i)
                                                                   : end - step * static_cast<double>(steps - 1 - i);
  }
  return AsValue(Converted(call, values, call.result_dtype().value_or(DType::kF32)));
}

constexpr KernelRow kRows[] = {
    {"aten._assert_async.default", Assert},
    {"aten._assert_async.msg", Assert},
    {"aten._local_scalar_dense.default", Item},
    {"aten.copy.default", Copy},
    {"aten.fill.Tensor", Copy},
    {"aten.index_add.default", IndexAdd},
    {"aten.index_copy.default", IndexCopy},
    {"aten.index_fill.int_Scalar", IndexCopy},
    {"aten.index_fill.int_Tensor", IndexCopy},
    {"aten.index_put.default", IndexPut},
    {"aten.item.default", Item},
    {"aten.linspace.default", Linspace},
    {"aten.masked_select.default", MaskedSelect},
    {"aten.movedim.int", MoveDim},
    {"aten.movedim.intlist", MoveDim},
    {"aten.nan_to_num.default", NanToNum},
    {"aten.nonzero.default", NonZero},
    {"aten.sort.default", Sort},
    {"aten.topk.default", TopK},
    {"aten.unfold.default", Unfold},
};

}  // namespace

std::span<const KernelRow> AtenScatterKernels() { return kRows; }

}  // namespace tare
