// The bytes of an entry, against its record.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "formats/pt2/mapped_file.h"
#include "formats/pt2/zip_directory.h"

namespace tare::pt2 {

// Errors: InvalidArgument [zip_c8].
absl::Status VerifyCrc(const ZipEntry& entry, std::span<const std::byte> bytes);
// Inflates to exactly entry.bytes and verifies the CRC. Errors: [zip_c7] broken stream or another size,
// [zip_c8] CRC, [zip_c9] a size that deflate cannot reach.
absl::StatusOr<Bytes> Inflate(const ZipEntry& entry, std::span<const std::byte> stored);

}  // namespace tare::pt2
