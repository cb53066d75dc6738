#include "formats/pt2/zip_end.h"

#include <algorithm>
#include <optional>

#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/zip_records.h"
#include "ir/status.h"

namespace tare::pt2 {
namespace {

using Archive = std::span<const std::byte>;

// The last end record; its comment may be followed by other bytes.
std::optional<uint64_t> LastEndRecord(Archive archive) {
  const uint64_t reach = uint64_t{2} << 16;  // the longest comment, and as much again after it
  const uint64_t lowest = archive.size() > reach ? archive.size() - reach : 0;
  for (uint64_t at = archive.size() - kEndBytes + 1; at-- > lowest;) {
    if (U32(archive, at) == kEndSignature) return at;
  }
  return std::nullopt;
}

// `field` of both end records must agree unless the first defers to the second.
absl::Status CheckAgree(const char* field, uint64_t narrow, uint64_t deferred, uint64_t wide) {
  if (narrow == deferred || narrow == wide) return absl::OkStatus();
  return InvalidError("zip_c1", "end record: ", field, " is ", narrow, ", the ZIP64 end record says ", wide);
}

absl::StatusOr<DirectoryPlace> ReadEnd64(Archive archive, uint64_t end, uint64_t* directory_end) {
  const uint64_t locator = end - kLocator64Bytes;
  const uint64_t at = U64(archive, locator + 8);
  if (U32(archive, locator + 4) != 0 || U32(archive, locator + 16) > 1)
    return UnimplementedError("zip_c6", "ZIP64 locator: archive of several disks");
  if (!Fits(locator, at, kEnd64Bytes))
    return InvalidError("zip_c1", "ZIP64 locator: end record at ", at, " lies outside the file");
  if (U32(archive, at) != kEnd64Signature) return InvalidError("zip_c1", "ZIP64 end record: wrong signature at ", at);
  const uint64_t record_bytes = U64(archive, at + 4);
  if (record_bytes < kEnd64Bytes - 12 || record_bytes != locator - at - 12)
    return InvalidError("zip_c1", "ZIP64 end record: size is ", record_bytes, ", expected ", locator - at - 12);
  if (U32(archive, at + 16) != 0 || U32(archive, at + 20) != 0)
    return UnimplementedError("zip_c6", "ZIP64 end record: archive of several disks");
  DirectoryPlace place{U64(archive, at + 48), U64(archive, at + 40), U64(archive, at + 32)};
  if (U64(archive, at + 24) != place.entries)
    return InvalidError("zip_c1", "ZIP64 end record: ", U64(archive, at + 24), " entries on this disk, ", place.entries,
                        " in all");
  TARE_RETURN_IF_ERROR(CheckAgree("number of entries", U16(archive, end + 10), 0xFFFF, place.entries));
  TARE_RETURN_IF_ERROR(CheckAgree("directory size", U32(archive, end + 12), kUse64, place.bytes));
  TARE_RETURN_IF_ERROR(CheckAgree("directory offset", U32(archive, end + 16), kUse64, place.start));
  *directory_end = at;
  return place;
}

}  // namespace

absl::StatusOr<DirectoryPlace> FindDirectory(Archive archive) {
  if (archive.size() < kEndBytes) return InvalidError("zip_c1", "not a ZIP archive: ", archive.size(), " bytes");
  const std::optional<uint64_t> end = LastEndRecord(archive);
  if (!end) {
    return InvalidError("zip_c1", archive.size() >= 4 && U32(archive, 0) == kLocalSignature
                                      ? "no end record: the archive is cut off"
                                      : "not a ZIP archive: no end record");
  }
  const uint64_t comment = U16(archive, *end + 20);
  if (!Fits(archive.size(), *end + kEndBytes, comment))
    return InvalidError("zip_c1", "end record: comment of ", comment, " bytes reaches past the end of the file");

  DirectoryPlace place{U32(archive, *end + 16), U32(archive, *end + 12), U16(archive, *end + 10)};
  uint64_t directory_end = *end;
  if (*end >= kLocator64Bytes && U32(archive, *end - kLocator64Bytes) == kLocator64Signature) {
    TARE_ASSIGN_OR_RETURN(place, ReadEnd64(archive, *end, &directory_end));
  } else if (U16(archive, *end + 8) != place.entries) {
    return UnimplementedError("zip_c6", "end record: ", U16(archive, *end + 8), " entries on this disk, ",
                              place.entries, " in all");
  }
  const uint16_t disk = U16(archive, *end + 4), first_disk = U16(archive, *end + 6);
  if ((disk != 0 && disk != 0xFFFF) || (first_disk != 0 && first_disk != 0xFFFF))
    return UnimplementedError("zip_c6", "end record: disk ", disk, " of an archive of several disks");
  if (place.entries > kMaxEntries)
    return InvalidError("zip_c1", "end record: ", place.entries, " entries, at most ", kMaxEntries, " are read");
  if (place.bytes > kMaxDirectoryBytes)
    return InvalidError("zip_c1", "end record: directory of ", place.bytes, " bytes, at most ", kMaxDirectoryBytes,
                        " are read");
  if (!Fits(directory_end, place.start, place.bytes) || place.start + place.bytes != directory_end)
    return InvalidError("zip_c1", "end record: directory at ", place.start, " of ", place.bytes,
                        " bytes does not end at the end record at ", directory_end);
  return place;
}

}  // namespace tare::pt2
