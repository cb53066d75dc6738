#include "formats/pt2/zip_writer.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "formats/pt2/zip_records.h"

namespace tare::pt2 {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kExtraHeader = 4;    // id and size of an extra field
constexpr uint64_t kLocal64Bytes = 20;  // the ZIP64 field that minizip adds to large entries
constexpr size_t kChunk = 1u << 26;
constexpr unsigned long kUtf8Names = 1 << 11;

}  // namespace

ZipWriter::~ZipWriter() {
  if (zip_ != nullptr) zipClose(zip_, nullptr);
}

absl::Status ZipWriter::Open(const std::string& path) {
  path_ = path;
  zip_ = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  if (zip_ != nullptr) return absl::OkStatus();
  const std::string text = absl::StrCat(path, ": ", std::strerror(errno));
  return errno == EACCES   ? absl::PermissionDeniedError(text)
         : errno == ENOENT ? absl::NotFoundError(text)
                           : absl::InternalError(text);
}

absl::Status ZipWriter::Add(const std::string& name, std::span<const std::byte> bytes) {
  const bool large = bytes.size() >= kUse64;
  const uint64_t before = position_ + kLocalBytes + name.size() + (large ? kLocal64Bytes : 0);
  // The padding is an extra field named FB, as PyTorch's writer does it.
  const uint64_t padding = (kAlignment - (before + kExtraHeader) % kAlignment) % kAlignment;
  std::string extra = {'F', 'B', static_cast<char>(padding), 0};
  extra.append(padding, 'Z');
  zip_fileinfo info = {};
  info.tmz_date.tm_year = 1980;
  info.tmz_date.tm_mday = 1;
  const auto fail = [&](const char* what) {
    return absl::InternalError(absl::StrCat(path_, ": entry ", name, ": cannot ", what));
  };
  if (zipOpenNewFileInZip4_64(zip_, name.c_str(), &info, extra.data(), static_cast<uInt>(extra.size()), nullptr, 0,
                              nullptr, 0, 0, 0, -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0, 0,
                              kUtf8Names, large ? 1 : 0) != ZIP_OK)
    return fail("start");
  for (size_t at = 0; at < bytes.size(); at += kChunk) {
    const size_t count = std::min(kChunk, bytes.size() - at);
    if (zipWriteInFileInZip(zip_, bytes.data() + at, static_cast<unsigned>(count)) != ZIP_OK) return fail("write");
  }
  if (zipCloseFileInZip(zip_) != ZIP_OK) return fail("finish");
  position_ = before + kExtraHeader + padding + bytes.size();
  return absl::OkStatus();
}

absl::Status ZipWriter::Add(const std::string& name, std::string_view text) {
  return Add(name, std::as_bytes(std::span(text.data(), text.size())));
}

absl::Status ZipWriter::Close() {
  void* zip = std::exchange(zip_, nullptr);
  if (zipClose(zip, nullptr) == ZIP_OK) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(path_, ": cannot write the directory"));
}

}  // namespace tare::pt2
