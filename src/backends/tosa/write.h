// Lowered programs as .tosa files.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/program.h"

namespace tare {

struct TosaWriteOptions {
  // "TOSA-1.0+INT": its version goes into the file. "" = what the program's verifiers say, else 1.0.
  std::string spec;
  int max_rank = 6;  // of the level: 8K has 6, none has 32
};

// `program` (see README.md for what its graphs hold) as a TOSA flatbuffer. The bytes depend on the program
// alone. Values that nothing needs are left out; tensors keep the names of their nodes, made unique over all
// graphs. Every constant has its operator before its users; operators are in the order of the nodes. An
// output that is an input, a constant or another output gets an IDENTITY.
// Errors, with the node as payload: Unimplemented [tosa_write_c1] no such operator, [tosa_write_c2] a dtype
// TOSA has no name for, [tosa_write_c3] symbolic extents or arguments, [tosa_write_c4] an extent of 0,
// [tosa_write_c5] rank above the level's, [tosa_write_c6] too many elements, [tosa_write_c7] an argument outside
// int32, [tosa_write_c10] operands of different rank, [tosa_write_c11] a window that does not end where the
// input ends, [tosa_write_c12] more than 2 GiB, [tosa_write_c13] an output that is no tensor or changes an
// input, [tosa_write_c14] too many operands of one node; InvalidArgument [tosa_write_c8] an argument of another
// kind than the file needs, [tosa_write_c9] a zero point the element type cannot have; those of Verify, of
// scales (eval/requantize.h), of constants and values (file_types.h).
absl::StatusOr<std::string> WriteTosa(const Program& program, const TosaWriteOptions& options = {});

// As WriteTosa, into a file, without a copy of the bytes; written under a temporary name and renamed.
absl::Status WriteTosaFile(const Program& program, std::string_view path, const TosaWriteOptions& options = {});

// The specification a program states among its verifiers, or "".
std::string TosaSpecOf(const Program& program);

}  // namespace tare
