#include "formats/pt2/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tare::pt2 {
namespace {

struct Mapping {
  void* address;
  size_t size;
  Mapping(void* a, size_t s) : address(a), size(s) {}
  Mapping(const Mapping&) = delete;
  ~Mapping() { munmap(address, size); }
};

struct Closer {
  int fd;
  ~Closer() { close(fd); }
};

}  // namespace

absl::StatusOr<Bytes> MapFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const std::string text = absl::StrCat(path, ": ", std::strerror(errno));
    return errno == ENOENT ? absl::NotFoundError(text) : absl::InvalidArgumentError(text);
  }
  const Closer closer{fd};
  struct stat info;
  if (fstat(fd, &info) != 0) return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::strerror(errno)));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  const size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) return Bytes{};
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return absl::InternalError(absl::StrCat(path, ": cannot map: ", std::strerror(errno)));
  auto mapping = std::make_shared<Mapping>(address, size);
  return Bytes{mapping, {static_cast<const std::byte*>(address), size}, true};
}

Bytes CopyBuffer(std::span<const std::byte> data) {
  auto copy = std::make_shared<std::vector<std::byte>>(data.begin(), data.end());
  return Bytes{copy, {copy->data(), copy->size()}, false};
}

Payload AsPayload(const Bytes& bytes) {
  Payload payload;
  payload.owner = bytes.owner;
  payload.bytes = bytes.data;
  payload.mapped = bytes.mapped;
  return payload;
}

}  // namespace tare::pt2
