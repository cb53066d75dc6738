#include "formats/npy/npy.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "doctest/doctest.h"
#include "ir/status.h"

namespace {

using namespace tare;

// A file of version 1 with this dictionary and body.
std::string File(std::string_view header, std::string_view body) {
  std::string file = "\x93NUMPY";
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  file += body;
  return file;
}

std::string Hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte b : bytes) absl::StrAppend(&text, absl::Hex(static_cast<int>(b), absl::kZeroPad2));
  return text;
}

// `dtype[shape] bytes` or `error: id`.
std::string Answer(std::string_view file) {
  const absl::StatusOr<NpyArray> array = ParseNpy(file);
  if (!array.ok()) return Cat("error: ", CheckIdOf(array.status()));
  std::string text = Cat(Name(array->dtype), "[");
  for (size_t i = 0; i < array->shape.size(); ++i) CatTo(text, i > 0 ? "," : "", array->shape[i]);
  return Cat(text, "] ", Hex(array->bytes));
}

}  // namespace

TEST_CASE("headers are read, orders are made ours") {
  struct Case {
    std::string_view header, body, want;
  };
  const std::string_view six("\1\2\3\4\5\6", 6);
  for (const auto& [header, body, want] : std::initializer_list<Case>{
           {"{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }\n", six, "i8[2,3] 010203040506"},
           {"{'shape': (6,), \"descr\": '|u1', 'fortran_order': False}", six, "u8[6] 010203040506"},
           {"{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", six, "i8[2,3] 010305020406"},
           {"{'descr': '>i2', 'fortran_order': False, 'shape': (3,), }\n", six, "i16[3] 020104030605"},
           {"{'descr': '|b1', 'fortran_order': False, 'shape': (6,), }\n", six, "bool[6] 010101010101"},
           {"{'descr': '|i1', 'fortran_order': False, 'shape': (), }", "\1", "i8[] 01"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4), }", "", "f32[0,4] "},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 0), }", "",
            "f32[9223372036854775807,0] "},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", six, "error: npy_c4"},
           {"{'descr': '|i1', 'fortran_order': False, 'shape': (5,), }", six, "error: npy_c4"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "", "error: npy_c3"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "", "error: npy_c3"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }", "", "error: npy_c3"},
           {"{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", "\1\2", "error: npy_c5"},
           {"{'descr': '', 'fortran_order': False, 'shape': (1,), }", "\1\2", "error: npy_c5"},
           {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "", "error: npy_c5"},
           {"{'descr': '<f4', 'shape': (1,), }", "", "error: npy_c2"},
           {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "", "error: npy_c2"},
           {"{'descr': '<f4", "", "error: npy_c2"},
           {"", "", "error: npy_c2"},
       }) {
    CAPTURE(header);
    CHECK_EQ(Answer(File(header, body)), want);
  }
}

TEST_CASE("what is no .npy file is refused") {
  CHECK_EQ(Answer(""), "error: npy_c1");
  CHECK_EQ(Answer("PK\3\4"), "error: npy_c1");
  CHECK_EQ(Answer(std::string_view("\x93NUMPY\4\0\0\0\0\0", 12)), "error: npy_c1");
  CHECK_EQ(Answer(std::string_view("\x93NUMPY\2\0\xff\xff\xff\xff", 12)), "error: npy_c2");
}

TEST_CASE("every dtype NumPy has is written and read back, aligned to 64 bytes") {
  for (const DType dtype : {DType::kBool, DType::kU8, DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU16,
                            DType::kU32, DType::kU64, DType::kF16, DType::kF32, DType::kF64, DType::kC64}) {
    CAPTURE(Name(dtype));
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {3}, {2, 3}, {2, 0, 3}}) {
      NpyArray array{dtype, shape, {}};
      size_t count = 1;
      for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
      for (size_t i = 0; i < count * BytesOf(dtype); ++i) array.bytes.push_back(std::byte{i % 3 == 0});
      const absl::StatusOr<std::string> file = FormatNpy(array);
      REQUIRE(file.ok());
      CHECK_EQ((file->size() - array.bytes.size()) % 64, 0);
      const absl::StatusOr<NpyArray> back = ParseNpy(*file);
      REQUIRE(back.ok());
      CHECK_EQ(back->dtype, dtype);
      CHECK(back->shape == shape);
      CHECK(back->bytes == array.bytes);
    }
  }
  CHECK_EQ(CheckIdOf(FormatNpy({DType::kBF16, {}, {}}).status()), "npy_c5");
}
