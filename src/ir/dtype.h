// Element types: all of torch's plus int4, int48 and shape, which torch has no name for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tare {

enum class DType : uint8_t {
  kBool,
  kU8,
  kI8,
  kI16,
  kI32,
  kI64,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kC32,
  kC64,
  kC128,
  kF8E4M3FN,
  kF8E5M2,
  kF8E4M3FNUZ,
  kF8E5M2FNUZ,
  kF8E8M0FNU,
  kI4,
  kI48,
  kShape,
};
inline constexpr int kNumDTypes = 24;

// Category order of type promotion: bool < integer < floating < complex.
enum class DTypeCategory : uint8_t { kBool, kInteger, kFloating, kComplex };

struct DTypeRow {
  std::string_view name;        // notation: "f32", "i8", "bool"
  std::string_view torch_name;  // "float32"; "" where torch has none
  int16_t bits;                 // storage bits per element; 0 for shape
  DTypeCategory category;
  int8_t serialized;  // ScalarType value of the torch.export schema; -1 = none
};

const DTypeRow& Row(DType dtype);
inline std::string_view Name(DType dtype) { return Row(dtype).name; }
inline int BitsOf(DType dtype) { return Row(dtype).bits; }
inline DTypeCategory CategoryOf(DType dtype) { return Row(dtype).category; }
// Bytes per element in memory: one for int4, eight for int48 (sign-extended), 0 for shape, which has no storage.
int BytesOf(DType dtype);
bool IsFloating(DType dtype);
bool IsComplex(DType dtype);
bool IsInteger(DType dtype);  // not bool
std::optional<DType> DTypeByName(std::string_view name);
std::optional<DType> DTypeBySerialized(int64_t value);

}  // namespace tare
