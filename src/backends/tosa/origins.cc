#include "backends/tosa/origins.h"

#include <charconv>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace tare {
namespace {

constexpr std::string_view kMark = "lowering of node ";

}  // namespace

Origins::Origins(Program& program) {
  Graph& graph = program.main();
  marks_.resize(graph.id_bound());
  Lineage& lineage = graph.mutable_lineage();
  for (const NodeId node : graph.nodes()) {
    marks_[node.index] = absl::StrCat(absl::string_view(kMark.data(), kMark.size()), node.index);
    GraphEdit(graph).SetLoc(node, lineage.AddPass(graph.loc(node), marks_[node.index]));
  }
}

NodeId Origins::Of(const Program& program, NodeId node) const {
  const Graph& graph = program.main();
  for (LocId loc = graph.loc(node); loc.has_value(); loc = graph.lineage().Parent(loc)) {
    const std::string_view pass = graph.lineage().PassOf(loc);
    if (!pass.starts_with(kMark)) continue;
    NodeId origin;
    std::from_chars(pass.data() + kMark.size(), pass.data() + pass.size(), origin.index);
    return origin;
  }
  return NodeId{};
}

}  // namespace tare
