// Reading an archive: which model, its JSON, its constants, everything else kept.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "formats/pt2/archive.h"
#include "formats/pt2/pt2.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/reader.h"
#include "formats/pt2/utf8.h"

namespace tare {
namespace pt2 {
namespace {

absl::StatusOr<std::string> ChooseModel(const Archive& archive, const std::string& wanted) {
  const std::vector<std::string>& models = archive.models();
  const std::string name = !wanted.empty() ? wanted : models.size() == 1 ? models[0] : "model";
  if (std::find(models.begin(), models.end(), name) != models.end()) return name;
  return absl::NotFoundError(absl::StrCat("no model ", name, "; the archive holds ", absl::StrJoin(models, ", ")));
}

// Entries that are written anew, or that the constants hold.
bool IsOwn(std::string_view name, const std::string& model) {
  static constexpr std::string_view kFixed[] = {"archive_format",
                                                "archive_version",
                                                "byteorder",
                                                ".data/version",
                                                ".data/serialization_id",
                                                "version",
                                                "serialized_exported_program.json"};
  if (std::find(std::begin(kFixed), std::end(kFixed), name) != std::end(kFixed)) return true;
  return name == absl::StrCat("models/", model, ".json") ||
         name == absl::StrCat("data/weights/", model, "_weights_config.json") ||
         name == absl::StrCat("data/constants/", model, "_constants_config.json");
}

absl::Status KeepOtherEntries(Archive& archive, Program& program, const std::string& model, CrcCheck check) {
  absl::flat_hash_set<std::string> held;
  for (const Constant& constant : program.constants) {
    if (!constant.file_name.empty()) held.insert(constant.file_name);
  }
  for (const ZipEntry& entry : archive.entries()) {
    const std::string_view name = archive.LocalName(entry);
    if (entry.is_folder() || name.empty() || IsOwn(name, model)) continue;
    const size_t slash = name.rfind('/');
    const std::string_view folder = name.substr(0, slash == name.npos ? 0 : slash + 1);
    if ((folder == "data/weights/" || folder == "data/constants/") &&
        held.contains(std::string(name.substr(slash + 1))))
      continue;
    TARE_ASSIGN_OR_RETURN(const Bytes bytes, archive.Read(entry, check));
    program.extra_files.emplace(std::string(name), AsPayload(bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<Program> ReadFrom(Context& context, Bytes file, const ReadOptions& options) {
  TARE_ASSIGN_OR_RETURN(Archive archive, Archive::Open(std::move(file)));
  TARE_ASSIGN_OR_RETURN(const std::string model, ChooseModel(archive, options.model));
  const bool legacy = archive.layout() == ArchiveLayout::kLegacy;
  const std::string entry_name = legacy ? "serialized_exported_program.json" : absl::StrCat("models/", model, ".json");
  const ZipEntry* entry = archive.Find(entry_name);
  TARE_ASSIGN_OR_RETURN(const Bytes text, archive.Read(*entry, CrcCheck::kVerify));
  Reader reader(context);
  reader.program.name = model;
  std::string_view json(reinterpret_cast<const char*>(text.data.data()), text.data.size());
  size_t slack = entry->deflated ? kJsonPadding : archive.SlackBehind(text);
  const std::string quoted = legacy && json.size() <= kMaxJsonBytes ? QuoteBareFloats(json) : "";
  if (!quoted.empty()) {
    json = quoted;
    slack = 0;
  }
  if (const absl::Status status = ReadProgramJson(reader, json, slack); !status.ok())
    return Prefixed(absl::StrCat("entry ", Printable(entry->name), ": "), status);
  const CrcCheck check = options.verify_weights ? CrcCheck::kVerify : CrcCheck::kSkip;
  TARE_RETURN_IF_ERROR(ReadConstants(reader, archive, model, check));
  TARE_RETURN_IF_ERROR(KeepOtherEntries(archive, reader.program, model, check));
  return std::move(reader.program);
}

}  // namespace
}  // namespace pt2

absl::StatusOr<Program> ReadPt2(Context& context, const std::string& path, const ReadOptions& options) {
  TARE_ASSIGN_OR_RETURN(const pt2::Bytes file, pt2::MapFile(path));
  absl::StatusOr<Program> program = pt2::ReadFrom(context, file, options);
  ForgetPages(pt2::AsPayload(file));
  return program;
}

absl::StatusOr<Program> ReadPt2FromMemory(Context& context, std::span<const std::byte> file,
                                          const ReadOptions& options) {
  return pt2::ReadFrom(context, pt2::CopyBuffer(file), options);
}

absl::StatusOr<Program> ReadPt2Json(Context& context, std::string_view json) {
  pt2::Reader reader(context);
  reader.program.name = "model";
  TARE_RETURN_IF_ERROR(pt2::ReadProgramJson(reader, json, 0));
  TARE_RETURN_IF_ERROR(pt2::MakeAbsentConstants(reader));
  return std::move(reader.program);
}

absl::StatusOr<std::vector<std::string>> ListPt2Models(const std::string& path) {
  TARE_ASSIGN_OR_RETURN(pt2::Bytes file, pt2::MapFile(path));
  TARE_ASSIGN_OR_RETURN(pt2::Archive archive, pt2::Archive::Open(std::move(file)));
  return archive.models();
}

}  // namespace tare
