// State of writing one program, and the steps by theme. Internal to this folder.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "formats/pt2/json_writer.h"
#include "ir/context.h"
#include "ir/program.h"
#include "ir/status.h"

namespace tare::pt2 {

template <typename... Parts>
absl::Status CannotWrite(const Parts&... parts) {
  return UnimplementedError("write_c1", "cannot be written as .pt2: ", parts...);
}

// A constant of a pass, or a constant node: becomes an input of the main graph.
struct LiftedInput {
  std::string name;
  InputSpec spec;
  MetaId meta;
};

struct Writer {
  explicit Writer(const Program& p) : program(p), context(*p.context) {}
  Writer(const Writer&) = delete;

  const Program& program;
  Context& context;
  JsonWriter json;
  std::vector<LiftedInput> lifted;           // inputs that constant nodes of the main graph become
  std::vector<std::string> constant_names;   // by ConstId: name in its config, unique
  std::vector<std::string> constant_inputs;  // by ConstId: input of the main graph that holds it; "" = none
  std::map<std::string, SymbolRow> symbols;  // met while writing, by name
  int graph_depth = 0;
};

// --- values (write_values.cc)
void WriteDim(Writer& writer, Dim dim);
void WriteExpr(Writer& writer, ExprId expr);
absl::Status WriteTensorMeta(Writer& writer, const TensorMeta& meta, bool requires_grad, std::string_view name);
absl::Status WriteDevice(Writer& writer, Device device);
int SerializedLayout(Layout layout);

// --- graphs (write_graph.cc)
// Names of one graph's values; getitem nodes are folded into the results of their producer.
struct GraphWriter {
  Writer& writer;
  GraphId id;
  const ProgramGraph& owner;
  const Graph& graph;
  absl::flat_hash_map<NodeId, std::string> renamed;  // merged getitems and constants: the name to use
  // First getitem of (producer, element).
  absl::flat_hash_map<std::pair<NodeId, int64_t>, NodeId> elements;

  std::string_view NameOf(NodeId node) const;
  // Name of element `index` of `producer`; one is made for an element that nothing uses.
  std::string ElementName(NodeId producer, int64_t index) const;
  const Meta& MetaOf(NodeId node) const;
};
// Fills `renamed` and `elements`.
absl::Status PrepareNames(GraphWriter& graph);
absl::Status WriteGraph(Writer& writer, GraphId id);

// --- arguments (write_arguments.cc)
// `type` is the schema's, or null.
absl::Status WriteArgument(GraphWriter& graph, std::span<const NodeId> operands, const AttrValue& value,
                           const SchemaArg* type);
absl::Status WriteNodeArguments(GraphWriter& graph, NodeId node);

// --- signature (write_signature.cc)
void CollectLifted(Writer& writer);
absl::Status WriteSignature(Writer& writer);
// Main's inputs in the order they are written: an index of Program::inputs, or -1 - index of `lifted`.
std::vector<int> InputOrder(const Writer& writer);
absl::Status WriteInputArgument(Writer& writer, const ProgramGraph& graph, NodeId input, std::string_view name,
                                bool is_constant);

// --- the program (write_program.cc)
absl::StatusOr<std::string> WriteProgramJson(Writer& writer);

}  // namespace tare::pt2
