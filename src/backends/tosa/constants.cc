#include "backends/tosa/constants.h"

#include <Eigen/Core>
#include <cstring>

#include "ir/status.h"

namespace tare {
namespace {

constexpr int64_t kMaxHeldElements = int64_t{1} << 31;

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  uint32_t word;
  if (exponent == 0x1f) {
    word = sign | 0x7f800000u | (fraction << 13);
  } else if (exponent != 0) {
    word = sign | ((exponent + 112) << 23) | (fraction << 13);
  } else if (fraction == 0) {
    word = sign;
  } else {
    exponent = 113;
    while ((fraction & 0x400) == 0) {
      fraction <<= 1;
      --exponent;
    }
    word = sign | (exponent << 23) | ((fraction & 0x3ff) << 13);
  }
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

std::optional<int64_t> LoadInteger(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kBool:
      return Load<uint8_t>(at) != 0;
    case DType::kU8:
      return Load<uint8_t>(at);
    case DType::kI8:
    case DType::kI4:
      return Load<int8_t>(at);
    case DType::kI16:
      return Load<int16_t>(at);
    case DType::kU16:
      return Load<uint16_t>(at);
    case DType::kI32:
      return Load<int32_t>(at);
    case DType::kU32:
      return Load<uint32_t>(at);
    case DType::kI48:
    case DType::kI64:
      return Load<int64_t>(at);
    default:
      return std::nullopt;
  }
}

std::optional<double> LoadNumber(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kF16:
      return HalfToFloat(Load<uint16_t>(at));
    case DType::kBF16: {
      const uint32_t word = uint32_t{Load<uint16_t>(at)} << 16;
      float value;
      std::memcpy(&value, &word, sizeof(value));
      return value;
    }
    case DType::kF32:
      return Load<float>(at);
    case DType::kF64:
      return Load<double>(at);
    default:
      if (const std::optional<int64_t> value = LoadInteger(dtype, at)) return static_cast<double>(*value);
      return std::nullopt;
  }
}

const TensorMeta* TensorOf(const Context& context, const Constant& constant) {
  if (!constant.meta.has_value()) return nullptr;
  const Meta& meta = context.metas.Get(constant.meta);
  return meta.kind == MetaKind::kTensor ? &meta.tensor : nullptr;
}

template <typename Value, typename Function>
std::optional<std::vector<Value>> ReadAll(const Context& context, const Constant& constant, Function load) {
  const TensorMeta* tensor = TensorOf(context, constant);
  const std::optional<std::vector<std::byte>> bytes = DenseBytes(context, constant);
  if (tensor == nullptr || !bytes.has_value()) return std::nullopt;
  const size_t size = static_cast<size_t>(StoredBytesOf(tensor->dtype));
  std::vector<Value> values;
  values.reserve(bytes->size() / size);
  for (size_t at = 0; at < bytes->size(); at += size) {
    const std::optional<Value> value = load(tensor->dtype, bytes->data() + at);
    if (!value.has_value()) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

}  // namespace

int StoredBytesOf(DType dtype) {
  if (dtype == DType::kI4) return 1;
  if (dtype == DType::kI48) return 8;
  return BytesOf(dtype);
}

std::optional<std::vector<int64_t>> StaticShape(const TensorMeta& meta) {
  std::vector<int64_t> shape;
  for (const Dim dim : meta.shape) {
    if (!dim.is_static()) return std::nullopt;
    shape.push_back(dim.value());
  }
  return shape;
}

std::optional<int64_t> ElementCount(const TensorMeta& meta) {
  int64_t count = 1;
  for (const Dim dim : meta.shape)
    if (!dim.is_static() || __builtin_mul_overflow(count, dim.value(), &count)) return std::nullopt;
  return count;
}

std::optional<std::vector<std::byte>> DenseBytes(const Context& context, const Constant& constant) {
  const TensorMeta* t = TensorOf(context, constant);
  if (t == nullptr || constant.payload.missing || t->layout != Layout::kStrided || !t->offset.is_static())
    return std::nullopt;
  const int64_t element = StoredBytesOf(t->dtype);
  const std::optional<int64_t> count = ElementCount(*t);
  if (element == 0 || !count.has_value() || *count > kMaxHeldElements) return std::nullopt;
  std::vector<std::byte> dense;
  if (*count == 0) return dense;
  const size_t rank = t->shape.size();
  int64_t last = t->offset.value(), expected = 1;
  bool contiguous = true;
  for (size_t i = rank; i-- > 0;) {
    if (!t->strides[i].is_static() || t->strides[i].value() < 0) return std::nullopt;
    int64_t reach;
    if (__builtin_mul_overflow(t->shape[i].value() - 1, t->strides[i].value(), &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return std::nullopt;
    contiguous = contiguous && (t->shape[i].value() == 1 || t->strides[i].value() == expected);
    expected *= t->shape[i].value();
  }
  const std::span<const std::byte> bytes = constant.payload.bytes;
  if (t->offset.value() < 0 || last >= static_cast<int64_t>(bytes.size()) / element) return std::nullopt;
  if (contiguous) {
    const auto from = bytes.begin() + t->offset.value() * element;
    dense.assign(from, from + *count * element);
    ForgetPages(constant.payload);
    return dense;
  }
  dense.resize(static_cast<size_t>(*count * element));
  std::vector<int64_t> index(rank, 0);
  int64_t at = t->offset.value();
  for (int64_t i = 0; i < *count; ++i) {
    std::memcpy(dense.data() + i * element, bytes.data() + at * element, static_cast<size_t>(element));
    for (size_t axis = rank; axis-- > 0;) {
      at += t->strides[axis].value();
      if (++index[axis] < t->shape[axis].value()) break;
      at -= t->strides[axis].value() * t->shape[axis].value();
      index[axis] = 0;
    }
  }
  ForgetPages(constant.payload);
  return dense;
}

std::optional<std::vector<int64_t>> ReadIntegers(const Context& context, const Constant& constant) {
  return ReadAll<int64_t>(context, constant, LoadInteger);
}

std::optional<std::vector<double>> ReadNumbers(const Context& context, const Constant& constant) {
  return ReadAll<double>(context, constant, LoadNumber);
}

std::vector<std::byte> IntegerBytes(DType dtype, std::span<const int64_t> values) {
  const size_t size = static_cast<size_t>(StoredBytesOf(dtype));
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(bytes.data() + i * size, &values[i], size);  // little endian
  return bytes;
}

const TensorMeta& DenseMeta(Context& context, DType dtype, std::span<const int64_t> shape) {
  std::vector<Dim> dims, strides(shape.size());
  for (const int64_t extent : shape) dims.push_back(Dim::Static(extent));
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = Dim::Static(stride);
    stride *= std::max<int64_t>(shape[i], 1);
  }
  TensorMeta meta;
  meta.dtype = dtype;
  meta.shape = dims;
  meta.strides = strides;
  meta.offset = Dim::Static(0);
  return context.metas.Get(context.metas.Tensor(meta)).tensor;
}

absl::StatusOr<Node> AddIntegers(Rewriter& rw, std::string_view name, DType dtype, std::span<const int64_t> shape,
                                 std::span<const int64_t> values) {
  return rw.AddConstant(name, DenseMeta(rw.context(), dtype, shape), IntegerBytes(dtype, values));
}

namespace {

template <typename Element>
std::vector<std::byte> FloatBytes(std::span<const float> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Element));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto element = static_cast<Element>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Element), &element, sizeof(Element));
  }
  return bytes;
}

}  // namespace

absl::StatusOr<Node> AddFloats(Rewriter& rw, std::string_view name, DType dtype, std::span<const int64_t> shape,
                               std::span<const float> values) {
  std::vector<std::byte> bytes;
  switch (dtype) {
    case DType::kF32:
      bytes = FloatBytes<float>(values);
      break;
    case DType::kF16:
      bytes = FloatBytes<Eigen::half>(values);
      break;
    case DType::kBF16:
      bytes = FloatBytes<Eigen::bfloat16>(values);
      break;
    default:
      return UnimplementedError("tosa_lower_c1", "constants of ", Name(dtype), " are not made yet");
  }
  return rw.AddConstant(name, DenseMeta(rw.context(), dtype, shape), std::move(bytes));
}

}  // namespace tare
