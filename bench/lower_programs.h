// Programs of any length for lowering, with bytes in their parameters.
#pragma once

#include "ir/context.h"
#include "ir/program.h"

namespace tare::bench {

// `layers` pre-norm encoder layers in float: 16 tokens of width 32, four heads, 26 ATen calls each.
Program MakeTransformer(Context& context, int layers);
// `layers` 1x1 convolutions with relu, quantised as PT2E does it: 6 calls each, weights of their own.
Program MakeQuantizedChain(Context& context, int layers);

}  // namespace tare::bench
