#include "backends/tosa/read.h"

#include <cstring>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "backends/tosa/file_check.h"
#include "backends/tosa/region_reader.h"
#include "formats/pt2/mapped_file.h"
#include "formats/pt2/utf8.h"
#include "meta/infer.h"

namespace tare::tosa {
namespace {

constexpr size_t kMaxRegions = 1 << 16;

absl::StatusOr<int> MinorVersion(const tosafile::TosaGraph& graph) {
  const tosafile::Version& version = *graph.version();  // required: the verifier saw it
  if (version.major() == 1 && (version.minor() == 0 || version.minor() == 1)) return version.minor();
  return UnimplementedError("tosa_read_c2", "the file has version ", version.major(), ".", version.minor(), ".",
                            version.patch(), "; 1.0 and 1.1 can be read");
}

// Blocks by name; a region's own name stands for its block too.
class Blocks {
 public:
  static absl::StatusOr<Blocks> Of(const tosafile::TosaGraph& graph) {
    Blocks blocks;
    const auto* regions = graph.regions();
    if (regions == nullptr || regions->size() == 0) return InvalidError("tosa_read_c13", "the file has no region");
    if (regions->size() > kMaxRegions) return InvalidError("tosa_read_c3", regions->size(), " regions");
    for (const tosafile::Region* region : *regions) {
      if (region->blocks() == nullptr || region->blocks()->size() != 1) {
        return InvalidError("tosa_read_c13", "region ", Shown(region->name()), " must have one block");
      }
      const tosafile::BasicBlock* block = region->blocks()->Get(0);
      const flatbuffers::String* name = block->name() != nullptr ? block->name() : region->name();
      const std::string text = name == nullptr ? "" : name->str();
      if (blocks.main_ == nullptr) blocks.main_ = block;
      if (!blocks.by_name_.try_emplace(text, block).second) {
        return InvalidError("tosa_read_c13", "two regions are called ", Shown(name));
      }
    }
    return blocks;
  }

  const tosafile::BasicBlock& main() const { return *main_; }
  // Each block is the body of one operator. Errors: [tosa_read_c13].
  absl::StatusOr<const tosafile::BasicBlock*> Take(const std::string& name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end() || found->second == main_) {
      return InvalidError("tosa_read_c13", "there is no body called ", pt2::Printable(name));
    }
    if (!taken_.insert(found->second).second) {
      return InvalidError("tosa_read_c13", "region ", pt2::Printable(name), " is the body of two operators");
    }
    return found->second;
  }
  size_t left() const { return by_name_.size() - 1 - taken_.size(); }

 private:
  const tosafile::BasicBlock* main_ = nullptr;
  absl::flat_hash_map<std::string, const tosafile::BasicBlock*> by_name_;
  absl::flat_hash_set<const tosafile::BasicBlock*> taken_;
};

absl::Status ReadRegions(FileReader& file, const tosafile::TosaGraph& graph) {
  TARE_ASSIGN_OR_RETURN(Blocks blocks, Blocks::Of(graph));
  file.program.graphs.emplace_back().name = "main";
  TARE_RETURN_IF_ERROR(RegionReader(file, GraphId{0}, blocks.main()).Read());
  while (!file.bodies.empty()) {
    const FileReader::Body body = file.bodies.front();
    file.bodies.pop_front();
    TARE_ASSIGN_OR_RETURN(const tosafile::BasicBlock* block, blocks.Take(body.region));
    const GraphId id{static_cast<uint32_t>(file.program.graphs.size())};
    ProgramGraph& graph = file.program.graphs.emplace_back();
    graph.name = body.region;
    graph.owner_graph = body.owner_graph;
    graph.owner = body.owner;
    absl::Status status = RegionReader(file, id, *block).Read();
    if (!status.ok()) return Within(status, Cat("region ", pt2::Printable(body.region)));
  }
  if (blocks.left() > 0) return InvalidError("tosa_read_c13", blocks.left(), " regions are the body of no operator");
  return absl::OkStatus();
}

}  // namespace

absl::Status Within(const absl::Status& status, std::string_view where) {
  absl::Status named(status.code(), Cat(where, ": ", std::string(status.message())));
  status.ForEachPayload([&](absl::string_view key, const absl::Cord& value) { named.SetPayload(key, value); });
  return named;
}

std::string Shown(const flatbuffers::String* name) {
  return name == nullptr ? "without a name" : pt2::Printable({name->c_str(), name->size()});
}

}  // namespace tare::tosa

namespace tare {

bool IsTosa(std::span<const std::byte> bytes) { return bytes.size() >= 8 && std::memcmp(&bytes[4], "TOSA", 4) == 0; }

std::string_view WidestTosaSpec(int minor) {
  return minor == 0 ? "TOSA-1.0+INT+FP+int16+int4+var+cf+bf16+fp8e4m3+fp8e5m2+fft"
                    : "TOSA-1.1+INT+FP+int16+int4+var+cf+bf16+fp8e4m3+fp8e5m2+fft+shape+int64+random+mxfp";
}

absl::StatusOr<Program> ReadTosa(Context& context, Payload file) {
  if (reinterpret_cast<uintptr_t>(file.bytes.data()) % 8 != 0 || file.owner == nullptr) {
    file = pt2::AsPayload(pt2::CopyBuffer(file.bytes));
  }
  TARE_RETURN_IF_ERROR(tosa::CheckFile(file.bytes));
  const tosafile::TosaGraph& graph = *tosafile::GetTosaGraph(file.bytes.data());
  TARE_ASSIGN_OR_RETURN(const int minor, tosa::MinorVersion(graph));
  Program program;
  program.context = &context;
  program.schema_major = 1;
  program.schema_minor = minor;
  program.verifiers = {std::string(WidestTosaSpec(minor))};
  const std::unique_ptr<Inferrer> inferrer =
      MakeInferrer(context, {.facts = nullptr, .spec = program.verifiers[0], .use_memo = true});
  const size_t size = file.bytes.size();
  tosa::FileReader reader{context, program, file.owner, 4 * size, 64 * size + (1 << 20), 4 * size, *inferrer};
  TARE_RETURN_IF_ERROR(tosa::ReadRegions(reader, graph));
  return program;
}

absl::StatusOr<Program> ReadTosaFile(Context& context, const std::string& path) {
  TARE_ASSIGN_OR_RETURN(const pt2::Bytes bytes, pt2::MapFile(path));
  return ReadTosa(context, pt2::AsPayload(bytes));
}

}  // namespace tare
