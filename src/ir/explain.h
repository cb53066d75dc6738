// Says where an error is: node, graph, source line, operands.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "ir/program.h"

namespace tare {

struct ErrorPlace {
  GraphId graph;
  NodeId node;
  Op op;                  // the op that was asked about; no value = the node's
  std::string_view pass;  // in progress; "" = none
};

// `status` with the op before its message and the place below it; check id and payloads stay. A status
// that names a node already, and a node that is not there any more, give `status`.
//
//   aten.mm.default: self has 3 columns, mat2 has 4 rows [mm_c2]
//     at %mm, model.py:41 in Encoder.forward
//     self = %x : f32[2,3]
absl::Status AtNode(const Program& program, const ErrorPlace& place, const absl::Status& status);

}  // namespace tare
