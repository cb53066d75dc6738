// One graph of a program as a region of a .tosa file. Internal to the writer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "backends/tosa/file_ops.h"
#include "backends/tosa/file_types.h"
#include "backends/tosa/tosa_generated.h"
#include "backends/tosa/write.h"
#include "eval/requantize.h"
#include "flatbuffers/flatbuffers.h"
#include "ir/program.h"

namespace tare::tosa {

using Text = flatbuffers::Offset<flatbuffers::String>;
using Texts = std::vector<Text>;

// Elements of a constant, for which the file that is built has room; they are read when it is written.
struct HeldElements {
  size_t from_end = 0;  // where the elements begin, counted from the end of the file
  std::string_view elements;
};

// What all regions of one file share.
struct FileWriter {
  const Program& program;
  const Context& context;
  int minor = 0;
  int max_rank = 6;
  std::vector<std::string> region_names;                  // by graph
  absl::flat_hash_map<uint16_t, const FileOp*> file_ops;  // by op
  Op const_shape, cond, while_loop;
  flatbuffers::FlatBufferBuilder builder;
  absl::flat_hash_set<std::string> names;             // of tensors and shapes, in all regions
  absl::flat_hash_map<std::string, int> next_suffix;  // of names that were wanted twice
  std::vector<HeldElements> held;                     // from the end of the file to its beginning
  std::vector<Payload> mapped;                        // what constants are read from
  int reads = 0;                                      // of it

  FileWriter(const Program& program, int minor, int max_rank, size_t initial_bytes);
  std::string UniqueName(std::string_view wanted);
  // The finished file: what was built, and between it the elements that are held. Views of both.
  std::vector<std::string_view> Pieces() const;
};

// A value of the file that is being written.
struct FileValue {
  Text name;
  bool is_shape = false;
};

class RegionWriter {
 public:
  RegionWriter(FileWriter& file, GraphId id)
      : file_(file), context_(file.context), id_(id), graph_(file.program.graphs[id.index].graph) {}
  absl::StatusOr<flatbuffers::Offset<tosafile::Region>> Write();

 private:
  // --- region_writer.cc: order, names, inputs, outputs
  void FindLive();
  absl::Status WriteInputs();
  absl::Status WriteNode(NodeId node);
  absl::Status WriteOutputs();
  absl::Status WriteConstant(NodeId node, ConstId constant);
  absl::Status WriteConstShape(NodeId node);
  // Results of `node` as tensors or shapes, with the names of its elements where it has several.
  absl::StatusOr<Texts> DeclareResults(NodeId node, bool shapes);
  // `held`: `data` lives as long as the program, and need not be copied.
  absl::StatusOr<Text> DeclareTensor(std::string_view wanted, const TensorMeta& tensor, std::string_view data = {},
                                     bool held = false);
  void DeclareShape(Text name, std::span<const int64_t> values, bool constant);
  absl::StatusOr<Text> Identity(NodeId value);

  // --- region_operators.cc: operands and attributes of one operator
  absl::Status WriteOperator(NodeId node, const FileOp& row);
  absl::Status AddOperand(NodeId node, const OperandRow& operand, Texts& inputs);
  absl::StatusOr<Text> ShapeOperand(NodeId node, std::string_view arg, const AttrValue* value);
  absl::StatusOr<Text> ZeroBias(NodeId node);
  absl::StatusOr<int64_t> ZeroPoint(NodeId node, std::string_view arg) const;
  absl::StatusOr<Text> ZeroPointOperand(NodeId node, const OperandRow& operand);
  absl::StatusOr<uint32_t> WriteAttribute(NodeId node, const FileOp& row);
  absl::Status CheckOperands(NodeId node, const FileOp& row) const;
  absl::Status CheckWindow(NodeId node, const FileOp& row) const;
  absl::Status WriteControlFlow(NodeId node, uint8_t number);

  // --- region_rescale.cc
  struct RescaleParts {
    Text input;
    DType from = DType::kI32, to = DType::kI8;
    std::vector<FixedScale> scales;
    ScaleWidth width = ScaleWidth::k32;
    tosafile::RoundingMode rounding = tosafile::RoundingMode::SINGLE_ROUND;
    int64_t input_zp = 0, output_zp = 0;
    bool input_unsigned = false, output_unsigned = false;
  };
  absl::Status WriteRescale(NodeId node);
  absl::Status AppendRescale(NodeId node, const RescaleParts& parts, Text result);

  // --- both
  const Meta& MetaOf(NodeId node) const { return context_.metas.Get(graph_.meta(node)); }
  const TensorMeta& TensorOf(NodeId node) const { return MetaOf(node).tensor; }
  const AttrValue* Arg(NodeId node, std::string_view name) const;  // null: the schema's default
  bool Flag(NodeId node, std::string_view name) const;
  absl::StatusOr<NodeId> TensorArg(NodeId node, std::string_view name) const;
  absl::StatusOr<Text> NameOf(NodeId value, bool shape) const;
  // A constant that no node is: equal ones are written once, under the first name.
  absl::StatusOr<Text> Generated(std::string_view wanted, DType dtype, std::span<const int64_t> shape,
                                 std::string_view elements);
  void Append(uint8_t number, const Texts& inputs, const Texts& outputs, uint32_t attribute);
  uint32_t NoAttribute();

  FileWriter& file_;
  const Context& context_;
  GraphId id_;
  const Graph& graph_;
  std::vector<bool> live_;
  absl::flat_hash_map<NodeId, FileValue> values_;
  absl::flat_hash_map<std::pair<NodeId, int64_t>, NodeId> elements_;  // of tuples: the first getitem
  std::map<std::string, Text> generated_;                             // by dtype, shape and bytes
  std::map<std::vector<int64_t>, Text> generated_shapes_;
  std::vector<flatbuffers::Offset<tosafile::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tosafile::Shape>> shapes_;
  std::vector<flatbuffers::Offset<tosafile::Operator>> operators_;
  Texts inputs_, outputs_;
};

}  // namespace tare::tosa
