// Scales of RESCALE nodes.
#pragma once

#include <vector>

#include "passes/node.h"

namespace tare {

// One, or one for each channel; empty when they are not constant.
inline std::vector<double> ScalesOf(Node rescale) {
  const AttrValue& list = rescale.attr("scale");
  std::vector<double> scales;
  if (list.kind == AttrKind::kList)
    for (const AttrValue& item : list.items()) scales.push_back(item.kind == AttrKind::kFloat ? item.real : 0);
  if (list.kind == AttrKind::kInts)
    for (const int64_t item : list.ints()) scales.push_back(static_cast<double>(item));
  return scales;
}

// Whether an elementwise node is a RESCALE with other than one scale: then it is bound to the last axis.
inline bool IsPerChannel(Node node) {
  const AttrValue& scale = node.attr("scale");
  if (scale.kind == AttrKind::kList) return scale.items().size() != 1;
  return scale.kind == AttrKind::kInts && scale.ints().size() != 1;
}

}  // namespace tare
