// What the reader of .pt2 files accepts at most. A file beyond a limit is refused with the limit's
// name; nothing is allocated on the word of a length field alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::pt2 {

// --- archive
inline constexpr uint64_t kMaxEntries = 1u << 20;  // of one archive
inline constexpr uint64_t kMaxDirectoryBytes = 256u << 20;
inline constexpr uint64_t kMaxInflatedBytes = 768u << 20;  // of one deflated entry
inline constexpr uint64_t kMaxInflatedTotal = 1u << 30;    // of all deflated entries read
inline constexpr uint64_t kMaxDeflateRatio = 1040;         // deflate cannot do better than 1032:1
inline constexpr uint64_t kMaxLargeDeflateRatio =
    500;  // of entries above kLargeInflatedBytes: JSON and weights stay below
inline constexpr uint64_t kLargeInflatedBytes = 64u << 20;
inline constexpr uint64_t kMaxSmallEntryBytes = 64;  // archive_format, archive_version, byteorder …

// --- JSON
inline constexpr uint64_t kMaxJsonBytes = 1u << 30;
inline constexpr size_t kMaxJsonDepth = 1024;  // arrays and objects within each other
inline constexpr int kMaxGraphDepth = 64;      // bodies within bodies
inline constexpr int kMaxArgumentDepth = 16;   // lists and dicts within one argument
inline constexpr size_t kMaxGraphs = 1u << 16;
inline constexpr size_t kMaxSpecBytes = 16u << 20;  // in_spec, out_spec
inline constexpr size_t kMaxGuards = 256;           // of a program that become facts; more stay text

// --- weights
inline constexpr int64_t kMaxConstantBytes = int64_t{1} << 40;  // sizes × element size, also when expanded
inline constexpr int64_t kMaxDataVersion = 10;                  // .data/version; torch writes 6

// --- schema
inline constexpr int64_t kSchemaMajor = 8;
inline constexpr int64_t kNewestKnownMinor = 20;

}  // namespace tare::pt2
