// What 64-bit integers and checks of its inputs an exported program has, and TOSA does not.
#pragma once

#include "ir/program.h"

namespace tare {

// Takes nodes out that only check what is known ahead: metadata and ranges. Cost: linear in nodes.
void DropAsserts(Program& program);

// User inputs of i64 that are only cast to i32 become i32: whoever runs the program casts before, values outside of
// the range being an error there. Cost: linear in nodes.
void MoveInputCasts(Program& program);

// Casts results of i64 that are proved to fit in i32 to that and back before they are returned: what makes them may
// then be narrowed. Cost: linear in nodes, when there is one.
void CastReturned(Program& program);

// Results of the user that are cast from i32 to i64 are returned as i32, casts to and fro are taken back. Cost: linear
// in nodes.
void MoveOutputCasts(Program& program);

}  // namespace tare
