// TOSA's data layout operators and IDENTITY. Source: TOSA 1.0, data layout operators.
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

absl::StatusOr<Value> Concat(KernelCall& call) {
  const std::vector<const Tensor*> parts = call.tensors("input1");
  TARE_RETURN_IF_ERROR(call.status());
  if (parts.empty() || parts[0] == nullptr || parts[0]->rank() == 0)
    return InvalidError("eval_c18", call.op_name(), ": there is nothing to join");
  const int axis = call.axis("axis", parts[0]->rank());
  TARE_RETURN_IF_ERROR(call.status());
  for (const Tensor* part : parts) {
    if (part == nullptr) return InvalidError("eval_c18", call.op_name(), ": a part is missing");
  }
  return AsValue(Concatenated(call, parts, axis));
}

absl::StatusOr<Value> Identity(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  TARE_RETURN_IF_ERROR(call.status());
  return Value(x);
}

absl::StatusOr<Value> Pad(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  const std::vector<int64_t> padding = call.ints("padding", 2 * x.shape().size());
  const Number number = call.number("value");
  TARE_RETURN_IF_ERROR(call.status());
  Extents before, shape;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t front = padding[2 * i], back = padding[2 * i + 1];
    if (front < 0 || back < 0 || front > kMaxElements || back > kMaxElements)
      return InvalidError("eval_c18", call.op_name(), ": padding ", front, " or ", back, " is out of range");
    before.push_back(front);
    shape.push_back(front + x.extent(i) + back);
  }
  return AsValue(Padded(call, x, before, shape, ElementOf(x.dtype(), number)));
}

absl::StatusOr<Value> Reshape(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  const std::vector<int64_t> shape = call.ints("shape");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(ReshapedTo(call, x, shape));
}

absl::StatusOr<Value> Reverse(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  const int axis = call.axis("axis", x.rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0) return Value(x);
  Extents start(x.rank(), 0), step(x.rank(), 1);
  start[axis] = x.extent(axis) - 1;
  step[axis] = -1;
  return AsValue(Sliced(call, x, start, x.shape(), step));
}

absl::StatusOr<Value> Slice(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  const std::vector<int64_t> start = call.ints("start", x.shape().size());
  const std::vector<int64_t> size = call.ints("size", x.shape().size());
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(Sliced(call, x, start, size, Extents(x.rank(), 1)));
}

absl::StatusOr<Value> Tile(KernelCall& call) {
  const Tensor& x = call.tensor("input1");
  const std::vector<int64_t> multiples = call.ints("multiples", x.shape().size());
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(Tiled(call, x, multiples));
}

absl::StatusOr<Value> Transpose(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const std::vector<int64_t> perms = call.ints("perms");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(Permuted(call, x, perms));
}

constexpr KernelRow kRows[] = {
    {"tosa.CONCAT.default", Concat},   {"tosa.IDENTITY.default", Identity},   {"tosa.PAD.default", Pad},
    {"tosa.RESHAPE.default", Reshape}, {"tosa.REVERSE.default", Reverse},     {"tosa.SLICE.default", Slice},
    {"tosa.TILE.default", Tile},       {"tosa.TRANSPOSE.default", Transpose},
};

}  // namespace

std::span<const KernelRow> TosaLayoutKernels() { return kRows; }

}  // namespace tare
