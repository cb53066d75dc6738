#include "backends/tosa/file_check.h"

#include "backends/tosa/tosa_generated.h"
#include "ir/status.h"

namespace tare::tosa {
namespace {

constexpr size_t kMaxFileBytes = (size_t{1} << 31) - 1;
constexpr flatbuffers::uoffset_t kMaxDepth = 16;

using TextVector = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

// Walks regions, blocks and operators and counts what the verifier will look at: an honest file has at most a
// name for each four bytes.
class WorkBound {
 public:
  WorkBound(const uint8_t* bytes, size_t size)
      : verifier_(bytes, size, kMaxDepth, static_cast<flatbuffers::uoffset_t>(size)), left_(size) {}

  bool Root(const uint8_t* bytes, size_t size) {
    if (size < 12) return false;
    const auto offset = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(bytes);
    if (offset < 8 || offset > size - 4 || offset % 4 != 0) return false;
    const auto& graph = *reinterpret_cast<const tosafile::TosaGraph*>(bytes + offset);
    return Table(graph, [&] {
      return Tables(
          graph, tosafile::TosaGraph::VT_REGIONS, [&] { return graph.regions(); },
          [&](const tosafile::Region& region) { return Region(region); });
    });
  }
  bool exhausted() const { return exhausted_; }

 private:
  bool Region(const tosafile::Region& region) {
    return Tables(
        region, tosafile::Region::VT_BLOCKS, [&] { return region.blocks(); },
        [&](const tosafile::BasicBlock& block) { return Block(block); });
  }

  bool Block(const tosafile::BasicBlock& block) {
    using B = tosafile::BasicBlock;
    return Texts(block, B::VT_INPUTS, [&] { return block.inputs(); }) &&
           Texts(block, B::VT_OUTPUTS, [&] { return block.outputs(); }) &&
           Tables(
               block, B::VT_OPERATORS, [&] { return block.operators(); },
               [&](const tosafile::Operator& op) {
                 return Texts(op, tosafile::Operator::VT_INPUTS, [&] { return op.inputs(); }) &&
                        Texts(op, tosafile::Operator::VT_OUTPUTS, [&] { return op.outputs(); });
               }) &&
           Tables(
               block, B::VT_TENSORS, [&] { return block.tensors(); }, [](const tosafile::Tensor&) { return true; }) &&
           Tables(
               block, B::VT_SHAPES, [&] { return block.shapes(); }, [](const tosafile::Shape&) { return true; });
  }

  template <typename T>
  static const flatbuffers::Table& AsTable(const T& table) {
    return *reinterpret_cast<const flatbuffers::Table*>(&table);
  }

  template <typename T, typename Inside>
  bool Table(const T& table, Inside inside) {
    if (!AsTable(table).VerifyTableStart(verifier_)) return false;
    const bool good = inside();
    verifier_.EndTable();
    return good;
  }

  template <typename T, typename Get, typename Each>
  bool Tables(const T& table, flatbuffers::voffset_t field, Get get, Each each) {
    if (!AsTable(table).VerifyOffset(verifier_, field)) return false;
    const auto* vector = get();
    if (vector == nullptr) return true;
    if (!verifier_.VerifyVector(vector) || !Charge(vector->size())) return false;
    for (flatbuffers::uoffset_t i = 0; i < vector->size(); ++i) {
      const auto* item = vector->Get(i);
      // As the verifier of the format does it: the table's start is checked before it is read.
      if (!Table(*item, [&] { return each(*item); })) return false;
    }
    return true;
  }

  template <typename T, typename Get>
  bool Texts(const T& table, flatbuffers::voffset_t field, Get get) {
    if (!AsTable(table).VerifyOffset(verifier_, field)) return false;
    const TextVector* vector = get();
    return vector == nullptr || (verifier_.VerifyVector(vector) && Charge(vector->size()));
  }

  bool Charge(size_t count) {
    exhausted_ |= count > left_;
    if (exhausted_) return false;
    left_ -= count;
    return true;
  }

  flatbuffers::Verifier verifier_;
  size_t left_;
  bool exhausted_ = false;
};

}  // namespace

absl::Status CheckFile(std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxFileBytes) return InvalidError("tosa_read_c3", "the file has 2 GiB or more");
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  TARE_CHECK(reinterpret_cast<uintptr_t>(data) % 8 == 0);
  const absl::Status damaged =
      InvalidError("tosa_read_c1", "no TOSA flatbuffer: its identifier is missing or its offsets are damaged");
  if (bytes.size() < 12 || !tosafile::TosaGraphBufferHasIdentifier(data)) return damaged;
  WorkBound bound(data, bytes.size());
  if (!bound.Root(data, bytes.size())) {
    return bound.exhausted() ? InvalidError("tosa_read_c3", "tables of the file share vectors that are too long")
                             : damaged;
  }
  flatbuffers::Verifier verifier(data, bytes.size(), kMaxDepth, static_cast<flatbuffers::uoffset_t>(bytes.size()));
  return tosafile::VerifyTosaGraphBuffer(verifier) ? absl::OkStatus() : damaged;
}

}  // namespace tare::tosa
