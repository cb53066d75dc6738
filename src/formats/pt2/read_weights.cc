// Parameters, buffers and constants: configs of the archive, payloads as views of the file.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/reader.h"
#include "formats/pt2/utf8.h"

namespace tare::pt2 {
namespace {

using ConstantIndex = absl::flat_hash_map<std::string, ConstId>;

constexpr JsonField kPayloadFields[] = {{"path_name"}, {"is_param", false}, {"use_pickle"}, {"tensor_meta", false}};

struct ConfigReader {
  Reader& reader;
  Archive& archive;
  std::string folder;  // "data/weights/"
  CrcCheck check;
  std::string where;      // name of the config's entry, for messages
  ConstantIndex by_name;  // names of this config
  absl::flat_hash_set<const ZipEntry*> verified;
};

std::string_view AsText(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data.data()), bytes.data.size()};
}

// Bytes the tensor needs of its storage. Errors: [weight_c2].
absl::StatusOr<int64_t> StorageBytes(const Json& json, const TensorMeta& meta) {
  const int64_t item = BytesOf(meta.dtype);
  int64_t elements = 1, reach = meta.offset.is_static() ? meta.offset.value() : 0;
  bool concrete = meta.offset.is_static(), overflow = false, empty = false;
  for (size_t i = 0; i < meta.shape.size(); ++i) {
    concrete &= meta.shape[i].is_static() && meta.strides[i].is_static();
    if (!concrete) break;
    const int64_t size = meta.shape[i].value();
    empty |= size == 0;
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(elements, size, &elements) ||
                __builtin_mul_overflow(std::max<int64_t>(size, 1) - 1, meta.strides[i].value(), &step) ||
                __builtin_add_overflow(reach, step, &reach);
  }
  if (!concrete) return json.Error("weight_c2", "tensor_meta: sizes, strides and offset must be numbers");
  int64_t bytes = 0;
  if (!empty && (overflow || __builtin_mul_overflow(elements, item, &bytes) || bytes > kMaxConstantBytes))
    return json.Error("weight_c2", "tensor_meta: more than ", kMaxConstantBytes, " bytes");
  if (empty) return 0;
  if (__builtin_add_overflow(reach, 1, &reach) || __builtin_mul_overflow(reach, item, &bytes))
    return json.Error("weight_c2", "tensor_meta: storage_offset and strides overflow");
  return bytes;
}

absl::Status ReadTensorPayload(ConfigReader& config, const Json& json, const Json& meta_json, Constant* constant) {
  TARE_ASSIGN_OR_RETURN(const TensorValue tensor, ReadTensorMeta(config.reader, meta_json));
  constant->meta = tensor.meta;
  const TensorMeta& meta = config.reader.context.metas.Get(tensor.meta).tensor;
  TARE_ASSIGN_OR_RETURN(const int64_t needed, StorageBytes(json, meta));
  const std::string name = config.folder + constant->file_name;
  const ZipEntry* entry = config.archive.Find(name);
  if (entry == nullptr) return json.Error("weight_c3", "path_name: entry ", Printable(name), " is missing");
  const bool fresh = config.verified.insert(entry).second;
  const bool empty = std::any_of(meta.shape.begin(), meta.shape.end(), [](Dim d) { return d == 0; });
  TARE_ASSIGN_OR_RETURN(const Bytes bytes, config.archive.Read(*entry, fresh ? config.check : CrcCheck::kSkip));
  if (bytes.data.empty() && !empty) {
    constant->payload.missing = true;  // a program exported without its weights
    return absl::OkStatus();
  }
  const int64_t item = BytesOf(meta.dtype);
  const int64_t have = static_cast<int64_t>(bytes.data.size());
  if (have % item != 0)
    return json.Error("weight_c4", "entry ", Printable(name), " has ", have, " bytes, no multiple of ", item);
  if (have < needed)
    return json.Error("weight_c4", "entry ", Printable(name), " has ", have, " bytes, the tensor needs ", needed);
  constant->payload = AsPayload(bytes);
  return absl::OkStatus();
}

absl::Status ReadOpaque(ConfigReader& config, const Json& json, Constant* constant) {
  if (!constant->file_name.starts_with("custom_obj_"))
    return UnimplementedError("weight_c5", json.Where(), ": use_pickle: a pickled object is not read");
  const std::string name = config.folder + constant->file_name;
  const ZipEntry* entry = config.archive.Find(name);
  if (entry == nullptr) return json.Error("weight_c3", "path_name: entry ", Printable(name), " is missing");
  TARE_ASSIGN_OR_RETURN(const Bytes bytes, config.archive.Read(*entry, config.check));
  if (!AsText(bytes).starts_with("PK\x03\x04"))
    return json.Error("weight_c5", "entry ", Printable(name), " is no archived custom object");
  Meta meta;
  meta.kind = MetaKind::kObject;
  constant->meta = config.reader.context.metas.Intern(meta);
  constant->opaque_class = "custom_obj";
  constant->payload = AsPayload(bytes);
  return absl::OkStatus();
}

absl::Status ReadPayload(ConfigReader& config, std::string_view name, const Json& json) {
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kPayloadFields));
  Constant constant;
  constant.name = std::string(name);
  const Json path = json.At("path_name", fields.found[0]);
  TARE_ASSIGN_OR_RETURN(const std::string_view file_name, path.String());
  if (file_name.empty() || file_name.find('/') != file_name.npos)
    return path.Error("weight_c3", Printable(file_name), " is not the name of an entry beside the config");
  constant.file_name = std::string(file_name);
  if (fields.Given(1)) {
    TARE_ASSIGN_OR_RETURN(constant.is_parameter, json.At("is_param", fields.found[1]).Bool());
  }
  TARE_ASSIGN_OR_RETURN(const bool use_pickle, json.At("use_pickle", fields.found[2]).Bool());
  const bool has_tensor = fields.Given(3);
  if (file_name.starts_with("opaque_obj_"))
    return UnimplementedError("weight_c5", json.Where(), ": an opaque Python object is not read");
  if (use_pickle && has_tensor)
    return UnimplementedError("weight_c5", json.Where(), ": use_pickle: a pickled tensor is not read");
  if (!has_tensor && !use_pickle && !file_name.starts_with("custom_obj_"))
    return json.Error("weight_c2", "tensor_meta is null without use_pickle");
  if (has_tensor && !file_name.starts_with("weight_") && !file_name.starts_with("tensor_"))
    return path.Error("weight_c3", Printable(file_name), ": unknown prefix");
  TARE_RETURN_IF_ERROR(has_tensor ? ReadTensorPayload(config, json, json.At("tensor_meta", fields.found[3]), &constant)
                                  : ReadOpaque(config, json, &constant));
  const ConstId id{static_cast<uint32_t>(config.reader.program.constants.size())};
  if (!config.by_name.emplace(constant.name, id).second)
    return json.Error("json_c3", "key ", Printable(name), " occurs twice");
  config.reader.program.constants.push_back(std::move(constant));
  return absl::OkStatus();
}

absl::Status ReadConfig(ConfigReader& config, const ZipEntry& entry) {
  static constexpr JsonField kFields[] = {{"config"}};
  TARE_ASSIGN_OR_RETURN(const Bytes bytes, config.archive.Read(entry, CrcCheck::kVerify));
  JsonDocument document;
  TARE_ASSIGN_OR_RETURN(const Json json, document.Parse(AsText(bytes), config.archive.SlackBehind(bytes)));
  TARE_ASSIGN_OR_RETURN(const JsonFields fields, ReadFields(json, kFields));
  const Json table = json.At("config", fields.found[0]);
  TARE_ASSIGN_OR_RETURN(const simdjson::dom::object object, table.Object());
  for (const auto& [name, item] : object) TARE_RETURN_IF_ERROR(ReadPayload(config, name, table.At(name, item)));
  return absl::OkStatus();
}

bool IsWeight(const InputSpec& spec) {
  return spec.kind == InputKind::kParameter || (spec.kind == InputKind::kBuffer && spec.persistent);
}
bool IsConstant(const InputSpec& spec) {
  return (spec.kind == InputKind::kBuffer && !spec.persistent) || spec.kind == InputKind::kTensorConstant ||
         spec.kind == InputKind::kCustomObject;
}

// Shape and dtype of a constant must be those its placeholder records; strides are `check`'s to compare.
absl::Status CheckAgainstGraph(const Reader& reader, const Constant& constant, NodeId input) {
  const Graph& main = reader.program.main();
  const Meta& stored = reader.context.metas.Get(constant.meta);
  const Meta& recorded = reader.context.metas.Get(main.meta(input));
  if (stored.kind != MetaKind::kTensor || recorded.kind != MetaKind::kTensor) return absl::OkStatus();
  if (stored.tensor.dtype != recorded.tensor.dtype)
    return InvalidError("weight_c6", "constant ", Printable(constant.name), ": dtype is ", Name(stored.tensor.dtype),
                        ", the graph records ", Name(recorded.tensor.dtype));
  if (!std::equal(stored.tensor.shape.begin(), stored.tensor.shape.end(), recorded.tensor.shape.begin(),
                  recorded.tensor.shape.end()))
    return InvalidError("weight_c6", "constant ", Printable(constant.name), ": sizes differ from those of the graph's ",
                        Printable(main.NameOf(input)));
  return absl::OkStatus();
}

absl::Status Bind(Reader& reader, bool (*wanted)(const InputSpec&), const ConstantIndex& by_name,
                  std::string_view where) {
  const std::span<const NodeId> inputs = reader.program.main().inputs();
  for (size_t i = 0; i < reader.program.inputs.size(); ++i) {
    InputSpec& spec = reader.program.inputs[i];
    if (!wanted(spec)) continue;
    const auto found = by_name.find(spec.target);
    if (found == by_name.end())
      return InvalidError("weight_c1", "entry ", Printable(where), ": config.", Printable(spec.target),
                          " is missing, an input of the graph");
    spec.constant = found->second;
    TARE_RETURN_IF_ERROR(CheckAgainstGraph(reader, reader.program.constants[found->second.index], inputs[i]));
  }
  return absl::OkStatus();
}

void MakeAbsent(Reader& reader, bool (*wanted)(const InputSpec&)) {
  const Graph& main = reader.program.main();
  for (size_t i = 0; i < reader.program.inputs.size(); ++i) {
    InputSpec& spec = reader.program.inputs[i];
    if (!wanted(spec)) continue;
    Constant constant;
    constant.name = spec.target;
    constant.meta = main.meta(main.inputs()[i]);
    constant.is_parameter = spec.kind == InputKind::kParameter;
    constant.payload.missing = true;
    spec.constant = ConstId{static_cast<uint32_t>(reader.program.constants.size())};
    reader.program.constants.push_back(std::move(constant));
  }
}

absl::Status ReadFolder(Reader& reader, Archive& archive, const std::string& model, CrcCheck check, const char* kind,
                        bool (*wanted)(const InputSpec&)) {
  ConfigReader config{reader, archive, absl::StrCat("data/", kind, "/"), check, {}, {}, {}};
  if (archive.Find(absl::StrCat(config.folder, model, ".pt")) != nullptr) {
    MakeAbsent(reader, wanted);  // the layout of 2.8: one pickle of everything
    return absl::OkStatus();
  }
  config.where = absl::StrCat(config.folder, model, "_", kind, "_config.json");
  const ZipEntry* entry = archive.Find(config.where);
  if (entry == nullptr) return InvalidError("weight_c1", "entry ", Printable(config.where), " is missing");
  if (const absl::Status status = ReadConfig(config, *entry); !status.ok())
    return Prefixed(absl::StrCat("entry ", Printable(config.where), ": "), status);
  return Bind(reader, wanted, config.by_name, config.where);
}

}  // namespace

absl::Status ReadConstants(Reader& reader, Archive& archive, const std::string& model, CrcCheck check) {
  if (archive.layout() == ArchiveLayout::kLegacy) return MakeAbsentConstants(reader);
  TARE_RETURN_IF_ERROR(ReadFolder(reader, archive, model, check, "weights", IsWeight));
  return ReadFolder(reader, archive, model, check, "constants", IsConstant);
}

absl::Status MakeAbsentConstants(Reader& reader) {
  MakeAbsent(reader, IsWeight);
  MakeAbsent(reader, IsConstant);
  return absl::OkStatus();
}

}  // namespace tare::pt2
