// The edge of an integer program: what quantises its inputs and dequantises its outputs is not part of it.
#pragma once

#include "ir/program.h"

namespace tare {

// User inputs whose only users are quantize nodes with equal parameters become integers, and outputs that a
// dequantize makes become its input. The parameters are kept in the quant column: of the placeholder as its result,
// of the output node as its operands. Cost: linear in nodes.
absl::Status MoveBoundary(Program& program);

// Takes unused constants out of the program: placeholders, input specs and the constants themselves.
void DropUnusedConstants(Program& program);

}  // namespace tare
