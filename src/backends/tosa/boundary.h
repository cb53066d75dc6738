// The edge of an integer program: what quantises its inputs and dequantises its outputs is not part of it.
#pragma once

#include "ir/program.h"

namespace tare {

// User inputs whose only users are quantize nodes with equal parameters become integers, and outputs that a
// dequantize makes become its input. The parameters are kept in the quant column: of the placeholder as its result,
// of the output node as its operands. Cost: linear in nodes.
absl::Status MoveBoundary(Program& program);

// Takes out of the program what nothing uses: constants, and inputs of the user that are no tensors, whose value the
// exporter has put into the graph. Constants keep their numbers where nodes name them by number.
void DropUnusedInputs(Program& program);

}  // namespace tare
