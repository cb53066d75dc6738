// ATen's joining, repeating, padding and making of tensors. Source: torch/_refs/__init__.py.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

Extents ShapeOf(const Tensor& x) { return Extents(x.shape().begin(), x.shape().end()); }

// All parts in the dtype of the result.
absl::StatusOr<std::vector<Tensor>> PartsOf(KernelCall& call) {
  std::vector<Tensor> parts;
  for (const Tensor* part : call.tensors("tensors")) {
    if (part == nullptr) return InvalidError("eval_c18", call.op_name(), ": a part is missing");
    TARE_RETURN_IF_ERROR(call.status());
    TARE_ASSIGN_OR_RETURN(parts.emplace_back(), Converted(call, *part, call.result_dtype().value_or(part->dtype())));
  }
  TARE_RETURN_IF_ERROR(call.status());
  if (parts.empty()) return InvalidError("eval_c18", call.op_name(), ": there is nothing to join");
  return parts;
}

absl::StatusOr<Value> Join(KernelCall& call, const std::vector<Tensor>& parts) {
  std::vector<const Tensor*> kept;
  // An empty tensor of one axis joins with anything.
  for (const Tensor& part : parts) {
    if (part.rank() != 1 || part.size() != 0) kept.push_back(&part);
  }
  if (kept.empty()) return Value(parts[0]);
  const int axis = call.axis("dim", kept[0]->rank());
  TARE_RETURN_IF_ERROR(call.status());
  if (kept[0]->rank() == 0) return InvalidError("eval_c18", call.op_name(), ": tensors of rank 0 have no axis");
  return AsValue(Concatenated(call, kept, axis));
}

absl::StatusOr<Value> CatTensors(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(const std::vector<Tensor> parts, PartsOf(call));
  return Join(call, parts);
}

absl::StatusOr<Value> Stack(KernelCall& call) {
  TARE_ASSIGN_OR_RETURN(std::vector<Tensor> parts, PartsOf(call));
  const int axis = call.axis("dim", parts[0].rank() + 1);
  TARE_RETURN_IF_ERROR(call.status());
  std::vector<const Tensor*> pointers;
  const int rank = parts[0].rank();
  for (Tensor& part : parts) {
    if (part.rank() != rank) return InvalidError("eval_c18", call.op_name(), ": ranks differ");
    Extents shape = ShapeOf(part);
    shape.insert(shape.begin() + axis, 1);
    part = part.Reshaped(shape);
    pointers.push_back(&part);
  }
  return AsValue(Concatenated(call, pointers, axis));
}

absl::StatusOr<Value> Repeat(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  std::vector<int64_t> repeats = call.ints(call.given("repeats") ? "repeats" : "dims");
  TARE_RETURN_IF_ERROR(call.status());
  if (repeats.size() < x.shape().size()) repeats.insert(repeats.begin(), x.shape().size() - repeats.size(), 1);
  return AsValue(Tiled(call, x, repeats));
}

// Each element of an axis so many times in a row.
absl::StatusOr<Value> RepeatInterleave(KernelCall& call) {
  Tensor x = call.tensor("self");
  const int64_t repeats = call.integer("repeats");
  TARE_RETURN_IF_ERROR(call.status());
  if (!call.given("dim")) x = x.Reshaped(Extents{x.size()});
  const int axis = call.given("dim") ? call.axis("dim", x.rank()) : 0;
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() == 0 || repeats < 0) return InvalidError("eval_c18", call.op_name(), ": ", repeats, " of ", Describe(x));
  Extents split = ShapeOf(x), multiples(x.rank() + 1, 1), shape = ShapeOf(x);
  split.insert(split.begin() + axis + 1, 1);
  multiples[axis + 1] = repeats;
  TARE_ASSIGN_OR_RETURN(const Tensor tiled, Tiled(call, x.Reshaped(split), multiples));
  shape[axis] *= repeats;
  return AsValue(ReshapedTo(call, tiled, shape));
}

absl::StatusOr<Value> Flip(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const std::vector<int64_t> dims = call.ints("dims");
  TARE_RETURN_IF_ERROR(call.status());
  Extents start(x.rank(), 0), step(x.rank(), 1);
  for (const int64_t dim : dims) {
    const int64_t axis = dim < 0 ? dim + x.rank() : dim;
    if (axis < 0 || axis >= x.rank())
      return InvalidError("eval_c7", call.op_name(), ": dim ", dim, " is outside rank ", x.rank());
    start[axis] = std::max<int64_t>(x.extent(static_cast<int>(axis)) - 1, 0);
    step[axis] = -1;
  }
  return AsValue(Sliced(call, x, start, x.shape(), step));
}

absl::StatusOr<Value> Roll(KernelCall& call) {
  Tensor x = call.tensor("self");
  const std::vector<int64_t> shifts = call.ints("shifts");
  std::vector<int64_t> dims = call.ints("dims");
  TARE_RETURN_IF_ERROR(call.status());
  const Extents shape = ShapeOf(x);
  if (dims.empty()) {
    x = x.Reshaped(Extents{x.size()});
    dims = {0};
  }
  if (dims.size() != shifts.size())
    return InvalidError("eval_c18", call.op_name(), ": as many dims as shifts are needed");
  for (size_t i = 0; i < dims.size() && x.size() > 0; ++i) {
    const int64_t axis = dims[i] < 0 ? dims[i] + x.rank() : dims[i];
    if (axis < 0 || axis >= x.rank()) return InvalidError("eval_c7", call.op_name(), ": dim ", dims[i], " is outside");
    const int64_t extent = x.extent(static_cast<int>(axis));
    const int64_t cut = (extent - (shifts[i] % extent + extent) % extent) % extent;
    Extents start(x.rank(), 0), size = ShapeOf(x);
    const Extents step(x.rank(), 1);
    start[axis] = cut;
    size[axis] = extent - cut;
    TARE_ASSIGN_OR_RETURN(const Tensor back, Sliced(call, x, start, size, step));
    start[axis] = 0;
    size[axis] = cut;
    TARE_ASSIGN_OR_RETURN(const Tensor front, Sliced(call, x, start, size, step));
    const Tensor* const parts[] = {&back, &front};
    TARE_ASSIGN_OR_RETURN(x, Concatenated(call, parts, static_cast<int>(axis)));
  }
  return Value(x.Reshaped(shape));
}

// Pads name the last axis first; a negative one takes elements away.
absl::StatusOr<Value> PadWith(KernelCall& call, const Number& number) {
  Tensor x = call.tensor("self");
  const std::vector<int64_t> pad = call.ints("pad");
  TARE_RETURN_IF_ERROR(call.status());
  if (pad.size() % 2 != 0 || pad.size() / 2 > x.shape().size())
    return InvalidError("eval_c18", call.op_name(), ": ", pad.size(), " pads of ", Describe(x));
  Extents start(x.rank(), 0), size = ShapeOf(x), before(x.rank(), 0), shape = ShapeOf(x);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t axis = x.shape().size() - 1 - i;
    const int64_t front = pad[2 * i], back = pad[2 * i + 1];
    if (std::max(front, back) > kMaxElements || std::min(front, back) < -kMaxElements)
      return InvalidError("eval_c18", call.op_name(), ": pads are out of range");
    start[axis] = std::max<int64_t>(-front, 0);
    size[axis] -= start[axis] + std::max<int64_t>(-back, 0);
    before[axis] = std::max<int64_t>(front, 0);
    shape[axis] = size[axis] + before[axis] + std::max<int64_t>(back, 0);
  }
  TARE_ASSIGN_OR_RETURN(x, Sliced(call, x, start, size, Extents(x.rank(), 1)));
  return AsValue(Padded(call, x, before, shape, ElementOf(x.dtype(), number)));
}

absl::StatusOr<Value> ConstantPad(KernelCall& call) { return PadWith(call, call.number("value")); }

// reflect, replicate and circular, axis by axis: where position i of the padded axis comes from.
absl::StatusOr<Value> Pad(KernelCall& call) {
  const std::string_view mode = call.text("mode");
  if (mode == "constant") {
    if (!call.given("value")) return PadWith(call, Number());
    return PadWith(call, call.number("value"));
  }
  Tensor x = call.tensor("self");
  const std::vector<int64_t> pad = call.ints("pad");
  TARE_RETURN_IF_ERROR(call.status());
  if (pad.size() % 2 != 0 || pad.size() / 2 > x.shape().size())
    return InvalidError("eval_c18", call.op_name(), ": ", pad.size(), " pads of ", Describe(x));
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int axis = x.rank() - 1 - static_cast<int>(i);
    const int64_t n = x.extent(axis), front = pad[2 * i], back = pad[2 * i + 1];
    const int64_t most = mode == "reflect" ? n - 1 : mode == "circular" ? n : kMaxElements;
    if (front < 0 || back < 0 || front > most || back > most || n == 0)
      return InvalidError("eval_c18", call.op_name(), ": pads ", front, " and ", back, " of ", Describe(x));
    Extents shape = ShapeOf(x);
    shape[axis] = front + n + back;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
    Extents slice = ShapeOf(x);
    slice[axis] = 1;
    const Extents from = ContiguousStrides(x.shape()), to = ContiguousStrides(shape);
    for (int64_t o = 0; o < shape[axis]; ++o) {
      int64_t at = o - front;
      if (mode == "reflect") {
        at = at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at;
      } else if (mode == "circular") {
        at = (at + n) % n;
      } else {
        at = std::clamp<int64_t>(at, 0, n - 1);
      }
      CopyStrided(x.bytes(), at * from[axis], from, result.mutable_bytes(), o * to[axis], to, slice,
                  ElementBytes(x.dtype()));
    }
    x = std::move(result);
  }
  return Value(x);
}

// [N, C r r, H, W] to [N, C, H r, W r], and back.
absl::StatusOr<Value> PixelShuffle(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int64_t r = call.integer("upscale_factor");
  TARE_RETURN_IF_ERROR(call.status());
  const int n = x.rank();
  if (n < 3 || r < 1 || r > 1 << 15 || x.extent(n - 3) % (r * r) != 0)
    return InvalidError("eval_c18", call.op_name(), " of ", Describe(x), " by ", r);
  int64_t batch = 1;
  for (int i = 0; i < n - 3; ++i) batch *= x.extent(i);
  const int64_t c = x.extent(n - 3) / (r * r), h = x.extent(n - 2), w = x.extent(n - 1);
  TARE_ASSIGN_OR_RETURN(const Tensor shuffled,
                        Permuted(call, x.Reshaped(Extents{batch, c, r, r, h, w}), Extents{0, 1, 4, 2, 5, 3}));
  Extents shape = ShapeOf(x);
  shape[n - 3] = c;
  shape[n - 2] = h * r;
  shape[n - 1] = w * r;
  return Value(shuffled.Reshaped(shape));
}

absl::StatusOr<Value> PixelUnshuffle(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int64_t r = call.integer("downscale_factor");
  TARE_RETURN_IF_ERROR(call.status());
  const int n = x.rank();
  if (n < 3 || r < 1 || x.extent(n - 2) % r != 0 || x.extent(n - 1) % r != 0)
    return InvalidError("eval_c18", call.op_name(), " of ", Describe(x), " by ", r);
  int64_t batch = 1;
  for (int i = 0; i < n - 3; ++i) batch *= x.extent(i);
  const int64_t c = x.extent(n - 3), h = x.extent(n - 2) / r, w = x.extent(n - 1) / r;
  TARE_ASSIGN_OR_RETURN(const Tensor shuffled,
                        Permuted(call, x.Reshaped(Extents{batch, c, h, r, w, r}), Extents{0, 1, 3, 5, 2, 4}));
  Extents shape = ShapeOf(x);
  shape[n - 3] = c * r * r;
  shape[n - 2] = h;
  shape[n - 1] = w;
  return Value(shuffled.Reshaped(shape));
}

// Triangles of the last two axes: above (or below) diagonal `diagonal` becomes 0.
template <bool kLower>
absl::StatusOr<Value> Triangle(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  const int64_t diagonal = call.integer("diagonal");
  TARE_RETURN_IF_ERROR(call.status());
  if (x.rank() < 2) return InvalidError("eval_c18", call.op_name(), " of ", Describe(x));
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), x.shape()));
  const int64_t rows = x.extent(x.rank() - 2), columns = x.extent(x.rank() - 1), bytes = ElementBytes(x.dtype());
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t row = i / columns % rows, column = i % columns;
    if (kLower ? column - row <= diagonal : column - row >= diagonal)
      std::memcpy(result.mutable_bytes().data() + i * bytes, x.bytes().data() + i * bytes, bytes);
  }
  return Value(std::move(result));
}

// --- factories: the dtype is what the node states

absl::StatusOr<Value> Filled(KernelCall& call, std::span<const int64_t> shape, const Number& number, DType otherwise) {
  TARE_RETURN_IF_ERROR(call.status());
  const DType dtype = call.result_dtype().value_or(otherwise);
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(dtype, shape));
  const std::vector<std::byte> element = ElementOf(dtype, number);
  for (int64_t i = 0; i < result.size(); ++i)
    std::memcpy(result.mutable_bytes().data() + i * element.size(), element.data(), element.size());
  return Value(std::move(result));
}

Number Integer(int64_t value) { return {ValueKind::kInt, value, 0}; }

absl::StatusOr<Value> Full(KernelCall& call) {
  return Filled(call, call.ints("size"), call.number("fill_value"), DType::kF32);
}
absl::StatusOr<Value> FullLike(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  return Filled(call, x.shape(), call.number("fill_value"), x.dtype());
}
template <int64_t kValue>
absl::StatusOr<Value> Constant(KernelCall& call) {
  return Filled(call, call.ints("size"), Integer(kValue), DType::kF32);
}
template <int64_t kValue>
absl::StatusOr<Value> ConstantLike(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  return Filled(call, x.shape(), Integer(kValue), x.dtype());
}
absl::StatusOr<Value> FillWith(KernelCall& call) {
  const Tensor& x = call.tensor("self");
  return Filled(call, x.shape(), call.number("value"), x.dtype());
}
absl::StatusOr<Value> ScalarTensor(KernelCall& call) { return Filled(call, {}, call.number("s"), DType::kF32); }

// start, start + step, … below end; integers in int64, others in double.
absl::StatusOr<Value> Arange(KernelCall& call) {
  const Number start = call.given("start") ? call.number("start") : Integer(0), end = call.number("end");
  const Number step = call.given("step") ? call.number("step") : Integer(1);
  TARE_RETURN_IF_ERROR(call.status());
  const bool whole = start.kind == ValueKind::kInt && end.kind == ValueKind::kInt && step.kind == ValueKind::kInt;
  const double span = (end.as_real() - start.as_real()) / step.as_real();
  if (!(step.as_real() != 0) || !(span >= 0) || span > 1e15)
    return InvalidError("eval_c18", call.op_name(), ": ", start.as_real(), " to ", end.as_real(), " is no range");
  int64_t count = static_cast<int64_t>(std::ceil(span));
  if (whole) {
    const int64_t length = end.integer - start.integer;
    count = length / step.integer + (length % step.integer != 0 ? 1 : 0);
  }
  const DType dtype = call.result_dtype().value_or(whole ? DType::kI64 : DType::kF32);
  TARE_ASSIGN_OR_RETURN(Tensor values, call.Make(whole ? DType::kI64 : DType::kF64, Extents{count}));
  for (int64_t i = 0; i < count; ++i) {
    if (whole) {
      values.mutable_data<int64_t>()[i] = start.integer + i * step.integer;
    } else {
      values.mutable_data<double>()[i] = start.as_real() + static_cast<double>(i) * step.as_real();
    }
  }
  return AsValue(Converted(call, values, dtype));
}

constexpr KernelRow kRows[] = {
    {"aten.arange.default", Arange},
    {"aten.arange.start", Arange},
    {"aten.arange.start_step", Arange},
    {"aten.cat.default", CatTensors},
    {"aten.concat.default", CatTensors},
    {"aten.constant_pad_nd.default", ConstantPad},
    {"aten.empty.memory_format", Constant<0>},
    {"aten.empty_like.default", ConstantLike<0>},
    {"aten.fill.Scalar", FillWith},
    {"aten.flip.default", Flip},
    {"aten.full.default", Full},
    {"aten.full_like.default", FullLike},
    {"aten.new_empty.default", Constant<0>},
    {"aten.new_full.default", Full},
    {"aten.new_ones.default", Constant<1>},
    {"aten.new_zeros.default", Constant<0>},
    {"aten.ones.default", Constant<1>},
    {"aten.ones_like.default", ConstantLike<1>},
    {"aten.pad.default", Pad},
    {"aten.pixel_shuffle.default", PixelShuffle},
    {"aten.pixel_unshuffle.default", PixelUnshuffle},
    {"aten.repeat.default", Repeat},
    {"aten.repeat_interleave.self_int", RepeatInterleave},
    {"aten.roll.default", Roll},
    {"aten.scalar_tensor.default", ScalarTensor},
    {"aten.stack.default", Stack},
    {"aten.tile.default", Repeat},
    {"aten.tril.default", Triangle<true>},
    {"aten.triu.default", Triangle<false>},
    {"aten.zeros.default", Constant<0>},
    {"aten.zeros_like.default", ConstantLike<0>},
};

}  // namespace

std::span<const KernelRow> AtenJoinKernels() { return kRows; }

}  // namespace tare
