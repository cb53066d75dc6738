// Programs in files of any format: what formats/program_file.h knows, and .tosa.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/program.h"

namespace tare {

// A file that says it is a TOSA flatbuffer, or is called .tosa, is read as one. Errors: those of
// ReadProgramFile and ReadTosa.
absl::StatusOr<Program> ReadAnyProgramFile(Context& context, std::string_view path);

// Ending .tosa: WriteTosa; others as WriteProgramFile. A failure leaves no file behind and an old one as it was.
absl::Status WriteAnyProgramFile(const Program& program, std::string_view path);

// The specification to derive metadata under: what the program states, else the widest of 1.0 when it holds
// `tosa.*` nodes, else "".
std::string SpecificationFor(const Program& program);

}  // namespace tare
