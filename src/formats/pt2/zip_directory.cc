#include "formats/pt2/zip_directory.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/utf8.h"
#include "formats/pt2/zip_end.h"
#include "formats/pt2/zip_records.h"
#include "ir/status.h"

namespace tare::pt2 {
namespace {

using Archive = std::span<const std::byte>;

template <typename... Parts>
absl::Status EntryError(const char* check, std::string_view name, const Parts&... parts) {
  return InvalidError(check, "entry ", Printable(name), ": ", parts...);
}

// Sizes and offset of a record whose 32-bit fields may defer to a ZIP64 extra field.
struct WideFields {
  uint64_t bytes, stored_bytes, header;
  bool has_header;  // central records only
};

// Walks the extra fields; the one of ZIP64 gives, in this order, the numbers that are deferred.
absl::Status ReadExtra(Archive extra, std::string_view name, const char* check, WideFields* wide) {
  const bool need =
      wide->bytes == kUse64 || wide->stored_bytes == kUse64 || (wide->has_header && wide->header == kUse64);
  bool found = false;
  uint64_t at = 0;
  while (extra.size() - at >= 4) {
    const uint16_t id = U16(extra, at), size = U16(extra, at + 2);
    at += 4;
    if (!Fits(extra.size(), at, size)) return EntryError(check, name, "extra field ", id, " is cut off");
    if (id == kExtra64) {
      if (found) return EntryError(check, name, "two ZIP64 extra fields");
      found = true;
      uint64_t next = at;
      const auto take = [&](uint64_t* field) {
        if (*field != kUse64) return true;
        if (at + size - next < 8) return false;
        *field = U64(extra, next);
        next += 8;
        return true;
      };
      if (!take(&wide->bytes) || !take(&wide->stored_bytes) || (wide->has_header && !take(&wide->header)))
        return EntryError(check, name, "ZIP64 extra field of ", size, " bytes is too short");
    }
    at += size;
  }
  if (need && !found) return EntryError(check, name, "size 0xFFFFFFFF without a ZIP64 extra field");
  return absl::OkStatus();
}

absl::Status CheckFlags(uint16_t flags, std::string_view name) {
  if (flags & (kFlagEncrypted | kFlagStrongEncryption | kFlagMaskedHeader))
    return UnimplementedError("zip_c6", "entry ", Printable(name), ": flags ", flags, ": encrypted");
  if (flags & kFlagPatch) return UnimplementedError("zip_c6", "entry ", Printable(name), ": flags: patched data");
  return absl::OkStatus();
}

absl::Status CheckName(std::string_view name) {
  if (name.empty()) return InvalidError("zip_c3", "entry with an empty name");
  if (!IsUtf8(name)) return EntryError("zip_c3", name, "name is not UTF-8");
  if (name.find('\0') != name.npos) return EntryError("zip_c3", name, "name holds a NUL byte");
  if (name.find('\\') != name.npos) return EntryError("zip_c3", name, "name holds a backslash");
  if (name.front() == '/') return EntryError("zip_c3", name, "name is an absolute path");
  if (name.size() > 1 && name[1] == ':') return EntryError("zip_c3", name, "name starts with a drive letter");
  for (size_t at = 0; at <= name.size();) {
    const size_t slash = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, slash - at);
    if (part == ".." || part == ".") return EntryError("zip_c3", name, "name holds a relative component");
    at = slash + 1;
  }
  return absl::OkStatus();
}

// One record of the central directory at `*at`, which is moved behind it.
absl::StatusOr<ZipEntry> ReadCentral(Archive archive, uint64_t end, uint64_t index, uint64_t* at) {
  const uint64_t here = *at;
  if (!Fits(end, here, kCentralBytes))
    return InvalidError("zip_c2", "directory ends within record ", index, "; the end record counts more");
  if (U32(archive, here) != kCentralSignature) return InvalidError("zip_c2", "directory record ", index, ": signature");
  const uint64_t name_bytes = U16(archive, here + 28), extra_bytes = U16(archive, here + 30);
  const uint64_t comment_bytes = U16(archive, here + 32);
  if (!Fits(end, here + kCentralBytes, name_bytes))
    return InvalidError("zip_c2", "directory record ", index, ": name of ", name_bytes, " bytes");
  ZipEntry entry;
  entry.name = Text(archive, here + kCentralBytes, name_bytes);
  if (!Fits(end, here + kCentralBytes, name_bytes + extra_bytes + comment_bytes))
    return EntryError("zip_c2", entry.name, "extra field or comment reaches past the end of the directory");
  TARE_RETURN_IF_ERROR(CheckName(entry.name));
  TARE_RETURN_IF_ERROR(CheckFlags(U16(archive, here + 8), entry.name));
  const uint16_t method = U16(archive, here + 10);
  if (method != 0 && method != 8)
    return UnimplementedError("zip_c6", "entry ", Printable(entry.name), ": compression method ", method);
  if (U16(archive, here + 34) != 0)
    return UnimplementedError("zip_c6", "entry ", Printable(entry.name), ": on disk ", U16(archive, here + 34));
  entry.deflated = method == 8;
  entry.crc = U32(archive, here + 16);
  WideFields wide{U32(archive, here + 24), U32(archive, here + 20), U32(archive, here + 42), true};
  const Archive extra = archive.subspan(here + kCentralBytes + name_bytes, extra_bytes);
  TARE_RETURN_IF_ERROR(ReadExtra(extra, entry.name, "zip_c2", &wide));
  entry.bytes = wide.bytes;
  entry.stored_bytes = wide.stored_bytes;
  entry.header = wide.header;
  if (!entry.deflated && entry.bytes != entry.stored_bytes)
    return EntryError("zip_c2", entry.name, "stored, but its sizes are ", entry.stored_bytes, " and ", entry.bytes);
  *at = here + kCentralBytes + name_bytes + extra_bytes + comment_bytes;
  return entry;
}

// With a data descriptor the local fields may be 0; the descriptor itself is not looked at.
absl::Status CheckAgree(const ZipEntry& entry, const char* field, uint64_t local, uint64_t central, bool descriptor) {
  if (local == central || (descriptor && local == 0)) return absl::OkStatus();
  return EntryError("zip_c4", entry.name, field, " is ", local, " in the local header, ", central,
                    " in the central directory");
}

// Compares the local header with the central record and finds the payload.
absl::Status ReadLocal(Archive archive, uint64_t directory, ZipEntry* entry) {
  const uint64_t here = entry->header;
  if (!Fits(directory, here, kLocalBytes))
    return EntryError("zip_c4", entry->name, "local header at ", here, " lies outside the entries");
  if (U32(archive, here) != kLocalSignature) return EntryError("zip_c4", entry->name, "local header: signature");
  const uint64_t name_bytes = U16(archive, here + 26), extra_bytes = U16(archive, here + 28);
  if (!Fits(directory, here + kLocalBytes, name_bytes + extra_bytes))
    return EntryError("zip_c4", entry->name, "local header: name or extra field reaches past the entries");
  const std::string_view name = Text(archive, here + kLocalBytes, name_bytes);
  if (name != entry->name) return EntryError("zip_c4", entry->name, "local header: name is ", Printable(name));
  const uint16_t flags = U16(archive, here + 6), method = U16(archive, here + 8);
  TARE_RETURN_IF_ERROR(CheckFlags(flags, entry->name));
  const bool descriptor = (flags & kFlagDescriptor) != 0;
  TARE_RETURN_IF_ERROR(CheckAgree(*entry, "compression method", method, entry->deflated ? 8 : 0, false));
  WideFields wide{U32(archive, here + 22), U32(archive, here + 18), 0, false};
  const Archive extra = archive.subspan(here + kLocalBytes + name_bytes, extra_bytes);
  TARE_RETURN_IF_ERROR(ReadExtra(extra, entry->name, "zip_c4", &wide));
  TARE_RETURN_IF_ERROR(CheckAgree(*entry, "CRC", U32(archive, here + 14), entry->crc, descriptor));
  TARE_RETURN_IF_ERROR(CheckAgree(*entry, "size", wide.bytes, entry->bytes, descriptor));
  TARE_RETURN_IF_ERROR(CheckAgree(*entry, "stored size", wide.stored_bytes, entry->stored_bytes, descriptor));
  entry->data = here + kLocalBytes + name_bytes + extra_bytes;
  if (!Fits(directory, entry->data, entry->stored_bytes))
    return EntryError("zip_c4", entry->name, "size ", entry->stored_bytes, " reaches past the entries");
  return absl::OkStatus();
}

absl::Status CheckOverlaps(const std::vector<ZipEntry>& entries) {
  std::vector<const ZipEntry*> sorted;
  sorted.reserve(entries.size());
  for (const ZipEntry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const ZipEntry* a, const ZipEntry* b) { return a->header < b->header; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->data + sorted[i - 1]->stored_bytes > sorted[i]->header)
      return EntryError("zip_c5", sorted[i - 1]->name, "size ", sorted[i - 1]->stored_bytes, " overlaps entry ",
                        Printable(sorted[i]->name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ZipEntry>> ReadZipDirectory(Archive archive) {
  TARE_ASSIGN_OR_RETURN(const DirectoryPlace place, FindDirectory(archive));
  const uint64_t end = place.start + place.bytes;
  std::vector<ZipEntry> entries;
  absl::flat_hash_set<std::string_view> names;
  uint64_t at = place.start;
  for (uint64_t i = 0; i < place.entries; ++i) {
    TARE_ASSIGN_OR_RETURN(ZipEntry entry, ReadCentral(archive, end, i, &at));
    if (!names.insert(entry.name).second) return EntryError("zip_c3", entry.name, "name occurs twice");
    entries.push_back(entry);
  }
  if (at != end)
    return InvalidError("zip_c2", "directory has ", end - at, " bytes after its ", place.entries,
                        " records; the end record counts fewer entries");
  for (ZipEntry& entry : entries) TARE_RETURN_IF_ERROR(ReadLocal(archive, place.start, &entry));
  TARE_RETURN_IF_ERROR(CheckOverlaps(entries));
  return entries;
}

}  // namespace tare::pt2
