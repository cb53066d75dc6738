#include "backends/tosa/file_types.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "Eigen/Core"
#include "ir/status.h"
#include "ir/text.h"

static_assert(std::endian::native == std::endian::little, "files are little endian");

namespace tare::tosa {
namespace {

struct TypeRow {
  DType dtype;
  tosafile::DType type;
  int since = 0;
};
constexpr TypeRow kTypes[] = {
    {DType::kBool, tosafile::DType::BOOL},
    {DType::kI4, tosafile::DType::INT4},
    {DType::kI8, tosafile::DType::INT8},
    {DType::kI16, tosafile::DType::INT16},
    {DType::kI32, tosafile::DType::INT32},
    {DType::kI48, tosafile::DType::INT48},
    {DType::kF32, tosafile::DType::FP32},
    {DType::kF16, tosafile::DType::FP16},
    {DType::kBF16, tosafile::DType::BF16},
    {DType::kF8E4M3FN, tosafile::DType::FP8E4M3},
    {DType::kF8E5M2, tosafile::DType::FP8E5M2},
    {DType::kF8E8M0FNU, tosafile::DType::FP8UE8M0, 1},
    {DType::kI64, tosafile::DType::INT64, 1},
    {DType::kU8, tosafile::DType::INT8},  // after i8, which the way back finds first
};

// A float of 8 bits: exponent and mantissa bits; E4M3 has no infinity and one NaN for each sign.
struct Float8 {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;
};
constexpr Float8 kE4M3 = {4, 3, 7, false};
constexpr Float8 kE5M2 = {5, 2, 15, true};

double DecodeFloat8(const Float8& format, uint8_t bits) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits & 0x7f) >> format.mantissa_bits;
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  const bool top = exponent == (1 << format.exponent_bits) - 1;
  if (top && format.has_infinity) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  if (top && mantissa == (1 << format.mantissa_bits) - 1) return std::numeric_limits<double>::quiet_NaN();
  const int scale = -format.bias - format.mantissa_bits;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 + scale);
  return sign * std::ldexp(mantissa + (1 << format.mantissa_bits), exponent + scale);
}

// Nearest, ties to even; what is too large becomes infinity, or the largest number where there is none.
uint8_t EncodeFloat8(const Float8& format, double value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const double size = std::abs(value);
  uint8_t best = 0x7f;
  double distance = std::numeric_limits<double>::infinity();
  for (int bits = 0; bits < 0x80; ++bits) {
    const double here = DecodeFloat8(format, static_cast<uint8_t>(bits));
    if (std::isnan(value) ? std::isnan(here) : here == size) return sign | static_cast<uint8_t>(bits);
    const double away = std::abs(here - size);
    if (std::isfinite(here) && (away < distance || (away == distance && bits % 2 == 0))) {
      best = static_cast<uint8_t>(bits), distance = away;
    }
  }
  return sign | best;
}

template <typename T>
std::string BytesOfValue(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename T>
T ValueOfBytes(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string EncodeFloat(DType dtype, double value) {
  switch (dtype) {
    case DType::kF16:
      return BytesOfValue(Eigen::half(static_cast<float>(value)).x);
    case DType::kBF16:
      return BytesOfValue(Eigen::bfloat16(static_cast<float>(value)).value);
    case DType::kF8E4M3FN:
      return BytesOfValue(EncodeFloat8(kE4M3, value));
    case DType::kF8E5M2:
      return BytesOfValue(EncodeFloat8(kE5M2, value));
    default:
      return BytesOfValue(static_cast<float>(value));
  }
}

bool IsFileFloat(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF8E4M3FN ||
         dtype == DType::kF8E5M2;
}

// The same value in all bytes above the element's own.
int64_t SignExtend(uint64_t value, int bits) {
  const int unused = 64 - bits;
  return static_cast<int64_t>(value << unused) >> unused;
}

}  // namespace

std::optional<tosafile::DType> FileTypeOf(DType dtype, int minor) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype && row.since <= minor) return row.type;
  }
  return std::nullopt;
}

std::optional<DType> DTypeOfFile(tosafile::DType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.dtype;
  }
  return std::nullopt;
}

bool IsPlain(DType dtype) { return dtype != DType::kI4 && dtype != DType::kI48; }

size_t FileBytes(DType dtype, size_t count) {
  if (dtype == DType::kI4) return count / 2 + count % 2;
  if (dtype == DType::kI48) return count * 6;
  return count * static_cast<size_t>(BytesOf(dtype));
}

std::string PackElements(DType dtype, std::span<const std::byte> bytes) {
  const size_t item = static_cast<size_t>(BytesOf(dtype)), count = bytes.size() / item;
  std::string packed(FileBytes(dtype, count), '\0');
  for (size_t i = 0; i < count; ++i) {
    const std::byte* element = bytes.data() + i * item;
    if (dtype == DType::kI4) {
      packed[i / 2] |= static_cast<char>((static_cast<uint8_t>(*element) & 0xf) << (i % 2 * 4));
    } else if (dtype == DType::kI48) {
      std::memcpy(packed.data() + i * 6, element, 6);
    } else {
      std::memcpy(packed.data() + i * item, element, item);
    }
  }
  return packed;
}

std::vector<std::byte> UnpackElements(DType dtype, size_t count, std::span<const std::byte> bytes) {
  TARE_CHECK(bytes.size() >= FileBytes(dtype, count));
  const size_t item = static_cast<size_t>(BytesOf(dtype));
  std::vector<std::byte> elements(count * item);
  for (size_t i = 0; i < count; ++i) {
    int64_t value = 0;
    if (dtype == DType::kI4) {
      value = SignExtend(static_cast<uint8_t>(bytes[i / 2]) >> (i % 2 * 4), 4);
    } else if (dtype == DType::kI48) {
      std::memcpy(&value, bytes.data() + i * 6, 6);
      value = SignExtend(static_cast<uint64_t>(value), 48);
    } else {
      std::memcpy(&value, bytes.data() + i * item, item);
    }
    std::memcpy(elements.data() + i * item, &value, item);
  }
  return elements;
}

absl::StatusOr<std::string> EncodeElement(DType dtype, const AttrValue& value) {
  const auto refuse = [&] { return InvalidError("tosa_value_c1", "the value is no number of ", Name(dtype)); };
  if (value.kind == AttrKind::kFloat && (IsFileFloat(dtype) || std::trunc(value.real) == value.real)) {
    if (IsFileFloat(dtype)) return EncodeFloat(dtype, value.real);
    if (std::abs(value.real) > 0x1p62) return refuse();
    return EncodeElement(dtype, AttrValue::Int(static_cast<int64_t>(value.real)));
  }
  if (value.kind != AttrKind::kInt && value.kind != AttrKind::kBool) return refuse();
  const int64_t integer = value.kind == AttrKind::kBool ? (value.flag ? 1 : 0) : value.integer;
  if (IsFileFloat(dtype)) return EncodeFloat(dtype, static_cast<double>(integer));
  if (dtype == DType::kBool) return BytesOfValue(static_cast<uint8_t>(integer != 0));
  const int bits = BitsOf(dtype);
  if (!IsInteger(dtype) || bits == 0) return refuse();
  const bool fits = dtype == DType::kU8 ? integer >= 0 && integer <= UINT8_MAX
                                        : bits == 64 || integer == SignExtend(static_cast<uint64_t>(integer), bits);
  if (!fits) return InvalidError("tosa_value_c1", integer, " is no number of ", Name(dtype));
  return BytesOfValue(integer).substr(0, static_cast<size_t>(BytesOf(dtype)));
}

int64_t DecodeInt(DType dtype, std::span<const std::byte> bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), static_cast<size_t>(BytesOf(dtype)));
  if (dtype == DType::kBool || dtype == DType::kU8) return static_cast<int64_t>(value);
  return SignExtend(value, BytesOf(dtype) * 8);
}

AttrValue DecodeElement(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kF32:
      return AttrValue::Float(ValueOfBytes<float>(bytes));
    case DType::kF16:
      return AttrValue::Float(static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(ValueOfBytes<uint16_t>(bytes))));
    case DType::kBF16:
      return AttrValue::Float(
          static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(ValueOfBytes<uint16_t>(bytes))));
    case DType::kF8E4M3FN:
      return AttrValue::Float(DecodeFloat8(kE4M3, ValueOfBytes<uint8_t>(bytes)));
    case DType::kF8E5M2:
      return AttrValue::Float(DecodeFloat8(kE5M2, ValueOfBytes<uint8_t>(bytes)));
    case DType::kBool:
      return AttrValue::Bool(DecodeInt(dtype, bytes) != 0);
    default:
      return AttrValue::Int(DecodeInt(dtype, bytes));
  }
}

absl::StatusOr<std::span<const std::byte>> ContiguousBytes(const Context& context, const Constant& constant,
                                                           std::vector<std::byte>& room) {
  const auto error = [&](std::string_view check, const auto&... why) {
    return InvalidError(check, "constant ", constant.name, " ", why...);
  };
  const Meta* meta = constant.meta.has_value() ? &context.metas.Get(constant.meta) : nullptr;
  if (meta == nullptr || meta->kind != MetaKind::kTensor || meta->tensor.layout != Layout::kStrided ||
      BytesOf(meta->tensor.dtype) == 0 || !meta->tensor.offset.is_static()) {
    return error("tosa_const_c2", "is no strided tensor");
  }
  if (constant.payload.missing) return error("tosa_const_c1", "has no elements: the program was saved without weights");
  const TensorMeta& tensor = meta->tensor;
  const size_t rank = tensor.shape.size(), item = static_cast<size_t>(BytesOf(tensor.dtype));
  int64_t count = 1, last = tensor.offset.value();
  for (size_t i = 0; i < rank; ++i) {
    if (!tensor.shape[i].is_static() || !tensor.strides[i].is_static()) {
      return error("tosa_const_c2", "has symbolic extents");
    }
    int64_t reach = 0;
    if (__builtin_mul_overflow(count, tensor.shape[i].value(), &count) || count > kMaxFileElements ||
        (tensor.shape[i].value() > 0 &&
         (__builtin_mul_overflow(tensor.shape[i].value() - 1, tensor.strides[i].value(), &reach) ||
          __builtin_add_overflow(last, reach, &last)))) {
      return error("tosa_const_c2", "has too many elements");
    }
  }
  if (count == 0) return std::span<const std::byte>();
  const std::span<const std::byte> bytes = constant.payload.bytes;
  if (last >= static_cast<int64_t>(bytes.size() / item)) {
    return error("tosa_const_c3", "has ", bytes.size(), " bytes, element ", last, " is needed");
  }
  const size_t size = static_cast<size_t>(count) * item;
  if (IsContiguous(context, tensor)) return bytes.subspan(static_cast<size_t>(tensor.offset.value()) * item, size);
  room.resize(size);
  std::vector<int64_t> index(rank, 0);
  int64_t at = tensor.offset.value();
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    std::memcpy(room.data() + i * item, bytes.data() + static_cast<size_t>(at) * item, item);
    for (size_t axis = rank; axis-- > 0;) {
      at += tensor.strides[axis].value();
      if (++index[axis] < tensor.shape[axis].value()) break;
      at -= tensor.strides[axis].value() * tensor.shape[axis].value();
      index[axis] = 0;
    }
  }
  return std::span<const std::byte>(room);
}

}  // namespace tare::tosa
