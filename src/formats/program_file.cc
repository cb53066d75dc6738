#include "formats/program_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "formats/pt2/pt2.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 30;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

absl::Status SystemError(int error, std::string_view what) {
  return absl::ErrnoToStatus(error, absl::StrCat(TextPiece(what)));
}

// The system says NotFound and FailedPrecondition of paths; those mean other things outside.
absl::Status AsFileError(const absl::Status& status) {
  if (!absl::IsNotFound(status) && !absl::IsFailedPrecondition(status)) return status;
  return absl::PermissionDeniedError(status.message());
}

absl::Status WriteNewFile(absl::FunctionRef<absl::Status(PutPiece)> write, const std::string& path) {
  File file(std::fopen(path.c_str(), "wbx"));
  if (file == nullptr) return SystemError(errno, "cannot create the file");
  TARE_RETURN_IF_ERROR(write([&](std::string_view piece) {
    return std::fwrite(piece.data(), 1, piece.size(), file.get()) == piece.size() ? absl::OkStatus()
                                                                                  : SystemError(errno, "cannot write");
  }));
  return std::fclose(file.release()) == 0 ? absl::OkStatus() : SystemError(errno, "cannot write");
}

bool IsArchive(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  char magic[2] = {};
  return file != nullptr && std::fread(magic, 1, 2, file.get()) == 2 && std::memcmp(magic, "PK", 2) == 0;
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(std::string_view path, size_t limit) {
  const File file(std::fopen(std::string(path).c_str(), "rb"));
  if (file == nullptr) return SystemError(errno, "cannot open the file");
  std::string text;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (text.size() + n > limit)
      return absl::ResourceExhaustedError(absl::StrCat("the file has more than ", limit, " bytes"));
    text.append(buffer, n);
  }
  if (std::ferror(file.get()) != 0) return SystemError(errno, "cannot read the file");
  return text;
}

absl::StatusOr<Program> ReadProgramFile(Context& context, std::string_view path) {
  const std::string name(path);
  if (path.ends_with(".pt2") || IsArchive(name)) return ReadPt2(context, name);
  TARE_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMaxTextBytes));
  return ParseProgram(context, text);
}

absl::Status WriteProgramFile(const Program& program, std::string_view path) {
  const std::string name(path);
  if (path.ends_with(".pt2")) return AsFileError(WritePt2(program, name));
  if (!path.ends_with(".tare")) return absl::NotFoundError("the ending of an output file is .pt2 or .tare");
  return WriteTextFile(PrintProgram(*program.context, program), path);
}

absl::Status WriteTextFile(std::string_view text, std::string_view path) {
  return WriteFileWith(path, [&](PutPiece put) { return put(text); });
}

absl::Status WriteFileWith(std::string_view path, absl::FunctionRef<absl::Status(PutPiece)> write) {
  const std::string name(path);
  const std::string temporary = absl::StrCat(name, ".", getpid(), ".part");
  absl::Status status = WriteNewFile(write, temporary);
  if (status.ok() && std::rename(temporary.c_str(), name.c_str()) != 0) {
    status = SystemError(errno, "cannot rename the finished file");
  }
  if (!status.ok()) std::remove(temporary.c_str());
  return AsFileError(status);
}

}  // namespace tare
