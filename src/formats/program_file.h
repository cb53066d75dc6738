// Programs in files, whatever the format: .pt2 archives, the text form (.tare).
#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/program.h"

namespace tare {

// Formats are told apart by content: a file that is no ZIP archive and is not called .pt2 is text.
// Errors: NotFound and PermissionDenied from the system, InvalidArgument and Unimplemented of the format.
absl::StatusOr<Program> ReadProgramFile(Context& context, std::string_view path);

// The format is that of the ending, .pt2 or .tare. Written under a temporary name beside `path` and
// renamed: a failure leaves no file behind and an old one as it was. Errors: NotFound for another
// ending, Unimplemented of the format, others of the system.
absl::Status WriteProgramFile(const Program& program, std::string_view path);

// As WriteProgramFile, for any text; or for what `write` puts into the file piece by piece.
using PutPiece = absl::FunctionRef<absl::Status(std::string_view piece)>;
absl::Status WriteTextFile(std::string_view text, std::string_view path);
absl::Status WriteFileWith(std::string_view path, absl::FunctionRef<absl::Status(PutPiece put)> write);

// The whole of a file of at most `limit` bytes. Errors: NotFound, PermissionDenied, ResourceExhausted.
absl::StatusOr<std::string> ReadTextFile(std::string_view path, size_t limit);

}  // namespace tare
