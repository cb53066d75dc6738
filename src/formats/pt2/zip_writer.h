// Writes a ZIP archive of stored entries whose payloads start at multiples of 64 bytes. Equal entries
// give equal bytes: no clock, no system in the records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tare::pt2 {

class ZipWriter {
 public:
  // Creates `path`. Errors of all: Internal or PermissionDenied with the entry's name.
  absl::Status Open(const std::string& path);
  absl::Status Add(const std::string& name, std::span<const std::byte> bytes);
  absl::Status Add(const std::string& name, std::string_view text);
  absl::Status Close();
  ~ZipWriter();
  ZipWriter() = default;
  ZipWriter(const ZipWriter&) = delete;

 private:
  void* zip_ = nullptr;  // minizip's
  uint64_t position_ = 0;
  std::string path_;
};

}  // namespace tare::pt2
