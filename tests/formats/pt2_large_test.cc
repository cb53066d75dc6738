// An archive beyond 4 GB, as a sparse file: loads without its weights being read.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pt2/archive.h"
#include "formats/pt2/pt2.h"
#include "formats/pt2/zip_records.h"
#include "ir/text.h"
#include "meta/context_factory.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kWeightBytes = uint64_t{1'100'000'000} * 4;
constexpr std::string_view kProgram = R"(graph main(%w: f32[1100,1000000] = parameter "w", %x: f32[1,1000000]) {
  %t = aten.t.default(%w) : f32[1000000,1100]{1,1000000}
  %m = aten.mm.default(%x, %t) : f32[1,1100]
  %y = aten.relu.default(%m) : f32[1,1100]
  return %y
}
)";

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "tare-large-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
};

void Put(std::string* out, uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

struct Entry {
  std::string name;
  std::string_view bytes;
  uint64_t size = 0, header = 0;
  uint32_t crc = 0;
};

// The part that local header and directory record share, then the ZIP64 field with sizes and `offset`.
void PutCommon(std::string* out, const Entry& entry, size_t extra_bytes) {
  Put(out, 45, 2);  // version needed
  Put(out, 0, 2);   // flags
  Put(out, 0, 2);   // stored
  Put(out, 0, 4);   // time, date
  Put(out, entry.crc, 4);
  Put(out, pt2::kUse64, 4);
  Put(out, pt2::kUse64, 4);
  Put(out, entry.name.size(), 2);
  Put(out, extra_bytes, 2);
}

void PutExtra(std::string* out, const Entry& entry, bool with_offset) {
  Put(out, pt2::kExtra64, 2);
  Put(out, with_offset ? 24 : 16, 2);
  Put(out, entry.size, 8);
  Put(out, entry.size, 8);
  if (with_offset) Put(out, entry.header, 8);
}

// Entries without bytes are holes of the file.
void WriteSparse(const fs::path& path, std::vector<Entry>& entries) {
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  REQUIRE(file >= 0);
  uint64_t at = 0;
  const auto write_at = [&](std::string_view bytes) {
    REQUIRE(pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(bytes.size()));
    at += bytes.size();
  };
  for (Entry& entry : entries) {
    entry.header = at;
    std::string header;
    Put(&header, pt2::kLocalSignature, 4);
    PutCommon(&header, entry, 20);
    header += entry.name;
    PutExtra(&header, entry, false);
    write_at(header);
    if (entry.bytes.empty()) {
      at += entry.size;
    } else {
      write_at(entry.bytes);
    }
  }
  const uint64_t directory = at;
  for (const Entry& entry : entries) {
    std::string record;
    Put(&record, pt2::kCentralSignature, 4);
    Put(&record, 45, 2);  // version made by
    PutCommon(&record, entry, 28);
    Put(&record, 0, 2);  // comment
    Put(&record, 0, 2);  // disk
    Put(&record, 0, 2);
    Put(&record, 0, 4);  // attributes
    Put(&record, pt2::kUse64, 4);
    record += entry.name;
    PutExtra(&record, entry, true);
    write_at(record);
  }
  const uint64_t end64 = at;
  std::string end;
  Put(&end, pt2::kEnd64Signature, 4);
  Put(&end, pt2::kEnd64Bytes - 12, 8);
  Put(&end, 45, 2);
  Put(&end, 45, 2);
  Put(&end, 0, 4);
  Put(&end, 0, 4);
  Put(&end, entries.size(), 8);
  Put(&end, entries.size(), 8);
  Put(&end, end64 - directory, 8);
  Put(&end, directory, 8);
  Put(&end, pt2::kLocator64Signature, 4);
  Put(&end, 0, 4);
  Put(&end, end64, 8);
  Put(&end, 1, 4);
  Put(&end, pt2::kEndSignature, 4);
  Put(&end, 0, 4);
  Put(&end, 0xFFFF, 2);
  Put(&end, 0xFFFF, 2);
  Put(&end, pt2::kUse64, 4);
  Put(&end, pt2::kUse64, 4);
  Put(&end, 0, 2);
  write_at(end);
  close(file);
}

TEST_CASE("E16: an archive over 4 GB loads; its weights are mapped, not read") {
  const Folder folder;
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = ParseProgram(*context, kProgram);
  REQUIRE(program.ok());
  const fs::path small = folder.path / "small.pt2", large = folder.path / "large.pt2";
  REQUIRE(WritePt2(*program, small.string()).ok());

  const absl::StatusOr<pt2::Bytes> file = pt2::MapFile(small.string());
  REQUIRE(file.ok());
  const absl::StatusOr<pt2::Archive> archive = pt2::Archive::Open(*file);
  REQUIRE(archive.ok());
  std::vector<Entry> entries;
  for (const pt2::ZipEntry& entry : archive->entries()) {
    const std::string_view bytes = pt2::Text(file->data, entry.data, entry.bytes);
    const bool weight = archive->LocalName(entry) == "data/weights/weight_0";
    entries.push_back({std::string(entry.name), bytes, weight ? kWeightBytes : entry.bytes, 0, entry.crc});
  }
  WriteSparse(large, entries);
  REQUIRE(fs::file_size(large) > (uint64_t{4} << 30));

  const absl::StatusOr<Program> loaded = ReadPt2(*context, large.string(), {.model = "", .verify_weights = false});
  CAPTURE(std::string(loaded.status().message()));
  REQUIRE(loaded.ok());
  CHECK_EQ(loaded->main().num_nodes(), program->main().num_nodes());
  REQUIRE_EQ(loaded->constants.size(), 1);
  CHECK_EQ(loaded->constants[0].payload.bytes.size(), kWeightBytes);
  CHECK_FALSE(loaded->constants[0].payload.missing);
  rusage usage;
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
  CHECK_LT(usage.ru_maxrss, 1 << 20);  // kB: nothing near the size of the weight is resident
}

}  // namespace
}  // namespace tare
