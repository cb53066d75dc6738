#include "formats/pt2/archive.h"

#include <algorithm>
#include <charconv>

#include "formats/pt2/inflate.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/utf8.h"
#include "ir/status.h"

namespace tare::pt2 {
namespace {

constexpr std::string_view kModels = "models/", kJson = ".json";
constexpr std::string_view kLegacyProgram = "serialized_exported_program.json";

// What a ZIP without an exported program seems to be.
std::string_view OtherKind(const std::vector<ZipEntry>& entries) {
  bool compiled = false, pickled = false;
  for (const ZipEntry& entry : entries) {
    if (entry.name.ends_with("constants.pkl")) return "a TorchScript archive";
    compiled |= entry.name.find("data/aotinductor/") != entry.name.npos;
    pickled |= entry.name.ends_with("/data.pkl");
  }
  return compiled ? "a package of compiled code (AOTInductor)" : pickled ? "a torch.save file" : "another archive";
}

std::string SomeNames(const std::vector<ZipEntry>& entries) {
  constexpr size_t kNames = 8;
  std::string text;
  for (size_t i = 0; i < std::min(entries.size(), kNames); ++i) {
    if (i > 0) text += ", ";
    text += Printable(entries[i].name);
  }
  return entries.size() > kNames ? text + ", …" : text;
}

bool ParseNumber(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

absl::StatusOr<Archive> Archive::Open(Bytes file) {
  Archive archive;
  archive.file_ = std::move(file);
  TARE_ASSIGN_OR_RETURN(archive.entries_, ReadZipDirectory(archive.file_.data));
  if (archive.entries_.empty()) return InvalidError("pt2_c1", "not an exported program: a ZIP archive without entries");
  TARE_RETURN_IF_ERROR(archive.FindLayout());
  TARE_RETURN_IF_ERROR(archive.layout_ == ArchiveLayout::kPt2 ? archive.CheckPt2() : archive.CheckLegacy());
  return archive;
}

const ZipEntry* Archive::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

absl::Status Archive::FindLayout() {
  const auto named = [&](std::string_view name) {
    return std::any_of(entries_.begin(), entries_.end(), [&](const ZipEntry& e) { return e.name == name; });
  };
  if (named(kLegacyProgram)) {
    layout_ = ArchiveLayout::kLegacy;
  } else if (named("version") && !entries_[0].name.ends_with('/') && entries_[0].name.find('/') == std::string::npos) {
    return InvalidError("pt2_c1", "not an exported program: entry ", kLegacyProgram, " is missing");
  } else {
    const std::string_view first = entries_[0].name;
    const size_t slash = first.find('/');
    if (slash == first.npos || slash == 0)
      return InvalidError("pt2_c1", "not an exported program: entry ", Printable(first), " is in no folder");
    prefix_bytes_ = slash + 1;
  }
  const std::string_view root = entries_[0].name.substr(0, prefix_bytes_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].name.starts_with(root))
      return InvalidError("pt2_c2", "entry ", Printable(entries_[i].name), ": not below the root folder ",
                          Printable(root));
    by_name_.emplace(LocalName(entries_[i]), i);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Archive::ReadSmall(std::string_view name) {
  const ZipEntry* entry = Find(name);
  if (entry == nullptr) return InvalidError("pt2_c3", "entry ", name, " is missing");
  if (entry->bytes > kMaxSmallEntryBytes) return InvalidError("pt2_c3", "entry ", name, ": ", entry->bytes, " bytes");
  TARE_ASSIGN_OR_RETURN(const Bytes bytes, Read(*entry, CrcCheck::kVerify));
  return std::string(reinterpret_cast<const char*>(bytes.data.data()), bytes.data.size());
}

absl::Status Archive::CheckPt2() {
  if (Find("archive_format") == nullptr)
    return InvalidError("pt2_c1", "not an exported program: entry archive_format is missing; this is ",
                        OtherKind(entries_), ": ", SomeNames(entries_));
  TARE_ASSIGN_OR_RETURN(const std::string format, ReadSmall("archive_format"));
  if (format != "pt2")
    return InvalidError("pt2_c3", "entry archive_format: \"", Printable(format), "\", expected \"pt2\"");
  TARE_ASSIGN_OR_RETURN(const std::string version, ReadSmall("archive_version"));
  if (version != "0")
    return InvalidError("pt2_c3", "entry archive_version: \"", Printable(version), "\", expected \"0\"");
  TARE_ASSIGN_OR_RETURN(std::string data_version, ReadSmall(".data/version"));
  while (!data_version.empty() && data_version.back() == '\n') data_version.pop_back();
  int64_t number = 0;
  if (!ParseNumber(data_version, &number) || number < 1 || number > kMaxDataVersion)
    return InvalidError("pt2_c3", "entry .data/version: \"", Printable(data_version), "\", at most ", kMaxDataVersion,
                        " is known");
  if (Find("byteorder") != nullptr) {
    TARE_ASSIGN_OR_RETURN(const std::string order, ReadSmall("byteorder"));
    if (order == "big")
      return UnimplementedError("pt2_c3", "entry byteorder: \"big\": big-endian payloads are not supported");
    if (order != "little")
      return InvalidError("pt2_c3", "entry byteorder: \"", Printable(order), "\", expected \"little\"");
  }
  for (const ZipEntry& entry : entries_) {
    const std::string_view name = LocalName(entry);
    if (name.size() <= kModels.size() + kJson.size() || !name.starts_with(kModels) || !name.ends_with(kJson)) continue;
    const std::string_view model = name.substr(kModels.size(), name.size() - kModels.size() - kJson.size());
    if (model.find('/') == model.npos) models_.emplace_back(model);
  }
  if (models_.empty())
    return InvalidError("pt2_c1", "not an exported program: no entry models/*.json; this is ", OtherKind(entries_),
                        ": ", SomeNames(entries_));
  return absl::OkStatus();
}

absl::Status Archive::CheckLegacy() {
  TARE_ASSIGN_OR_RETURN(const std::string version, ReadSmall("version"));
  const size_t dot = version.find('.');
  int64_t major = 0, minor = 0;
  if (dot == version.npos || !ParseNumber(std::string_view(version).substr(0, dot), &major) ||
      !ParseNumber(std::string_view(version).substr(dot + 1), &minor))
    return InvalidError("pt2_c3", "entry version: \"", Printable(version), "\", expected MAJOR.MINOR");
  if (major != kSchemaMajor)
    return UnimplementedError("pt2_c3", "entry version: schema ", version, ", this tare reads ", kSchemaMajor, ".x");
  models_.emplace_back("model");
  return absl::OkStatus();
}

absl::StatusOr<Bytes> Archive::Read(const ZipEntry& entry, CrcCheck check) {
  const std::span<const std::byte> stored = file_.data.subspan(entry.data, entry.stored_bytes);
  if (!entry.deflated) {
    if (check == CrcCheck::kVerify) TARE_RETURN_IF_ERROR(VerifyCrc(entry, stored));
    return Bytes{file_.owner, stored, file_.mapped};
  }
  if (entry.bytes > kMaxInflatedBytes || inflated_total_ + entry.bytes > kMaxInflatedTotal)
    return InvalidError("zip_c9", "entry ", Printable(entry.name), ": inflates to ", entry.bytes,
                        " bytes, which is too much");
  inflated_total_ += entry.bytes;
  return Inflate(entry, stored);
}

size_t Archive::SlackBehind(const Bytes& view) const {
  const std::byte* end = view.data.data() + view.data.size();
  const std::byte* file_end = file_.data.data() + file_.data.size();
  if (view.owner != file_.owner || view.owner == nullptr) return 0;
  return static_cast<size_t>(file_end - end);
}

}  // namespace tare::pt2
