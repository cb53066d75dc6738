// Arguments for a copy of a node.
#pragma once

#include <vector>

#include "ir/context.h"
#include "passes/rewriter.h"

namespace tare {

// Those of `node`, `to` for each that is the tensor `from`. Lists of tensors are not looked into.
inline std::vector<ArgInit> ArgsOn(Rewriter& rw, Node node, Node from, Node to) {
  std::vector<ArgInit> args;
  for (const NamedAttr& attr : rw.context().attrs.Get(rw.graph().attrs(node.id()))) {
    if (attr.value.kind != AttrKind::kOperand) {
      args.emplace_back(attr.name, attr.value);
    } else {
      args.emplace_back(attr.name, node.arg(attr.name) == from ? to : node.arg(attr.name));
    }
  }
  return args;
}

}  // namespace tare
