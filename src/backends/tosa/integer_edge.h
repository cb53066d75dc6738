// What 64-bit integers and checks of its inputs an exported program has, and TOSA does not.
#pragma once

#include "ir/program.h"

namespace tare {

// Takes nodes out that only check what is known ahead: metadata and ranges. Cost: linear in nodes.
void DropAsserts(Program& program);

// User inputs of i64 that are only cast to i32 become i32: whoever runs the program casts before, values outside of
// the range being an error there. Cost: linear in nodes.
void MoveInputCasts(Program& program);

}  // namespace tare
