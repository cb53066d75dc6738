// A file mapped for reading, or a buffer that takes its place. Bytes live as long as `owner`.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace tare::pt2 {

struct Bytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> data;
};

// Errors: NotFound when there is no such file, InvalidArgument when it is not a regular file.
absl::StatusOr<Bytes> MapFile(const std::string& path);
// Lets go of the memory that reading a file of MapFile has filled; what is read again comes from the system's cache.
void ForgetPages(const Bytes& mapped);
Bytes CopyBuffer(std::span<const std::byte> data);

}  // namespace tare::pt2
