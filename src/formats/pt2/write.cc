// Writing an archive: payload files, configs, the program, everything that was kept.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "formats/pt2/pt2.h"
#include "formats/pt2/writer.h"
#include "formats/pt2/zip_writer.h"

namespace tare {
namespace pt2 {
namespace {

constexpr char kRoot[] = "archive/";

// The two folders of payloads; each has a config and numbers its files.
struct Folder {
  const char* kind;    // "weights"
  const char* prefix;  // "weight_"
  std::vector<uint32_t> constants;
  std::vector<std::string> files;                                 // by position in `constants`
  std::vector<std::pair<std::string, const Constant*>> payloads;  // file, whose bytes
};

bool IsWeight(const InputSpec& spec) {
  return spec.kind == InputKind::kParameter || (spec.kind == InputKind::kBuffer && spec.persistent);
}

// Which folder each constant goes to: as its input says, else where its file came from.
void Divide(const Writer& writer, Folder& weights, Folder& constants) {
  const Program& program = writer.program;
  std::vector<int> is_weight(program.constants.size(), -1);
  for (const InputSpec& spec : program.inputs) {
    if (spec.constant.index < is_weight.size()) is_weight[spec.constant.index] = IsWeight(spec) ? 1 : 0;
  }
  for (const LiftedInput& input : writer.lifted) is_weight[input.spec.constant.index] = IsWeight(input.spec) ? 1 : 0;
  for (uint32_t i = 0; i < program.constants.size(); ++i) {
    const Constant& constant = program.constants[i];
    // A constant made by a pass that nothing uses any more is left out.
    if (is_weight[i] < 0 && constant.file_name.empty()) continue;
    const bool weight = is_weight[i] < 0 ? constant.file_name.starts_with(weights.prefix) : is_weight[i] == 1;
    (weight ? weights : constants).constants.push_back(i);
  }
}

// Constants that share a storage share a file; files keep their names where they have one.
void NameFiles(const Program& program, Folder& folder) {
  absl::flat_hash_set<std::string> taken;
  for (const auto& [name, payload] : program.extra_files) {
    (void)payload;
    const std::string path = absl::StrCat("data/", folder.kind, "/");
    if (std::string_view(name).starts_with(path)) taken.insert(name.substr(path.size()));
  }
  absl::flat_hash_map<std::pair<const std::byte*, size_t>, std::string> by_bytes;
  absl::flat_hash_map<std::string, std::string> absent;  // file names of payloads without bytes
  std::vector<uint32_t> late;
  folder.files.resize(folder.constants.size());
  const auto place = [&](size_t i, bool keep_names) {
    const Constant& constant = program.constants[folder.constants[i]];
    const std::span<const std::byte> bytes = constant.payload.bytes;
    const std::pair key(bytes.data(), bytes.size());
    if (bytes.empty() && !constant.file_name.empty()) {
      if (const auto found = absent.find(constant.file_name); found != absent.end()) {
        folder.files[i] = found->second;
        return;
      }
    } else if (const auto found = by_bytes.find(key); found != by_bytes.end() && !bytes.empty()) {
      folder.files[i] = found->second;
      return;
    }
    std::string name = constant.file_name;
    if (name.empty() || taken.contains(name)) {
      if (keep_names) return;
      for (size_t k = 0;; ++k) {
        name = absl::StrCat(folder.prefix, k);
        if (!taken.contains(name)) break;
      }
    }
    taken.insert(name);
    folder.files[i] = name;
    folder.payloads.emplace_back(name, &constant);
    if (bytes.empty()) {
      absent.emplace(constant.file_name, name);
    } else {
      by_bytes.emplace(key, name);
    }
  };
  for (size_t i = 0; i < folder.constants.size(); ++i) place(i, true);
  for (size_t i = 0; i < folder.constants.size(); ++i) {
    if (folder.files[i].empty()) place(i, false);
  }
}

absl::StatusOr<std::string> WriteConfig(Writer& writer, const Folder& folder) {
  JsonWriter& json = writer.json;
  json = JsonWriter();
  json.BeginObject().Key("config").BeginObject();
  for (size_t i = 0; i < folder.constants.size(); ++i) {
    const Constant& constant = writer.program.constants[folder.constants[i]];
    const Meta& meta = writer.context.metas.Get(constant.meta);
    const std::string& name = writer.constant_names[folder.constants[i]];
    const bool opaque = !constant.opaque_class.empty();
    json.Key(name).BeginObject().Key("path_name").String(folder.files[i]).Key("is_param").Bool(constant.is_parameter);
    json.Key("use_pickle").Bool(opaque).Key("tensor_meta");
    if (opaque) {
      json.Null();
    } else if (meta.kind == MetaKind::kTensor) {
      TARE_RETURN_IF_ERROR(WriteTensorMeta(writer, meta.tensor, constant.is_parameter, name));
    } else {
      return CannotWrite("constant ", name, ", which is no tensor");
    }
    json.EndObject();
  }
  json.EndObject().EndObject();
  return std::move(json.text());
}

absl::Status AddFolder(ZipWriter& zip, Writer& writer, Folder& folder, const std::string& model) {
  NameFiles(writer.program, folder);
  TARE_ASSIGN_OR_RETURN(const std::string config, WriteConfig(writer, folder));
  for (const auto& [name, constant] : folder.payloads)
    TARE_RETURN_IF_ERROR(zip.Add(absl::StrCat(kRoot, "data/", folder.kind, "/", name), constant->payload.bytes));
  return zip.Add(absl::StrCat(kRoot, "data/", folder.kind, "/", model, "_", folder.kind, "_config.json"), config);
}

// 40 decimal digits that follow from the program's text.
std::string SerializationId(std::string_view text) {
  uint64_t a = 14695981039346656037ull, b = 1099511628211ull;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    b = (b + static_cast<unsigned char>(c)) * 0x9E3779B97F4A7C15ull;
  }
  return absl::StrFormat("%020d%020d", a, b);
}

absl::Status WriteArchive(const Program& program, const std::string& path) {
  if (program.extra_files.contains("serialized_state_dict.pt") ||
      program.extra_files.contains("serialized_constants.pt"))
    return CannotWrite("weights that were stored as pickles (layout before 2.8)");
  const std::string model = program.name.empty() ? "model" : program.name;
  Writer writer(program);
  TARE_ASSIGN_OR_RETURN(const std::string json, WriteProgramJson(writer));
  Folder weights{"weights", "weight_", {}, {}, {}}, constants{"constants", "tensor_", {}, {}, {}};
  Divide(writer, weights, constants);
  ZipWriter zip;
  TARE_RETURN_IF_ERROR(zip.Open(path));
  TARE_RETURN_IF_ERROR(AddFolder(zip, writer, weights, model));
  TARE_RETURN_IF_ERROR(AddFolder(zip, writer, constants, model));
  TARE_RETURN_IF_ERROR(zip.Add(absl::StrCat(kRoot, "models/", model, ".json"), json));
  bool has_sample = false;
  const std::string sample = absl::StrCat("data/sample_inputs/", model, ".pt");
  for (const auto& [name, payload] : program.extra_files) {
    has_sample |= name == sample;
    TARE_RETURN_IF_ERROR(zip.Add(kRoot + name, payload.bytes));
  }
  if (!has_sample) TARE_RETURN_IF_ERROR(zip.Add(kRoot + sample, std::string_view{}));
  const std::pair<const char*, std::string> fixed[] = {{"archive_format", "pt2"},
                                                       {"archive_version", "0"},
                                                       {".data/version", "6\n"},
                                                       {"byteorder", "little"},
                                                       {".data/serialization_id", SerializationId(json)}};
  for (const auto& [name, text] : fixed) TARE_RETURN_IF_ERROR(zip.Add(absl::StrCat(kRoot, name), text));
  return zip.Close();
}

}  // namespace
}  // namespace pt2

absl::Status WritePt2(const Program& program, const std::string& path) {
  const std::string temporary = absl::StrCat(path, ".tmp", getpid());
  absl::Status status = pt2::WriteArchive(program, temporary);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0)
    status = absl::InternalError(absl::StrCat(path, ": ", std::strerror(errno)));
  if (!status.ok()) std::remove(temporary.c_str());
  return status;
}

}  // namespace tare
