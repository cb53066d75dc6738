// One block of a .tosa file as a graph of a program. Internal to the reader.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/tosa/file_ops.h"
#include "backends/tosa/file_types.h"
#include "backends/tosa/tosa_generated.h"
#include "ir/context.h"
#include "ir/graph.h"
#include "ir/inferrer.h"
#include "ir/program.h"
#include "ir/status.h"

namespace tare::tosa {

// What all regions of one file share.
struct FileReader {
  Context& context;
  Program& program;
  std::shared_ptr<const void> owner;  // of the file's bytes
  // What may still be looked at, since tables of a file may share and overlap: bytes of names, elements that
  // become numbers of nodes, elements that are unpacked.
  size_t name_bytes = 0, numbers = 0, unpacked = 0;
  Inferrer& inferrer;  // for shapes that operators make: the file states only their length

  // Bodies that nodes named, in the order of their graphs: read one after the other.
  struct Body {
    std::string region;
    GraphId owner_graph;
    NodeId owner;
  };
  std::deque<Body> bodies = {};
  uint32_t next_graph = 1;

  // Errors: [tosa_read_c3] when more is asked for than an honest file holds.
  static absl::Status Charge(size_t& budget, size_t amount) {
    if (amount > budget) return InvalidError("tosa_read_c3", "tables of the file share too much");
    budget -= amount;
    return absl::OkStatus();
  }
};

class RegionReader {
 public:
  RegionReader(FileReader& file, GraphId id, const tosafile::BasicBlock& block)
      : file_(file), context_(file.context), id_(id), block_(block), edit_(graph()) {}
  absl::Status Read();

 private:
  // A name of the block: a tensor or a shape, and the node that makes it once there is one.
  struct Value {
    const tosafile::Tensor* tensor = nullptr;
    const tosafile::Shape* shape = nullptr;
    const tosafile::Operator* maker = nullptr;
    NodeId node;
    bool needed = false;  // as a tensor, not only as numbers of an operator
  };
  using Names = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

  // --- region_reader.cc: names, inputs, constants, outputs
  absl::Status CollectValues();
  absl::Status FindMakersAndNeeds();
  absl::Status ReadConstants();
  absl::Status ReadInputs();
  absl::Status ReadOutputs();
  absl::StatusOr<Value*> Find(const flatbuffers::String* name);
  absl::StatusOr<MetaId> MetaOf(const Value& value);
  absl::StatusOr<MetaId> ShapeMeta(const tosafile::Shape& shape, Op op, std::span<const NamedAttr> args,
                                   std::span<const NodeId> operands);
  absl::StatusOr<ConstId> ReadConstant(std::string_view name, const Value& value);
  // Elements of a constant in memory's form. Errors: [tosa_read_c7].
  absl::StatusOr<std::span<const std::byte>> FileElements(const Value& value, size_t& count);
  absl::StatusOr<NodeId> Append(Op op, std::span<const NamedAttr> args, std::span<const NodeId> operands, MetaId meta,
                                QuantId quant, std::string_view name);
  absl::Status Make(Value& value, NodeId node);

  // --- region_reader_operators.cc
  struct Draft {  // the node that an operator becomes
    const tosafile::Operator& op;
    const FileOp& row;
    std::vector<NamedAttr> args = {};
    std::vector<NodeId> operands = {};
    std::vector<std::pair<std::string_view, int64_t>> zero_points = {};  // by argument; "" is the result
    std::deque<std::vector<AttrValue>> lists = {};                       // that `args` point into
    std::deque<std::vector<int64_t>> ints = {};
    DType input = DType::kF32, result = DType::kF32;
  };
  absl::Status ReadOperator(const tosafile::Operator& op);
  absl::Status ReadNode(const tosafile::Operator& op, const FileOp& row);
  absl::Status ReadOperand(Draft& draft, const OperandRow& operand, size_t index);
  absl::Status ReadNumber(Draft& draft, const OperandRow& operand, const flatbuffers::String* name);
  absl::Status ReadScales(Draft& draft);
  absl::Status ReadField(Draft& draft, const FieldRow& field, size_t index);
  absl::StatusOr<QuantId> ZeroPoints(const Draft& draft);
  absl::StatusOr<AttrValue> OperandOf(Draft& draft, const flatbuffers::String* name, bool shape);
  absl::Status ReadConstShape(const tosafile::Operator& op);
  absl::Status ReadControlFlow(const tosafile::Operator& op);
  AttrValue NameBody(const flatbuffers::String* region);
  // One node, or a tuple and the getitem of each result.
  absl::StatusOr<NodeId> AppendResults(const tosafile::Operator& op, Op node_op, std::span<const NamedAttr> args,
                                       std::span<const NodeId> operands, QuantId quant, bool tuple);
  // Elements of a constant that an operator holds as numbers. Errors: [tosa_read_c10].
  struct Numbers {
    DType dtype = DType::kI8;
    size_t count = 0;
    std::vector<std::byte> bytes;
    std::span<const std::byte> At(size_t i) const {
      return std::span(bytes).subspan(i * static_cast<size_t>(BytesOf(dtype)));
    }
  };
  absl::StatusOr<Numbers> NumbersOf(const flatbuffers::String* name, size_t max_count);
  absl::StatusOr<DType> TypeOf(const flatbuffers::String* name);

  Graph& graph() { return file_.program.graphs[id_.index].graph; }

  FileReader& file_;
  Context& context_;
  GraphId id_;
  const tosafile::BasicBlock& block_;
  GraphEdit edit_;
  absl::flat_hash_map<std::string_view, Value> values_;
  absl::flat_hash_map<const flatbuffers::String*, Value*> found_;  // names met so far, by where they are
  std::vector<NodeId> inputs_;
};

// `status` with words before its message; payloads stay.
absl::Status Within(const absl::Status& status, std::string_view where);
// Names of the file in messages: short and printable.
std::string Shown(const flatbuffers::String* name);

}  // namespace tare::tosa
