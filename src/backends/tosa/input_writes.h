// Writes to inputs and buffers as results of the program, which is what torch makes of them before it delegates.
#pragma once

#include "ir/program.h"

namespace tare {

//   %y = add_(%x, 1);  return %y   =>   %y = add(%x, 1);  return %y -> input "x", %y
//
// An input or buffer of the main graph is left as it is when a view of it is taken before the last write, or when a
// write has no form with the same arguments and a result like the input. Linear in the nodes.
void ReturnInputWrites(Program& program);

}  // namespace tare
