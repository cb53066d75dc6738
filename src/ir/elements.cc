#include "ir/elements.h"

#include <cstring>

#include "ir/dtype.h"

namespace tare {
namespace {

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Calls `visit` with the place, in elements, of each element; false when one lies outside of `storage`.
template <typename Visit>
bool ForEachElement(const TensorMeta& tensor, int64_t storage, int64_t limit, Visit visit) {
  if (tensor.layout != Layout::kStrided || !tensor.offset.is_static() || tensor.offset.value() < 0) return false;
  const size_t rank = tensor.shape.size();
  int64_t count = 1, last = tensor.offset.value();
  bool empty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (!tensor.shape[i].is_static() || !tensor.strides[i].is_static()) return false;
    const int64_t extent = tensor.shape[i].value(), stride = tensor.strides[i].value();
    if (extent < 0 || stride < 0) return false;
    empty |= extent == 0;
    int64_t reach;
    if (empty) continue;
    if (__builtin_mul_overflow(count, extent, &count) || count > limit) return false;
    if (__builtin_mul_overflow(extent - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last)) return false;
  }
  if (empty) return true;
  if (last >= storage) return false;
  std::vector<int64_t> index(rank, 0);
  int64_t at = tensor.offset.value();
  for (int64_t i = 0; i < count; ++i) {
    visit(at);
    for (size_t axis = rank; axis-- > 0;) {
      at += tensor.strides[axis].value();
      if (++index[axis] < tensor.shape[axis].value()) break;
      at -= tensor.strides[axis].value() * tensor.shape[axis].value();
      index[axis] = 0;
    }
  }
  return true;
}

}  // namespace

std::optional<Elements> ReadElements(const Context& context, const Constant& constant, int64_t limit) {
  const Meta& meta = context.metas.Get(constant.meta);
  if (meta.kind != MetaKind::kTensor || constant.payload.missing) return std::nullopt;
  const TensorMeta& tensor = meta.tensor;
  const std::byte* data = constant.payload.bytes.data();
  Elements elements;
  const auto read = [&](auto& into, auto load) {
    const int64_t bytes = BytesOf(tensor.dtype);
    return ForEachElement(tensor, static_cast<int64_t>(constant.payload.bytes.size()) / bytes, limit,
                          [&](int64_t at) { into.push_back(load(data + at * bytes)); });
  };
  bool known = false;
  const auto integers = [&](auto example) {
    known =
        read(elements.integers, [](const std::byte* at) { return static_cast<int64_t>(Load<decltype(example)>(at)); });
  };
  const auto reals = [&](auto example) {
    elements.is_real = true;
    known = read(elements.reals, [](const std::byte* at) { return static_cast<double>(Load<decltype(example)>(at)); });
  };
  switch (tensor.dtype) {
    case DType::kBool:
      known = read(elements.integers, [](const std::byte* at) { return int64_t{*at != std::byte{0}}; });
      break;
    case DType::kU8:
      integers(uint8_t{});
      break;
    case DType::kI8:
      integers(int8_t{});
      break;
    case DType::kU16:
      integers(uint16_t{});
      break;
    case DType::kI16:
      integers(int16_t{});
      break;
    case DType::kU32:
      integers(uint32_t{});
      break;
    case DType::kI32:
      integers(int32_t{});
      break;
    case DType::kI64:
      integers(int64_t{});
      break;
    case DType::kF32:
      reals(float{});
      break;
    case DType::kF64:
      reals(double{});
      break;
    default:
      break;
  }
  if (!known) return std::nullopt;
  return elements;
}

}  // namespace tare
