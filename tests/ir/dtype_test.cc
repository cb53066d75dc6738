#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "ir/dtype.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

namespace tare {
namespace {

TEST_CASE("every dtype's row is what torch and the schema say") {
  struct Case {
    DType dtype;
    std::string_view name, torch_name;
    int bytes;
    DTypeCategory category;
    int serialized;
  };
  using enum DTypeCategory;
  int count = 0;
  for (const Case& c : std::initializer_list<Case>{
           {DType::kBool, "bool", "bool", 1, kBool, 12},
           {DType::kU8, "u8", "uint8", 1, kInteger, 1},
           {DType::kI8, "i8", "int8", 1, kInteger, 2},
           {DType::kI16, "i16", "int16", 2, kInteger, 3},
           {DType::kI32, "i32", "int32", 4, kInteger, 4},
           {DType::kI64, "i64", "int64", 8, kInteger, 5},
           {DType::kU16, "u16", "uint16", 2, kInteger, 28},
           {DType::kU32, "u32", "uint32", 4, kInteger, 34},
           {DType::kU64, "u64", "uint64", 8, kInteger, 35},
           {DType::kF16, "f16", "float16", 2, kFloating, 6},
           {DType::kBF16, "bf16", "bfloat16", 2, kFloating, 13},
           {DType::kF32, "f32", "float32", 4, kFloating, 7},
           {DType::kF64, "f64", "float64", 8, kFloating, 8},
           {DType::kC32, "c32", "complex32", 4, kComplex, 9},
           {DType::kC64, "c64", "complex64", 8, kComplex, 10},
           {DType::kC128, "c128", "complex128", 16, kComplex, 11},
           {DType::kF8E4M3FN, "f8e4m3fn", "float8_e4m3fn", 1, kFloating, 29},
           {DType::kF8E5M2, "f8e5m2", "float8_e5m2", 1, kFloating, 30},
           {DType::kF8E4M3FNUZ, "f8e4m3fnuz", "float8_e4m3fnuz", 1, kFloating, 31},
           {DType::kF8E5M2FNUZ, "f8e5m2fnuz", "float8_e5m2fnuz", 1, kFloating, 32},
           {DType::kF8E8M0FNU, "f8e8m0fnu", "float8_e8m0fnu", 1, kFloating, 33},
           {DType::kI4, "i4", "", 1, kInteger, -1},
           {DType::kI48, "i48", "", 8, kInteger, -1},
           {DType::kShape, "shape", "", 0, kInteger, -1},
       }) {
    CAPTURE(std::string(c.name));
    CHECK(Name(c.dtype) == c.name);
    CHECK(Row(c.dtype).torch_name == c.torch_name);
    CHECK_EQ(BytesOf(c.dtype), c.bytes);
    CHECK((CategoryOf(c.dtype) == c.category));
    CHECK_EQ(int{Row(c.dtype).serialized}, c.serialized);
    CHECK((DTypeByName(c.name) == c.dtype));
    if (c.serialized >= 0) CHECK((DTypeBySerialized(c.serialized) == c.dtype));
    ++count;
  }
  CHECK_EQ(count, kNumDTypes);
}

TEST_CASE("what is no dtype has none") {
  for (const int64_t value : {int64_t{-1}, int64_t{0}, int64_t{14}, int64_t{27}, int64_t{36}, INT64_MAX, INT64_MIN}) {
    CAPTURE(value);
    CHECK_FALSE(DTypeBySerialized(value).has_value());
  }
  CHECK_FALSE(DTypeByName("float32").has_value());
  CHECK_FALSE(DTypeByName("").has_value());
}

TEST_CASE("categories answer the usual questions") {
  CHECK(IsInteger(DType::kU8));
  CHECK_FALSE(IsInteger(DType::kBool));
  CHECK(IsFloating(DType::kF8E8M0FNU));
  CHECK(IsComplex(DType::kC32));
  CHECK_EQ(BitsOf(DType::kI4), 4);
  CHECK_EQ(BitsOf(DType::kI48), 48);
}

}  // namespace
}  // namespace tare
