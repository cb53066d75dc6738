// Elements as files and memory hold them.
#include "backends/tosa/file_types.h"

#include <cmath>
#include <limits>

#include "tosa_fixture.h"

namespace tare::tosa {
namespace {

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) {
    for (const int half : {(byte >> 4) & 0xf, byte & 0xf}) hex += "0123456789abcdef"[half];
  }
  return hex;
}

std::span<const std::byte> BytesIn(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("numbers become elements") {
  struct Case {
    tare::DType dtype;
    AttrValue value;
    std::string_view hex;  // "" = refused
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [dtype, value, hex] : std::initializer_list<Case>{
           {tare::DType::kBool, AttrValue::Bool(true), "01"},
           {tare::DType::kI4, AttrValue::Int(-7), "f9"},
           {tare::DType::kI4, AttrValue::Int(8), ""},
           {tare::DType::kI8, AttrValue::Int(-128), "80"},
           {tare::DType::kI8, AttrValue::Int(128), ""},
           {tare::DType::kI8, AttrValue::Float(3.0), "03"},
           {tare::DType::kI8, AttrValue::Float(3.5), ""},
           {tare::DType::kU8, AttrValue::Int(255), "ff"},
           {tare::DType::kU8, AttrValue::Int(-1), ""},
           {tare::DType::kI16, AttrValue::Int(-2), "feff"},
           {tare::DType::kI32, AttrValue::Int(1 << 20), "00001000"},
           {tare::DType::kI32, AttrValue::Int(int64_t{1} << 31), ""},
           {tare::DType::kI48, AttrValue::Int(-1), "ffffffffffffffff"},
           {tare::DType::kI48, AttrValue::Int(int64_t{1} << 47), ""},
           {tare::DType::kF32, AttrValue::Float(1.0), "0000803f"},
           {tare::DType::kF32, AttrValue::Int(1), "0000803f"},
           {tare::DType::kF16, AttrValue::Float(-0.5), "00b8"},
           {tare::DType::kF16, AttrValue::Float(65536.0), "007c"},
           {tare::DType::kBF16, AttrValue::Float(1.00390625), "803f"},  // a tie: to even
           {tare::DType::kF8E4M3FN, AttrValue::Float(448.0), "7e"},
           {tare::DType::kF8E4M3FN, AttrValue::Float(-1.5), "bc"},
           {tare::DType::kF8E4M3FN, AttrValue::Float(1.0625), "38"},  // a tie: to even
           {tare::DType::kF8E5M2, AttrValue::Float(kInfinity), "7c"},
           {tare::DType::kF8E5M2, AttrValue::Float(0.0), "00"},
           {tare::DType::kF8E5M2, AttrValue::Float(-0.0), "80"},
           {tare::DType::kI8, AttrValue::Float(kInfinity), ""},
           {tare::DType::kI8, AttrValue::String("1"), ""},
           {tare::DType::kC64, AttrValue::Int(1), ""},
       }) {
    CAPTURE(Name(dtype));
    CAPTURE(hex);
    const absl::StatusOr<std::string> element = EncodeElement(dtype, value);
    CHECK_EQ(element.ok() ? Hex(*element) : "", hex);
    if (!element.ok()) CHECK_EQ(CheckIdOf(element.status()), "tosa_value_c1");
  }
}

TEST_CASE("every element of 8 bits is the number it decodes to") {
  for (const tare::DType dtype : {tare::DType::kF8E4M3FN, tare::DType::kF8E5M2, tare::DType::kI8}) {
    for (int bits = 0; bits < 256; ++bits) {
      const std::string byte(1, static_cast<char>(bits));
      const AttrValue value = DecodeElement(dtype, BytesIn(byte));
      CAPTURE(bits);
      if (value.kind == AttrKind::kFloat && std::isnan(value.real)) continue;
      CHECK_EQ(EncodeElement(dtype, value).value(), byte);
    }
  }
}

TEST_CASE("4-bit elements are packed, the first in the low half") {
  const std::string memory("\x01\xf9\x07", 3);
  const std::string packed = PackElements(tare::DType::kI4, BytesIn(memory));
  CHECK_EQ(Hex(packed), "9107");
  const std::vector<std::byte> again = UnpackElements(tare::DType::kI4, 3, BytesIn(packed));
  CHECK(std::ranges::equal(again, BytesIn(memory)));
}

TEST_CASE("48-bit elements have six bytes in the file and eight in memory") {
  const std::string memory("\x01\x02\x03\x04\x05\x06\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff", 16);
  const std::string packed = PackElements(tare::DType::kI48, BytesIn(memory));
  CHECK_EQ(Hex(packed), "010203040506feffffffffff");
  const std::vector<std::byte> again = UnpackElements(tare::DType::kI48, 2, BytesIn(packed));
  CHECK(std::ranges::equal(again, BytesIn(memory)));
}

TEST_CASE("dtypes and element types") {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<tare::DType>(i);
    const std::optional<tosafile::DType> type = FileTypeOf(dtype, 1);
    if (!type) continue;
    CAPTURE(Name(dtype));
    CHECK((DTypeOfFile(*type) == (dtype == tare::DType::kU8 ? tare::DType::kI8 : dtype)));
  }
  CHECK_FALSE(FileTypeOf(tare::DType::kI64, 0).has_value());
  CHECK(FileTypeOf(tare::DType::kI64, 1).has_value());
  CHECK_FALSE(FileTypeOf(tare::DType::kF64, 1).has_value());
}

}  // namespace tare::tosa
