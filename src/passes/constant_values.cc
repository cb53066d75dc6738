#include "passes/constant_values.h"

#include <cstring>

#include "ir/status.h"

namespace tare {
namespace {

constexpr int64_t kMaxConstantElements = int64_t{1} << 31;

double ReadFloat(DType dtype, const std::byte* at) {
  if (dtype == DType::kF64) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  float value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

}  // namespace

std::optional<std::vector<double>> ReadFloats(const Context& context, const Constant& constant) {
  const Meta& meta = context.metas.Get(constant.meta);
  if (meta.kind != MetaKind::kTensor || constant.payload.missing) return std::nullopt;
  const TensorMeta& t = meta.tensor;
  if ((t.dtype != DType::kF32 && t.dtype != DType::kF64) || t.layout != Layout::kStrided || !t.offset.is_static())
    return std::nullopt;
  const size_t rank = t.shape.size();
  const int64_t element_bytes = BytesOf(t.dtype);
  int64_t count = 1, last = t.offset.value();
  for (size_t i = 0; i < rank; ++i) {
    if (!t.shape[i].is_static() || !t.strides[i].is_static()) return std::nullopt;
    int64_t reach;
    if (__builtin_mul_overflow(count, t.shape[i].value(), &count) || count > kMaxConstantElements) return std::nullopt;
    if (t.shape[i].value() == 0) continue;
    if (__builtin_mul_overflow(t.shape[i].value() - 1, t.strides[i].value(), &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return std::nullopt;
  }
  std::vector<double> values;
  if (count == 0) return values;
  const std::span<const std::byte> bytes = constant.payload.bytes;
  if (last >= static_cast<int64_t>(bytes.size()) / element_bytes) return std::nullopt;
  values.reserve(count);
  std::vector<int64_t> index(rank, 0);
  int64_t at = t.offset.value();
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(ReadFloat(t.dtype, bytes.data() + at * element_bytes));
    for (size_t axis = rank; axis-- > 0;) {
      at += t.strides[axis].value();
      if (++index[axis] < t.shape[axis].value()) break;
      at -= t.strides[axis].value() * t.shape[axis].value();
      index[axis] = 0;
    }
  }
  return values;
}

std::vector<std::byte> FloatBytes(DType dtype, std::span<const double> values) {
  TARE_CHECK(dtype == DType::kF32 || dtype == DType::kF64);
  std::vector<std::byte> bytes(values.size() * BytesOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kF64) {
      std::memcpy(bytes.data() + i * sizeof(double), &values[i], sizeof(double));
    } else {
      const float value = static_cast<float>(values[i]);
      std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
    }
  }
  return bytes;
}

}  // namespace tare
