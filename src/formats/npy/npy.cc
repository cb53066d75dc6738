#include "formats/npy/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeaderAlignment = 64;

struct NpyType {
  DType dtype;
  std::string_view code;  // after the byte order
};
constexpr NpyType kTypes[] = {
    {DType::kBool, "b1"}, {DType::kU8, "u1"},  {DType::kI8, "i1"},  {DType::kI16, "i2"},   {DType::kI32, "i4"},
    {DType::kI64, "i8"},  {DType::kU16, "u2"}, {DType::kU32, "u4"}, {DType::kU64, "u8"},   {DType::kF16, "f2"},
    {DType::kF32, "f4"},  {DType::kF64, "f8"}, {DType::kC64, "c8"}, {DType::kC128, "c16"},
};

// What the header's dictionary says.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  absl::StatusOr<Header> Read() {
    Header header;
    bool seen[3] = {};
    if (!Take('{')) return Error("expected {");
    while (!Take('}')) {
      const std::optional<std::string> key = String();
      if (!key || !Take(':')) return Error("expected a key");
      const int which = *key == "descr" ? 0 : *key == "fortran_order" ? 1 : *key == "shape" ? 2 : -1;
      if (which < 0 || seen[which]) return Error("an unknown key or one twice");
      seen[which] = true;
      if (which == 0) {
        std::optional<std::string> descr = String();
        if (!descr && Peek() == '[') return UnimplementedError("npy_c5", "arrays of records are not supported");
        if (!descr) return Error("expected a string");
        header.descr = *std::move(descr);
      } else if (which == 1) {
        if (!TakeWord("False")) {
          if (!TakeWord("True")) return Error("expected True or False");
          header.fortran_order = true;
        }
      } else if (!Shape(header.shape)) {
        return InvalidError("npy_c3", "the shape is no list of at most ", kMaxNpyRank, " extents");
      }
      if (!Take(',') && Peek() != '}') return Error("expected , or }");
    }
    if (Peek() != '\0' || !(seen[0] && seen[1] && seen[2])) return Error("a key is missing or text follows");
    return header;
  }

 private:
  absl::Status Error(std::string_view what) const { return InvalidError("npy_c2", "header: ", what, " at byte ", at_); }
  void Skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char Peek() {
    Skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    Skip();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string> String() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool Shape(std::vector<int64_t>& shape) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      Skip();
      int64_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0 || shape.size() == static_cast<size_t>(kMaxNpyRank)) return false;
      at_ = end - text_.data();
      TakeWord("L");  // long integers of Python 2
      shape.push_back(extent);
      if (!Take(',') && Peek() != ')') return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Elements, or nothing when they do not fit the file's limit.
std::optional<size_t> CountOf(std::span<const int64_t> shape, size_t element_bytes) {
  size_t count = 1;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const int64_t extent : shape) {
    if (static_cast<size_t>(extent) > kMaxNpyBytes / element_bytes / count) return std::nullopt;
    count *= static_cast<size_t>(extent);
  }
  return count;
}

void SwapBytes(std::vector<std::byte>& bytes, size_t part_bytes) {
  for (size_t at = 0; at + part_bytes <= bytes.size(); at += part_bytes) {
    std::reverse(bytes.begin() + at, bytes.begin() + at + part_bytes);
  }
}

// From column-major to row-major.
std::vector<std::byte> Reorder(std::span<const std::byte> from, std::span<const int64_t> shape, size_t element_bytes) {
  std::vector<std::byte> to(from.size());
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<size_t> stride(shape.size(), element_bytes);
  for (size_t axis = 1; axis < shape.size(); ++axis) stride[axis] = stride[axis - 1] * shape[axis - 1];
  size_t source = 0;
  for (size_t at = 0; at < to.size(); at += element_bytes) {
    std::memcpy(to.data() + at, from.data() + source, element_bytes);
    for (size_t axis = shape.size(); axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < shape[axis]) break;
      source -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return to;
}

}  // namespace

absl::StatusOr<NpyArray> ParseNpy(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < kMagic.size() + 4) return InvalidError("npy_c1", "no .npy file");
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(file[at])); };
  const size_t major = byte(6), length_bytes = major == 1 ? 2 : 4, start = 8 + length_bytes;
  if (major < 1 || major > 3 || file.size() < start)
    return InvalidError("npy_c1", "version ", major, " of .npy is unknown");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > file.size() - start) return InvalidError("npy_c2", "the header is longer than the file");
  TARE_ASSIGN_OR_RETURN(const Header header, HeaderReader(file.substr(start, length)).Read());

  const std::string_view descr = header.descr;
  const NpyType* type = nullptr;
  for (const NpyType& row : kTypes) {
    if (descr.size() > 1 && descr.substr(1) == row.code) type = &row;
  }
  const bool big_endian = !descr.empty() && descr[0] == '>';
  if (type == nullptr || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return UnimplementedError("npy_c5", "element type ", descr, " has no dtype here");

  NpyArray array;
  array.dtype = type->dtype;
  array.shape = header.shape;
  const size_t element_bytes = BytesOf(array.dtype);
  const std::optional<size_t> count = CountOf(array.shape, element_bytes);
  if (!count) return InvalidError("npy_c3", "the array is larger than ", kMaxNpyBytes, " bytes");
  const std::string_view body = file.substr(start + length);
  if (body.size() != *count * element_bytes)
    return InvalidError("npy_c4", body.size(), " bytes follow the header, the shape needs ", *count * element_bytes);
  array.bytes.resize(body.size());
  if (!body.empty()) std::memcpy(array.bytes.data(), body.data(), body.size());
  if (big_endian) SwapBytes(array.bytes, IsComplex(array.dtype) ? element_bytes / 2 : element_bytes);
  if (header.fortran_order && array.shape.size() > 1) array.bytes = Reorder(array.bytes, array.shape, element_bytes);
  if (array.dtype == DType::kBool) {
    for (std::byte& b : array.bytes) b = std::byte{b != std::byte{0}};
  }
  return array;
}

absl::StatusOr<std::string> FormatNpy(const NpyArray& array) {
  const NpyType* type = nullptr;
  for (const NpyType& row : kTypes) {
    if (row.dtype == array.dtype) type = &row;
  }
  if (type == nullptr) return UnimplementedError("npy_c5", "NumPy has no element type for ", Name(array.dtype));
  std::string shape;
  for (const int64_t extent : array.shape) CatTo(shape, shape.empty() ? "" : " ", extent, ",");
  if (array.shape.size() > 1) shape.pop_back();
  std::string header = Cat("{'descr': '", BytesOf(array.dtype) == 1 ? "|" : "<", type->code,
                           "', 'fortran_order': False, 'shape': (", shape, "), }");
  const size_t used = kMagic.size() + 4 + header.size() + 1;
  header.append((kHeaderAlignment - used % kHeaderAlignment) % kHeaderAlignment, ' ');
  header += '\n';
  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return file;
}

}  // namespace tare
