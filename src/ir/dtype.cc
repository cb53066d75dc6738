#include "ir/dtype.h"

#include <array>

namespace tare {
namespace {

using enum DTypeCategory;

// In the order of DType. `serialized` is torch.export's ScalarType (schema.py), not c10's.
constexpr std::array<DTypeRow, kNumDTypes> kRows = {{
    {"bool", "bool", 8, kBool, 12},
    {"u8", "uint8", 8, kInteger, 1},
    {"i8", "int8", 8, kInteger, 2},
    {"i16", "int16", 16, kInteger, 3},
    {"i32", "int32", 32, kInteger, 4},
    {"i64", "int64", 64, kInteger, 5},
    {"u16", "uint16", 16, kInteger, 28},
    {"u32", "uint32", 32, kInteger, 34},
    {"u64", "uint64", 64, kInteger, 35},
    {"f16", "float16", 16, kFloating, 6},
    {"bf16", "bfloat16", 16, kFloating, 13},
    {"f32", "float32", 32, kFloating, 7},
    {"f64", "float64", 64, kFloating, 8},
    {"c32", "complex32", 32, kComplex, 9},
    {"c64", "complex64", 64, kComplex, 10},
    {"c128", "complex128", 128, kComplex, 11},
    {"f8e4m3fn", "float8_e4m3fn", 8, kFloating, 29},
    {"f8e5m2", "float8_e5m2", 8, kFloating, 30},
    {"f8e4m3fnuz", "float8_e4m3fnuz", 8, kFloating, 31},
    {"f8e5m2fnuz", "float8_e5m2fnuz", 8, kFloating, 32},
    {"f8e8m0fnu", "float8_e8m0fnu", 8, kFloating, 33},
    {"i4", "", 4, kInteger, -1},
    {"i48", "", 48, kInteger, -1},
    {"shape", "", 0, kInteger, -1},
}};

}  // namespace

const DTypeRow& Row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

int BytesOf(DType dtype) {
  switch (dtype) {
    case DType::kI4:
      return 1;
    case DType::kI48:
      return 8;
    case DType::kShape:
      return 0;
    default:
      return BitsOf(dtype) / 8;
  }
}

bool IsFloating(DType dtype) { return CategoryOf(dtype) == kFloating; }
bool IsComplex(DType dtype) { return CategoryOf(dtype) == kComplex; }
bool IsInteger(DType dtype) { return CategoryOf(dtype) == kInteger; }

std::optional<DType> DTypeByName(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> DTypeBySerialized(int64_t value) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (value >= 0 && kRows[i].serialized == value) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace tare
