// .tosa files as programs.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/program.h"

namespace tare {

// A TOSA flatbuffer of version 1.0 or 1.1 as a lowered program (README.md). Values keep their names and have
// the metadata the file states: nothing is inferred, `CheckProgram` compares. Constants stay in `file`, which
// the program keeps alive; only i4 and i48 are unpacked. Constants that operators hold as numbers (zero
// points, multipliers, …) are no inputs of the program. The program's verifiers hold the widest specification
// of the file's version. The file is not trusted: cost is linear in its size.
// Errors: InvalidArgument [tosa_read_c1] no well-formed TOSA flatbuffer, [tosa_read_c3] a limit, [tosa_read_c4]
// names, [tosa_read_c6] shapes, [tosa_read_c7] constants, [tosa_read_c9] operands, results or attribute of an
// operator, [tosa_read_c11] values of attributes, [tosa_read_c12] a value used before it is made or made twice,
// [tosa_read_c13] regions and blocks, [tosa_read_c14] multipliers and shifts; Unimplemented [tosa_read_c2]
// another version, [tosa_read_c5] an element type without a dtype, [tosa_read_c8] an operator or state that
// programs here do not have, [tosa_read_c10] an operand that must be a constant.
absl::StatusOr<Program> ReadTosa(Context& context, Payload file);
// The file is mapped. Errors: also NotFound.
absl::StatusOr<Program> ReadTosaFile(Context& context, const std::string& path);

// By what the first bytes say.
bool IsTosa(std::span<const std::byte> bytes);

// All profiles and extensions of TOSA 1.`minor`.
std::string_view WidestTosaSpec(int minor);

}  // namespace tare
