#include "formats/pt2/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_format.h"
#include "formats/pt2/json.h"
#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/utf8.h"
#include "ir/status.h"

namespace tare::pt2 {
namespace {

constexpr size_t kChunk = 1u << 30;  // zlib counts in unsigned int

}  // namespace

absl::Status VerifyCrc(const ZipEntry& entry, std::span<const std::byte> bytes) {
  uLong crc = crc32(0, nullptr, 0);
  for (size_t at = 0; at < bytes.size(); at += kChunk) {
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data() + at),
                static_cast<uInt>(std::min(kChunk, bytes.size() - at)));
  }
  if (crc == entry.crc) return absl::OkStatus();
  return InvalidError("zip_c8", "entry ", Printable(entry.name), ": CRC is ", absl::StrFormat("%08x", crc),
                      ", the directory says ", absl::StrFormat("%08x", entry.crc));
}

absl::StatusOr<Bytes> Inflate(const ZipEntry& entry, std::span<const std::byte> stored) {
  const uint64_t ratio = entry.bytes > kLargeInflatedBytes ? kMaxLargeDeflateRatio : kMaxDeflateRatio;
  if (entry.bytes / ratio > stored.size() || stored.size() > kChunk)
    return InvalidError("zip_c9", "entry ", Printable(entry.name), ": ", stored.size(),
                        " deflated bytes for the declared ", entry.bytes, ": more than ", ratio, ":1");
  // The JSON parser reads a little behind its text.
  const size_t size = entry.bytes;
  auto buffer = std::shared_ptr<std::byte[]>(new std::byte[size + kJsonPadding]);
  std::fill_n(buffer.get() + size, kJsonPadding, std::byte{0});
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return absl::ResourceExhaustedError("inflate: no memory");
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(buffer.get());
  stream.avail_out = static_cast<uInt>(size + 1);  // one more, to see that there is not more
  const int result = inflate(&stream, Z_FINISH);
  const uint64_t got = stream.total_out, used = stream.total_in;
  inflateEnd(&stream);
  if (got > size || (result != Z_STREAM_END && stream.avail_out == 0))
    return InvalidError("zip_c7", "entry ", Printable(entry.name), ": inflates to more than the declared ", size,
                        " bytes");
  if (result != Z_STREAM_END)
    return InvalidError("zip_c7", "entry ", Printable(entry.name), ": broken deflate stream after ", got, " of ", size,
                        " bytes");
  if (got != size || used != stored.size())
    return InvalidError("zip_c7", "entry ", Printable(entry.name), ": inflates to ", got, " bytes from ", used,
                        ", the directory says ", size, " from ", stored.size());
  Bytes bytes{buffer, {buffer.get(), size}, false};
  TARE_RETURN_IF_ERROR(VerifyCrc(entry, bytes.data));
  return bytes;
}

}  // namespace tare::pt2
