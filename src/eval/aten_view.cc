// ATen's views and copies of them: other shapes, orders and parts of the same elements.
// Source: torch/_refs/__init__.py.
#include <algorithm>
#include <numeric>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

Extents ShapeOf(const Tensor& x) { return Extents(x.shape().begin(), x.shape().end()); }

absl::StatusOr<Value> Same(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  return Value(x);
}

// Whatever dtype the result is stated or asked to have.
absl::StatusOr<Value> ToDType(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(Converted(call, x, call.result_dtype().value_or(x.dtype())));
}

absl::StatusOr<Value> View(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const std::vector<int64_t> size = call.ints(call.given("size") ? "size" : "shape");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(ReshapedTo(call, x, size));
}

absl::StatusOr<Value> ShapeLike(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const Tensor& other = call.tensor("other");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(ReshapedTo(call, x, ShapeOf(other)));
}

absl::StatusOr<Value> Flatten(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int first = call.axis("start_dim", x.rank()), last = call.axis("end_dim", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return Value(x.Reshaped(Extents{1}));
  if (first > last) return InvalidError("eval_c7", call.op_name(), ": axes ", first, " to ", last, " are no range");
  Extents shape(x.shape().begin(), x.shape().begin() + first);
  int64_t flat = 1;
  for (int i = first; i <= last; ++i) flat *= x.extent(i);
  shape.push_back(flat);
  shape.insert(shape.end(), x.shape().begin() + last + 1, x.shape().end());
  return Value(x.Reshaped(shape));
}

absl::StatusOr<Value> Unflatten(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  const std::vector<int64_t> sizes = call.ints("sizes");
  TARE_RETURN_IF_ERROR(call.status());
  Extents shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  return AsValue(ReshapedTo(call, x, shape));
}

absl::StatusOr<Value> Permute(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const std::vector<int64_t> dims = call.ints("dims");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(Permuted(call, x, dims));
}

absl::StatusOr<Value> Swapped(KernelCall& call, const Tensor& x, int a, int b) {
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < 2) return Value(x);
  Extents perms(x.rank());
  std::iota(perms.begin(), perms.end(), 0);
  std::swap(perms[a], perms[b]);
  return AsValue(Permuted(call, x, perms));
}

absl::StatusOr<Value> Transpose(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  return Swapped(call, x, call.axis("dim0", x.rank()), call.axis("dim1", x.rank()));
}

absl::StatusOr<Value> MatrixTranspose(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  return Swapped(call, x, x.rank() - 2, x.rank() - 1);
}

absl::StatusOr<Value> Unsqueeze(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank() + 1);
  TARE_RETURN_IF_ERROR(call.status());
  Extents shape = ShapeOf(x);
  shape.insert(shape.begin() + axis, 1);
  return Value(x.Reshaped(shape));
}

// Axes of extent 1 among those named, or all of them.
absl::StatusOr<Value> Squeeze(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const bool all = !call.given("dim");
  const std::vector<int64_t> dims = all ? std::vector<int64_t>() : call.ints("dim");
  TARE_RETURN_IF_ERROR(call.status());
  std::vector<bool> named(x.rank() + 1, all);
  for (const int64_t dim : dims) {
    const int64_t axis = dim < 0 ? dim + std::max(x.rank(), 1) : dim;
    if (axis < 0 || axis >= std::max(x.rank(), 1))
      return InvalidError("eval_c7", call.op_name(), ": dim ", dim, " is outside rank ", x.rank());
    named[axis] = true;
  }
  Extents shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (!named[i] || x.extent(i) != 1) shape.push_back(x.extent(i));
  }
  return Value(x.Reshaped(shape));
}

absl::StatusOr<Value> Expand(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  std::vector<int64_t> size = call.given("size") ? call.ints("size") : ShapeOf(call.tensor("other"));
  TARE_RETURN_IF_ERROR(call.status());
  for (size_t i = 0; i < size.size(); ++i) {
    const int64_t own = static_cast<int64_t>(i) - static_cast<int64_t>(size.size()) + x.rank();
    if (size[i] == -1 && own >= 0) size[i] = x.extent(static_cast<int>(own));
  }
  return AsValue(Expanded(call, x, size));
}

// `count` elements of one axis from `start` on, `step` apart.
absl::StatusOr<Tensor> Along(const KernelCall& call, const Tensor& x, int axis, int64_t start, int64_t count,
                             int64_t step) {
  Extents starts(x.rank(), 0), sizes = ShapeOf(x), steps(x.rank(), 1);
  starts[axis] = start;
  sizes[axis] = count;
  steps[axis] = step;
  return Sliced(call, x, starts, sizes, steps);
}

absl::StatusOr<Value> Slice(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c7", call.op_name(), ": a tensor of rank 0 has no axis");
  const int64_t extent = x.extent(axis), step = call.integer("step");
  int64_t start = call.given("start") ? call.integer("start") : 0;
  int64_t end = call.given("end") ? call.integer("end") : extent;
  TARE_RETURN_IF_ERROR(call.status());
  if (step < 1) return InvalidError("eval_c7", call.op_name(), ": step ", step, " is not positive");
  start = std::clamp<int64_t>(start < 0 ? start + extent : start, 0, extent);
  end = std::clamp<int64_t>(end < 0 ? end + extent : end, start, extent);
  return AsValue(Along(call, x, axis, start, (end - start) / step + ((end - start) % step != 0 ? 1 : 0), step));
}

absl::StatusOr<Value> Narrow(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  int64_t start = call.integer("start");
  const int64_t length = call.integer("length");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c7", call.op_name(), ": a tensor of rank 0 has no axis");
  if (start < 0) start += x.extent(axis);
  return AsValue(Along(call, x, axis, start, length, 1));
}

Tensor WithoutAxis(const Tensor& x, int axis) {
  Extents shape = ShapeOf(x);
  shape.erase(shape.begin() + axis);
  return x.Reshaped(shape);
}

absl::StatusOr<Value> Select(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  int64_t index = call.integer("index");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c7", call.op_name(), ": a tensor of rank 0 has no axis");
  if (index < 0) index += x.extent(axis);
  TARE_ASSIGN_OR_RETURN(const Tensor part, Along(call, x, axis, index, 1, 1));
  return Value(WithoutAxis(part, axis));
}

absl::StatusOr<Value> Parts(KernelCall& call, const Tensor& x, int axis, std::span<const int64_t> sizes) {
  std::vector<Value> parts;
  int64_t at = 0;
  for (const int64_t size : sizes) {
    TARE_ASSIGN_OR_RETURN(Tensor part, Along(call, x, axis, at, size, 1));
    parts.emplace_back(std::move(part));
    at += size;
  }
  return Value::List(std::move(parts));
}

// Parts of `size`, the last one smaller.
absl::StatusOr<Value> EvenParts(KernelCall& call, const Tensor& x, int axis, int64_t size) {
  if (x.rank() == 0 || size < 0 || (size == 0 && x.extent(axis) != 0))
    return InvalidError("eval_c7", call.op_name(), ": parts of ", size, " of ", Describe(x));
  std::vector<int64_t> sizes;
  for (int64_t left = x.extent(axis); left > 0 || sizes.empty(); left -= size) {
    sizes.push_back(std::min(size, left));
    if (left == 0) break;
  }
  return Parts(call, x, axis, sizes);
}

absl::StatusOr<Value> Split(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  const int64_t size = call.integer("split_size");
  TARE_RETURN_IF_ERROR(call.status());
  return EvenParts(call, x, axis, size);
}

absl::StatusOr<Value> SplitWithSizes(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  const std::vector<int64_t> sizes = call.ints("split_sizes");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c7", call.op_name(), ": a tensor of rank 0 has no axis");
  return Parts(call, x, axis, sizes);
}

absl::StatusOr<Value> Chunk(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  const int64_t chunks = call.integer("chunks");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0 || chunks < 1)
    return InvalidError("eval_c7", call.op_name(), ": ", chunks, " parts of ", Describe(x));
  const int64_t extent = x.extent(axis);
  if (extent == 0) return Parts(call, x, axis, std::vector<int64_t>(std::min<int64_t>(chunks, 1 << 16), 0));
  return EvenParts(call, x, axis, (extent - 1) / chunks + 1);
}

absl::StatusOr<Value> Unbind(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c7", call.op_name(), ": a tensor of rank 0 has no axis");
  TARE_ASSIGN_OR_RETURN(Value parts, Parts(call, x, axis, std::vector<int64_t>(x.extent(axis), 1)));
  for (Value& part : parts.items) part.tensor = WithoutAxis(part.tensor, axis);
  return parts;
}

// Any view of the storage of a contiguous `self`.
absl::StatusOr<Value> AsStrided(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const std::vector<int64_t> size = call.ints("size"), stride = call.ints("stride", size.size());
  const int64_t offset = call.given("storage_offset") ? call.integer("storage_offset") : 0;
  TARE_RETURN_IF_ERROR(call.status());
  int64_t last = offset;
  bool empty = false, bad = offset < 0;
  for (size_t i = 0; i < size.size() && !bad; ++i) {
    int64_t reach;
    empty |= size[i] == 0;
    bad = size[i] < 0 || stride[i] < 0 ||
          __builtin_mul_overflow(std::max<int64_t>(size[i] - 1, 0), stride[i], &reach) ||
          __builtin_add_overflow(last, reach, &last);
  }
  if (bad || (!empty && last >= x.size()))
    return InvalidError("eval_c18", call.op_name(), " of ", Describe(x), ": it reaches beyond the elements");
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), size));
  CopyStrided(x.bytes(), offset, stride, result.mutable_bytes(), 0, ContiguousStrides(size), size,
              ElementBytes(x.dtype()));
  return Value(std::move(result));
}

// The value of an extent, as a number.
absl::StatusOr<Value> SymSize(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int axis = call.axis("dim", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return InvalidError("eval_c7", call.op_name(), ": a tensor of rank 0 has no axis");
  return Value::Int(x.extent(axis));
}

absl::StatusOr<Value> SymNumel(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  TARE_RETURN_IF_ERROR(call.status());
  return Value::Int(x.size());
}

// Checks hold in a program that was exported.
absl::StatusOr<Value> Nothing(KernelCall&) { return Value(); }

constexpr KernelRow kRows[] = {
    {"aten._assert_scalar.default", Nothing},
    {"aten._assert_tensor_metadata.default", Nothing},
    {"aten._reshape_alias.default", View},
    {"aten._to_copy.default", ToDType},
    {"aten._unsafe_view.default", View},
    {"aten.alias.default", Same},
    {"aten.as_strided.default", AsStrided},
    {"aten.chunk.default", Chunk},
    {"aten.broadcast_to.default", Expand},
    {"aten.clone.default", Same},
    {"aten.contiguous.default", Same},
    {"aten.detach.default", Same},
    {"aten.expand.default", Expand},
    {"aten.expand_as.default", Expand},
    {"aten.flatten.using_ints", Flatten},
    {"aten.lift_fresh_copy.default", Same},
    {"aten.mT.default", MatrixTranspose},
    {"aten.narrow.default", Narrow},
    {"aten.permute.default", Permute},
    {"aten.reshape.default", View},
    {"aten.reshape_as.default", ShapeLike},
    {"aten.select.int", Select},
    {"aten.slice.Tensor", Slice},
    {"aten.split.Tensor", Split},
    {"aten.split_with_sizes.default", SplitWithSizes},
    {"aten.squeeze.default", Squeeze},
    {"aten.squeeze.dim", Squeeze},
    {"aten.squeeze.dims", Squeeze},
    {"aten.sym_constrain_range.default", Nothing},
    {"aten.sym_constrain_range_for_size.default", Nothing},
    {"aten.sym_numel.default", SymNumel},
    {"aten.sym_size.int", SymSize},
    {"aten.t.default", MatrixTranspose},
    {"aten.to.device", ToDType},
    {"aten.to.dtype", ToDType},
    {"aten.to.dtype_layout", ToDType},
    {"aten.to.other", ToDType},
    {"aten.transpose.int", Transpose},
    {"aten.type_as.default", ToDType},
    {"aten.unbind.int", Unbind},
    {"aten.unflatten.int", Unflatten},
    {"aten.unsqueeze.default", Unsqueeze},
    {"aten.view.default", View},
    {"aten.view_as.default", ShapeLike},
    {"dim_order_ops._clone_dim_order.default", Same},
    {"dim_order_ops._to_dim_order_copy.default", ToDType},
};

}  // namespace

std::span<const KernelRow> AtenViewKernels() { return kRows; }

}  // namespace tare
