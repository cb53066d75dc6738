// State of reading one program, and the steps by theme. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "formats/pt2/archive.h"
#include "formats/pt2/json.h"
#include "ir/context.h"
#include "ir/program.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"

namespace tare::pt2 {

// Symbols of one file: ranges and hints come first, symbols are made when an expression names them.
class FileSymbols final : public SymbolScope {
 public:
  FileSymbols(Context& context, const std::map<std::string, SymbolRange>& ranges)
      : context_(context), ranges_(ranges) {}
  // Collects the hints of bare symbols from the whole document.
  void CollectHints(simdjson::dom::element root);
  absl::StatusOr<ExprId> Resolve(std::string_view name) override;
  // Parses once per distinct text.
  absl::StatusOr<ExprId> Parse(std::string_view text);

 private:
  Context& context_;
  const std::map<std::string, SymbolRange>& ranges_;
  absl::flat_hash_map<std::string_view, int64_t> hints_;   // keys live in the document,
  absl::flat_hash_map<std::string_view, ExprId> symbols_;  // in the string pool,
  absl::flat_hash_map<std::string_view, ExprId> parsed_;   // in the document
};

struct Reader {
  explicit Reader(Context& c) : context(c), symbols(c, program.ranges) { program.context = &c; }
  Reader(const Reader&) = delete;

  Context& context;
  Program program;
  FileSymbols symbols;
  absl::flat_hash_map<std::string_view, Op> ops;  // by target
  int graph_depth = 0;
  std::vector<std::string_view> main_input_names;  // from the signature; "" unless a constant input
};

// --- values (read_values.cc)
absl::StatusOr<Dim> ReadDim(Reader& reader, const Json& sym_int);
absl::StatusOr<MetaId> ReadSymIntValue(Reader& reader, const Json& sym_int);
absl::StatusOr<MetaId> ReadSymFloatValue(Reader& reader, const Json& sym_float);
absl::StatusOr<MetaId> ReadSymBoolValue(Reader& reader, const Json& sym_bool);
struct TensorValue {
  MetaId meta;
  bool requires_grad = false;
};
absl::StatusOr<TensorValue> ReadTensorMeta(Reader& reader, const Json& json);
absl::StatusOr<Device> ReadDevice(const Json& json);
absl::StatusOr<DType> ReadDType(const Json& json);
absl::StatusOr<Layout> ReadLayout(const Json& json);
absl::Status ReadRanges(Reader& reader, const Json& json);

// --- arguments (read_arguments.cc)
struct GraphReader;
// Arguments of one node while they are read; lists live in `arena`.
struct ArgumentReader {
  GraphReader& graph;
  llvm::SmallVector<NodeId, 8> operands;
  llvm::SmallVector<NamedAttr, 8> attrs;
  llvm::SmallVector<GraphId, 2> bodies;
  // Very long lists of outputs name one value many times: one operand each then.
  bool merge_operands = false;
  absl::flat_hash_map<NodeId, uint32_t> merged;
};
absl::StatusOr<AttrValue> ReadArgument(ArgumentReader& arguments, const Json& json, int depth);

// --- graphs (read_graph.cc)
struct GraphValue {
  MetaId meta;
  NodeId node;      // set when defined
  NodeId producer;  // of an unused element: its node, and which element
  int32_t element = -1;
  bool requires_grad = false;
};
struct GraphReader {
  GraphReader(Reader& r, GraphId i) : reader(r), id(i), edit(graph) {}
  GraphReader(const GraphReader&) = delete;

  Reader& reader;
  GraphId id;
  Graph graph;
  GraphEdit edit;
  absl::flat_hash_map<std::string_view, GraphValue> values;
  absl::flat_hash_set<NodeId> requires_grad;
  llvm::BumpPtrAllocator arena;
};
// Reads a graph and the bodies in it; `name` is its name.
absl::StatusOr<GraphId> ReadGraph(Reader& reader, const Json& json, std::string_view name);
// The node that defines `name`; makes the getitem of an element that nothing used so far.
absl::StatusOr<NodeId> Lookup(GraphReader& graph, const Json& where, std::string_view name);

// --- signature (read_signature.cc)
absl::Status ReadInputNames(Reader& reader, const Json& signature);  // before the graph
absl::Status ReadSignature(Reader& reader, const Json& signature, const Json& graph);
absl::Status CheckCallGraph(const Json& module_call_graph);

// --- guards (read_guards.cc), after the signature
void ReadGuards(Reader& reader);

// --- the program (read_program.cc)
absl::Status ReadProgramJson(Reader& reader, std::string_view text, size_t slack);

// --- weights (read_weights.cc)
absl::Status ReadConstants(Reader& reader, Archive& archive, const std::string& model, CrcCheck check);
// Without an archive: every parameter, buffer and constant has no bytes.
absl::Status MakeAbsentConstants(Reader& reader);

}  // namespace tare::pt2
