// A whole exported program: graphs, constants, signature, symbols. The one type that importers
// make, passes change and emitters read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/graph.h"
#include "ir/inferrer.h"
#include "ir/stores.h"
#include "ir/sym.h"

namespace tare {

class Context;

// Bytes of a constant: a view into a mapped file or a buffer, kept alive by `owner`.
struct Payload {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;  // the whole storage
  bool missing = false;              // a weight-less export: no bytes although elements are there
  bool mapped = false;               // `bytes` lie in a file that is mapped for reading
};

// A parameter, buffer, lifted constant or a constant made by a pass. Constants that share a
// storage share the Payload's bytes (tied weights, views of one buffer).
struct Constant {
  std::string name;  // fully qualified name in the state dict or constants: "conv.weight"
  MetaId meta;       // tensor
  Payload payload;
  std::string file_name;  // entry of the archive it came from, "weight_0"; "" = made by a pass
  bool is_parameter = false;
  std::string opaque_class;  // custom objects: bytes are opaque
};

// Lets go of the memory that reading a mapped payload has filled; what is read again comes from the system's cache.
// For large constants that were copied. Other payloads and small ones stay as they are. Cost: one call of the system.
void ForgetPages(const Payload& payload);
// Of each mapped file what lies from the first of `constants` to the last: they may be small one by one.
std::vector<Payload> MappedSpans(std::span<const Constant> constants);

enum class InputKind : uint8_t { kUser, kParameter, kBuffer, kTensorConstant, kCustomObject, kToken, kConstantInput };
struct InputSpec {
  InputKind kind = InputKind::kUser;
  std::string target;      // parameter, buffer, constant name; constant input: its argument name
  bool persistent = true;  // buffers
  ConstId constant;        // parameters, buffers, constants
};
enum class OutputKind : uint8_t {
  kUser,
  kLoss,
  kBufferMutation,
  kParameterMutation,
  kUserInputMutation,
  kGradientToParameter,
  kGradientToUserInput,
  kToken,
};
struct OutputSpec {
  OutputKind kind = OutputKind::kUser;
  std::string target;
};

struct SymbolRange {
  int64_t min = INT64_MIN, max = INT64_MAX;
};

// One graph and what only programs need of it. Bodies of cond, while_loop, map, scan have one
// owner node; sharing a body is not allowed.
struct ProgramGraph {
  std::string name;  // "main", "true_graph_0"
  Graph graph;
  GraphId owner_graph;  // no value for main
  NodeId owner;
  bool single_tensor_return = false;
  absl::flat_hash_set<NodeId> requires_grad;
};

struct Program {
  Context* context = nullptr;
  std::string name;                  // model name in the archive: "model"
  std::vector<ProgramGraph> graphs;  // [0] is main
  std::vector<Constant> constants;
  std::vector<InputSpec> inputs;    // pairs with main's placeholders
  std::vector<OutputSpec> outputs;  // pairs with the arguments of main's output
  // Ranges as the file states them, keyed by the printed expression ("s0", "2*s0 + 1").
  std::map<std::string, SymbolRange> ranges;
  std::shared_ptr<const Facts> facts;  // axioms of this program; may be null
  std::vector<std::string> guards_code;
  std::vector<std::string> verifiers;
  std::string torch_version;
  int schema_major = 0, schema_minor = 0;
  std::map<std::string, int64_t> opset_version;
  // Parts kept as the file wrote them, for the way back: JSON text by field name
  // ("module_call_graph", "metadata", "treespec_namedtuple_fields", unknown fields).
  std::map<std::string, std::string> raw_json;
  // Other entries of the archive (extra files, sample inputs), by name below the root.
  std::map<std::string, Payload> extra_files;

  const Graph& main() const { return graphs[0].graph; }
  Graph& main() { return graphs[0].graph; }
  // No node mutates storage in any graph.
  bool IsFunctional() const;
};

// The constants that rules may read: parameters, buffers and constants of a program in which nothing is
// written, but for those its outputs replace. By the placeholders of main.
absl::flat_hash_map<NodeId, ConstId> ReadableConstants(const Program& program);

// The bodies and constants of a program, as they are when asked.
class ProgramBodies final : public Bodies {
 public:
  explicit ProgramBodies(const Program& program) : program_(program) {}
  BodyMetas Find(GraphId id) const override;
  std::optional<DType> AutocastOf(GraphId id) const override;
  bool HasAutocast() const override;
  const Constant* ConstantOf(ConstId id) const override;

 private:
  const Program& program_;
};

}  // namespace tare
