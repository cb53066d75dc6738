// A file mapped for reading, or a buffer that takes its place. Bytes live as long as `owner`.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "ir/program.h"

namespace tare::pt2 {

struct Bytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> data;
  bool mapped = false;
};

// Errors: NotFound when there is no such file, InvalidArgument when it is not a regular file.
absl::StatusOr<Bytes> MapFile(const std::string& path);
Bytes CopyBuffer(std::span<const std::byte> data);
Payload AsPayload(const Bytes& bytes);

}  // namespace tare::pt2
