// Where the symbols of a program's extents come from.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "ir/program.h"

namespace tare {

// Asked of programs whose extents are static, it costs a look at each extent; the first symbol costs a walk over the
// main graph.
class SymbolOrigins {
 public:
  explicit SymbolOrigins(const Program& program) : program_(program) {}
  // Of the first extent of the node's result or operands that is not static: "s0 comes from input %x", or "u0 comes
  // from %nonzero"; "" when all are static.
  std::string Of(NodeId node);

 private:
  void Walk();

  const Program& program_;
  bool walked_ = false;
  absl::flat_hash_map<ExprId, NodeId> first_;  // whose metadata names the symbol first
};

}  // namespace tare
