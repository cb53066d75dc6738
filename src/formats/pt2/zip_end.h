// Where the central directory of a ZIP archive lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace tare::pt2 {

struct DirectoryPlace {
  uint64_t start = 0, bytes = 0, entries = 0;
};

// Reads the end record and, where there is one, the ZIP64 end record. The directory must end where
// the end records start. Errors: InvalidArgument [zip_c1].
absl::StatusOr<DirectoryPlace> FindDirectory(std::span<const std::byte> archive);

}  // namespace tare::pt2
