#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "formats/npy/npy.h"
#include "ir/status.h"

namespace tare {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

absl::Status SystemError(std::string_view what) { return absl::ErrnoToStatus(errno, absl::StrCat(TextPiece(what))); }

absl::Status WriteBytes(std::string_view bytes, const std::string& path) {
  File file(std::fopen(path.c_str(), "wbx"));
  if (file == nullptr) return SystemError("cannot create the file");
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) return SystemError("cannot write");
  return std::fclose(file.release()) == 0 ? absl::OkStatus() : SystemError("cannot write");
}

}  // namespace

absl::StatusOr<NpyArray> ReadNpyFile(std::string_view path) {
  const File file(std::fopen(std::string(path).c_str(), "rb"));
  if (file == nullptr) return SystemError("cannot open the file");
  std::string bytes;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (bytes.size() + n > kMaxNpyBytes)
      return absl::ResourceExhaustedError(absl::StrCat("the file has more than ", kMaxNpyBytes, " bytes"));
    bytes.append(buffer, n);
  }
  if (std::ferror(file.get()) != 0) return SystemError("cannot read the file");
  return ParseNpy(bytes);
}

absl::Status WriteNpyFile(const NpyArray& array, std::string_view path) {
  TARE_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(array));
  const std::string name(path), temporary = absl::StrCat(name, ".", getpid(), ".part");
  absl::Status status = WriteBytes(bytes, temporary);
  if (status.ok() && std::rename(temporary.c_str(), name.c_str()) != 0) status = SystemError("cannot rename the file");
  if (!status.ok()) std::remove(temporary.c_str());
  return status;
}

}  // namespace tare
