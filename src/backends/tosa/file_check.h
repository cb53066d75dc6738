// Whether bytes are a well-formed TOSA flatbuffer.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/status.h"

namespace tare::tosa {

// The checks of FlatBuffers' own verifier, after a walk that bounds its work: a file may name one vector from
// very many tables, and the verifier would look at it each time. Linear in the size of the file.
// `bytes` start at a multiple of 8. Errors: InvalidArgument [tosa_read_c1], [tosa_read_c3].
absl::Status CheckFile(std::span<const std::byte> bytes);

}  // namespace tare::tosa
