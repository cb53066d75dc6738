// Fields of ZIP records: little-endian numbers at offsets of a byte range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tare::pt2 {

inline uint64_t LittleEndian(std::span<const std::byte> bytes, uint64_t offset, int width) {
  uint64_t value = 0;
  for (int i = 0; i < width; ++i) value |= static_cast<uint64_t>(bytes[offset + i]) << (8 * i);
  return value;
}
inline uint16_t U16(std::span<const std::byte> b, uint64_t at) { return static_cast<uint16_t>(LittleEndian(b, at, 2)); }
inline uint32_t U32(std::span<const std::byte> b, uint64_t at) { return static_cast<uint32_t>(LittleEndian(b, at, 4)); }
inline uint64_t U64(std::span<const std::byte> b, uint64_t at) { return LittleEndian(b, at, 8); }

// `length` bytes at `offset` lie within `size`; no overflow.
inline bool Fits(uint64_t size, uint64_t offset, uint64_t length) { return offset <= size && length <= size - offset; }

inline std::string_view Text(std::span<const std::byte> b, uint64_t at, uint64_t length) {
  return {reinterpret_cast<const char*>(b.data()) + at, length};
}

inline constexpr uint32_t kLocalSignature = 0x04034b50;
inline constexpr uint32_t kCentralSignature = 0x02014b50;
inline constexpr uint32_t kEndSignature = 0x06054b50;
inline constexpr uint32_t kEnd64Signature = 0x06064b50;
inline constexpr uint32_t kLocator64Signature = 0x07064b50;
inline constexpr uint64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
inline constexpr uint32_t kUse64 = 0xFFFFFFFF;  // "see the ZIP64 field"
inline constexpr uint16_t kExtra64 = 0x0001;

inline constexpr uint16_t kFlagEncrypted = 1 << 0, kFlagDescriptor = 1 << 3, kFlagPatch = 1 << 5,
                          kFlagStrongEncryption = 1 << 6, kFlagMaskedHeader = 1 << 13;

}  // namespace tare::pt2
