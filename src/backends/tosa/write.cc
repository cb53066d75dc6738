#include "backends/tosa/write.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/tosa/region_writer.h"
#include "formats/program_file.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "meta/tosa_spec.h"

namespace tare::tosa {
namespace {

constexpr size_t kPutBytes = 1 << 18;                                       // written at once
constexpr int64_t kMaxFileBytes = (int64_t{1} << 31) - (int64_t{1} << 20);  // offsets have 31 bits

// Main is called `main`, bodies have the names of their graphs, made unique.
std::vector<std::string> RegionNames(const Program& program) {
  std::vector<std::string> names = {"main"};
  absl::flat_hash_set<std::string> taken = {"main"};
  absl::flat_hash_map<std::string, int> next_suffix;
  for (size_t i = 1; i < program.graphs.size(); ++i) {
    const std::string wanted = program.graphs[i].name.empty() ? "body" : program.graphs[i].name;
    std::string name = wanted;
    while (!taken.insert(name).second) name = absl::StrCat(wanted, "_", ++next_suffix[wanted]);
    names.push_back(std::move(name));
  }
  return names;
}

// Bytes the file will have, from above; constants are nearly all of it. `known` leaves out elements that
// constants state but do not have.
struct Estimate {
  int64_t bytes = 4096, known = 4096;
};

void AddConstant(const Program& program, int64_t index, Estimate& estimate) {
  if (index < 0 || index >= static_cast<int64_t>(program.constants.size()) || estimate.bytes > kMaxFileBytes) return;
  const Constant& constant = program.constants[static_cast<size_t>(index)];
  if (!constant.meta.has_value()) return;
  const Meta& meta = program.context->metas.Get(constant.meta);
  if (meta.kind != MetaKind::kTensor) return;
  int64_t elements = 1;
  for (const Dim dim : meta.tensor.shape) {
    if (!dim.is_static()) return;  // refused where it is written
    if (__builtin_mul_overflow(elements, dim.value(), &elements)) elements = kMaxFileBytes + 1;
    elements = std::min(elements, kMaxFileBytes + 1);
  }
  const int64_t bytes = elements * BytesOf(meta.tensor.dtype);
  estimate.bytes += bytes;
  estimate.known += std::min(bytes, static_cast<int64_t>(constant.payload.bytes.size()));
}

Estimate EstimateBytes(const Program& program) {
  constexpr int64_t kPerNode = 400, kPerOperand = 16, kNamesPerNode = 8, kPerNumber = 8;
  Estimate estimate;
  for (const ProgramGraph& owner : program.graphs) {
    for (const NodeId node : owner.graph.nodes()) {
      int64_t bytes = kPerNode + kPerOperand * static_cast<int64_t>(owner.graph.operands(node).size()) +
                      kNamesPerNode * static_cast<int64_t>(owner.graph.NameOf(node).size());
      for (const NamedAttr& attr : program.context->attrs.Get(owner.graph.attrs(node))) {
        if (attr.value.kind == AttrKind::kInts) bytes += kPerNumber * static_cast<int64_t>(attr.value.ints().size());
        if (attr.value.kind == AttrKind::kList) bytes += kPerNumber * static_cast<int64_t>(attr.value.items().size());
        if (owner.graph.op(node) == op::constant && attr.value.kind == AttrKind::kInt) {
          AddConstant(program, attr.value.integer, estimate);
        }
      }
      estimate.bytes += bytes;
      estimate.known += bytes;
    }
  }
  for (const InputSpec& spec : program.inputs) {
    if (spec.constant.has_value()) AddConstant(program, spec.constant.index, estimate);
  }
  return estimate;
}

absl::Status CheckSignature(const Program& program) {
  for (const OutputSpec& spec : program.outputs) {
    if (spec.kind == OutputKind::kUser || spec.kind == OutputKind::kLoss) continue;
    return UnimplementedError("tosa_write_c13", "an output changes ", spec.target.empty() ? "an input" : spec.target,
                              "; a .tosa file has no state");
  }
  for (const InputSpec& spec : program.inputs) {
    if (spec.kind == InputKind::kUser || spec.constant.has_value()) continue;
    return InvalidError("tosa_write_c8", "input ", spec.target, " is neither a tensor of the user nor a constant");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<FileWriter>> BuildFile(const Program& program, const TosaWriteOptions& options) {
  TARE_RETURN_IF_ERROR(Verify(program));
  std::string spec = options.spec.empty() ? TosaSpecOf(program) : options.spec;
  if (spec.empty()) spec = "TOSA-1.0+INT+FP";
  TARE_RETURN_IF_ERROR(CheckTosaSpec(spec));
  TARE_RETURN_IF_ERROR(CheckSignature(program));
  const Estimate estimate = EstimateBytes(program);
  if (estimate.bytes > kMaxFileBytes) {
    return UnimplementedError("tosa_write_c12", "the file would have more than 2 GiB, which the format cannot address");
  }
  const int minor = TosaSpecHas(spec, "1.1") ? 1 : 0;
  auto file = std::make_unique<FileWriter>(program, minor, options.max_rank, static_cast<size_t>(estimate.known));
  std::vector<flatbuffers::Offset<tosafile::Region>> regions;
  for (uint32_t i = 0; i < program.graphs.size(); ++i) {
    RegionWriter region(*file, GraphId{i});
    TARE_ASSIGN_OR_RETURN(regions.emplace_back(), region.Write());
  }
  flatbuffers::FlatBufferBuilder& builder = file->builder;
  const auto version = tosafile::CreateVersion(builder, 1, minor, 0, minor > 0);
  const auto all_regions = builder.CreateVector(regions);
  tosafile::FinishTosaGraphBuffer(builder, tosafile::CreateTosaGraph(builder, version, all_regions));
  return file;
}

}  // namespace

FileWriter::FileWriter(const Program& program, int minor, int max_rank, size_t initial_bytes)
    : program(program),
      context(*program.context),
      minor(minor),
      max_rank(max_rank),
      region_names(RegionNames(program)),
      builder(initial_bytes),
      mapped(MappedSpans(program.constants)) {
  for (const FileOp& row : FileOps()) {
    const Op op = context.ops.Find(Cat("tosa.", row.name, ".default"));
    if (op.has_value()) file_ops.emplace(op.index, &row);
  }
  const_shape = context.ops.Find("tosa.CONST_SHAPE.default");
  cond = context.ops.Find("higher_order.cond");
  while_loop = context.ops.Find("higher_order.while_loop");
}

std::string FileWriter::UniqueName(std::string_view wanted) {
  const std::string base(wanted.empty() ? "value" : wanted);
  if (names.insert(base).second) return base;
  int& suffix = next_suffix[base];
  std::string name;
  do name = Cat(base, "_", ++suffix);
  while (!names.insert(name).second);
  return name;
}

std::vector<std::string_view> FileWriter::Pieces() const {
  const std::string_view built(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  std::vector<std::string_view> pieces;
  size_t done = 0;
  for (size_t i = held.size(); i-- > 0;) {
    const size_t at = built.size() - held[i].from_end;
    pieces.push_back(built.substr(done, at - done));
    pieces.push_back(held[i].elements);
    done = at + held[i].elements.size();
  }
  pieces.push_back(built.substr(done));
  return pieces;
}

}  // namespace tare::tosa

namespace tare {

std::string TosaSpecOf(const Program& program) {
  for (const std::string& verifier : program.verifiers) {
    if (verifier.starts_with("TOSA-")) return verifier;
  }
  return "";
}

absl::StatusOr<std::string> WriteTosa(const Program& program, const TosaWriteOptions& options) {
  TARE_ASSIGN_OR_RETURN(const std::unique_ptr<tosa::FileWriter> file, tosa::BuildFile(program, options));
  std::string bytes;
  bytes.reserve(file->builder.GetSize());
  for (const std::string_view piece : file->Pieces()) bytes.append(piece);
  return bytes;
}

absl::Status WriteTosaFile(const Program& program, std::string_view path, const TosaWriteOptions& options) {
  TARE_ASSIGN_OR_RETURN(const std::unique_ptr<tosa::FileWriter> file, tosa::BuildFile(program, options));
  return WriteFileWith(path, [&](PutPiece put) -> absl::Status {
    for (std::string_view piece : file->Pieces()) {
      for (; piece.size() > tosa::kPutBytes; piece.remove_prefix(tosa::kPutBytes)) {
        TARE_RETURN_IF_ERROR(put(piece.substr(0, tosa::kPutBytes)));
        for (const Payload& mapped : file->mapped) ForgetPages(mapped);
      }
      TARE_RETURN_IF_ERROR(put(piece));
    }
    return absl::OkStatus();
  });
}

}  // namespace tare
