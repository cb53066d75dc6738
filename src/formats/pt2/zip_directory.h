// The directory of a ZIP archive, read from its raw records and audited.
//
// Readers differ in which of two contradicting headers they believe; an archive that says one thing
// in two ways is therefore refused, with the entry and the field. Both records of every entry are
// compared, entries must not overlap or share a name, and everything lies inside the file. Accepted:
// data descriptors, ZIP64, stored and deflated entries, gaps, comments, any alignment, and bytes
// after the archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tare::pt2 {

struct ZipEntry {
  std::string_view name;  // points into the archive
  uint64_t header = 0;    // offset of the local header
  uint64_t data = 0;      // offset of the payload
  uint64_t stored_bytes = 0;
  uint64_t bytes = 0;  // after inflating
  uint32_t crc = 0;
  bool deflated = false;
  bool is_folder() const { return name.ends_with('/'); }
};

// Entries in the order of the central directory.
// Errors: InvalidArgument [zip_c1] not a ZIP archive or its end is damaged, [zip_c2] directory record,
// [zip_c3] name, [zip_c4] local header, [zip_c5] overlap, Unimplemented [zip_c6] encryption,
// compression method, several disks.
absl::StatusOr<std::vector<ZipEntry>> ReadZipDirectory(std::span<const std::byte> archive);

}  // namespace tare::pt2
