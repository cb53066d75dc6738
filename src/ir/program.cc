#include "ir/program.h"

#include "ir/context.h"

namespace tare {
namespace {

// What an argument of `output` returns.
MetaId ResultOf(Context& context, const Graph& graph, const AttrValue& value) {
  switch (value.kind) {
    case AttrKind::kOperand:
      return graph.meta(graph.operands(graph.last())[value.operand]);
    case AttrKind::kInt:
      return context.metas.Int(context.syms.Int(value.integer));
    case AttrKind::kFloat:
      return context.metas.Float(context.syms.Float(value.real));
    case AttrKind::kBool:
      return context.metas.Bool(context.syms.Bool(value.flag));
    case AttrKind::kString:
      return context.metas.String(value.text());
    default:
      return context.metas.None();
  }
}

}  // namespace

bool Program::IsFunctional() const {
  for (const ProgramGraph& body : graphs) {
    const std::vector<uint32_t> counts = body.graph.CountOps();
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != 0 && context->ops.Has(Op{static_cast<uint16_t>(i)}, kMutates)) return false;
    }
  }
  return true;
}

BodyMetas ProgramBodies::Find(GraphId id) const {
  const ProgramGraph& body = program_.graphs[id.index];
  const Graph& graph = body.graph;
  BodyMetas metas;
  metas.single_tensor_return = body.single_tensor_return;
  for (const NodeId input : graph.inputs()) metas.inputs.push_back(graph.meta(input));
  for (const NamedAttr& attr : program_.context->attrs.Get(graph.attrs(graph.last()))) {
    if (attr.value.kind == AttrKind::kInts) {
      for (const int64_t value : attr.value.ints()) {
        metas.results.push_back(ResultOf(*program_.context, graph, AttrValue::Int(value)));
      }
    } else if (attr.value.kind == AttrKind::kList) {
      for (const AttrValue& value : attr.value.items()) {
        metas.results.push_back(ResultOf(*program_.context, graph, value));
      }
    }
  }
  return metas;
}

}  // namespace tare
