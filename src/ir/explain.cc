#include "ir/explain.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

constexpr int kMaxOperandsShown = 4;

void AppendOperands(const Program& program, const Graph& graph, const NodeDef& def, std::string& text) {
  const Context& context = *program.context;
  const Schema* schema = context.ops.schema(def.op);
  int shown = 0;
  for (const NamedAttr& attr : context.attrs.Get(def.attrs)) {
    if (attr.value.kind != AttrKind::kOperand || schema == nullptr || shown == kMaxOperandsShown) continue;
    const NodeId operand = def.operands[attr.value.operand];
    absl::StrAppend(&text, "\n  ", TextPiece(attr.name), " = %", TextPiece(graph.NameOf(operand)), " : ",
                    PrintMeta(context, graph.meta(operand)));
    ++shown;
  }
}

}  // namespace

absl::Status AtNode(const Program& program, const ErrorPlace& place, const absl::Status& status) {
  const ProgramGraph& owner = program.graphs[place.graph.index];
  const Graph& graph = owner.graph;
  if (NodeOf(status).has_value() || !place.node.has_value() || !graph.Contains(place.node)) return status;
  const NodeDef def = graph.Def(place.node);
  const std::string_view op_name = program.context->ops.Name(place.op.has_value() ? place.op : def.op);
  std::string text(status.message());
  if (!absl::StartsWith(text, TextPiece(op_name))) text = absl::StrCat(TextPiece(op_name), ": ", text);
  absl::StrAppend(&text, "\n  at %", TextPiece(graph.NameOf(place.node)));
  if (place.graph.index != 0) absl::StrAppend(&text, " in ", owner.name);
  const std::string source = graph.lineage().Describe(def.loc);
  if (!source.empty()) absl::StrAppend(&text, ", ", source);
  if (!place.pass.empty()) absl::StrAppend(&text, "\n  in pass ", TextPiece(place.pass));
  AppendOperands(program, graph, def, text);
  absl::Status explained(status.code(), text);
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { explained.SetPayload(url, payload); });
  return WithNode(std::move(explained), place.node);
}

}  // namespace tare
