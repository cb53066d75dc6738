// The entries of one .pt2 file: layout, names below the root folder, bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "formats/pt2/mapped_file.h"
#include "formats/pt2/zip_directory.h"

namespace tare::pt2 {

enum class ArchiveLayout {
  kPt2,     // 2.8 and newer: a root folder, `archive_format`
  kLegacy,  // 2.1 … 2.7: a flat zip with `serialized_exported_program.json`
};

// Whether the CRC of a stored entry, which is read in place, is computed.
enum class CrcCheck { kVerify, kSkip };

class Archive {
 public:
  // Errors: those of ReadZipDirectory; InvalidArgument [pt2_c1] not a .pt2 archive (names what it seems
  // to be), [pt2_c2] folders, [pt2_c3] format, version or byte order.
  static absl::StatusOr<Archive> Open(Bytes file);

  ArchiveLayout layout() const { return layout_; }
  // Models in the order of the directory; one named "model" for the legacy layout.
  const std::vector<std::string>& models() const { return models_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // The entry's name below the root folder.
  std::string_view LocalName(const ZipEntry& entry) const { return entry.name.substr(prefix_bytes_); }
  // Null when there is none. `name` is below the root folder.
  const ZipEntry* Find(std::string_view name) const;
  // Stored entries are views of the file; deflated ones are inflated. Errors: [zip_c7] broken stream or
  // wrong size, [zip_c8] wrong CRC, [zip_c9] beyond a limit.
  absl::StatusOr<Bytes> Read(const ZipEntry& entry, CrcCheck check);
  // Bytes of the file that may be read behind a view, without being part of it.
  size_t SlackBehind(const Bytes& view) const;

 private:
  absl::Status FindLayout();
  absl::Status CheckPt2();
  absl::Status CheckLegacy();
  absl::StatusOr<std::string> ReadSmall(std::string_view name);

  Bytes file_;
  ArchiveLayout layout_ = ArchiveLayout::kPt2;
  std::vector<ZipEntry> entries_;
  absl::flat_hash_map<std::string_view, size_t> by_name_;
  size_t prefix_bytes_ = 0;
  std::vector<std::string> models_;
  uint64_t inflated_total_ = 0;
};

}  // namespace tare::pt2
