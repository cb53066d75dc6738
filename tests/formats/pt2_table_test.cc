// Damaged archives are answered as their table says: a curated set always, the whole corpus when it is there.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "../test_files.h"
#include "absl/strings/str_join.h"
#include "formats/pt2/pt2.h"
#include "formats/pt2/zip_directory.h"
#include "formats/pt2/zip_records.h"
#include "ir/text.h"
#include "meta/context_factory.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

std::vector<std::vector<std::string>> ReadTable(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    size_t start = 0;
    for (size_t tab; (tab = line.find('\t', start)) != std::string::npos; start = tab + 1)
      cells.push_back(line.substr(start, tab - start));
    cells.push_back(line.substr(start));
    rows.push_back(cells);
  }
  return rows;
}

std::set<std::string> Names(const fs::path& path) {
  std::set<std::string> names;
  for (const auto& row : ReadTable(path)) names.insert(row[0]);
  return names;
}

void CheckFolder(const fs::path& folder) {
  const fs::path data = SourcePath("tests/data");
  const std::set<std::string> by_rules = Names(data / "pt2/broken/by-rules.txt");
  const std::set<std::string> disputed = Names(data / "broken-disputes.tsv");
  const auto rows = ReadTable(folder / "EXPECT.tsv");
  REQUIRE(rows.size() > 1);
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::string& name = rows[i][0];
    if (disputed.contains(name)) continue;
    CAPTURE(name);
    const bool refuse = rows[i].back() == "refuse" && !by_rules.contains(name);
    const auto context = MakeContext();
    const absl::StatusOr<Program> program = ReadPt2(*context, (folder / name).string());
    const std::string message(program.status().message());
    CAPTURE(message);
    CHECK_EQ(program.ok(), !refuse);
    // One line that ends in the check id.
    if (refuse) {
      CHECK(message.find('\n') == std::string::npos);
      CHECK(message.ends_with("]"));
    }
  }
}

TEST_CASE("damaged archives are answered as their table says") { CheckFolder(SourcePath("tests/data/pt2/broken")); }

fs::path Broken(std::string_view name) { return SourcePath("tests/data/pt2/broken") / std::string(name); }

std::string Graphs(const absl::StatusOr<Program>& program) {
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return PrintProgram(*program->context, *program);
}

TEST_CASE("E01: a field of another kind may stand before the one with 64-bit sizes") {
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = ReadPt2(*context, Broken("zip64_after_timestamp.pt2").string());
  CHECK_EQ(Graphs(program), Graphs(ReadPt2(*context, Broken("good_lin.pt2").string())));
  std::vector<size_t> bytes;
  for (const Constant& constant : program->constants) bytes.push_back(constant.payload.bytes.size());
  CHECK_EQ(absl::StrJoin(bytes, " "), "48 48 12 12 8 8 12");
}

TEST_CASE("E03: sizes are those of the directory when local headers have none") {
  const auto context = MakeContext();
  const std::string file = ReadFile(Broken("good_lin.pt2"));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
  const auto entries = pt2::ReadZipDirectory(bytes);
  REQUIRE(entries.ok());
  int without_sizes = 0;
  for (const pt2::ZipEntry& entry : *entries) {
    const uint64_t header = file.rfind("PK\3\4", entry.data);
    REQUIRE((pt2::U16(bytes, header + 6) & pt2::kFlagDescriptor) != 0);
    CHECK_EQ(pt2::U64(bytes, header + 18), 0);  // both sizes
    without_sizes += entry.bytes > 0 ? 1 : 0;
  }
  CHECK_EQ(without_sizes, 14);
  CHECK_EQ(Graphs(ReadPt2FromMemory(*context, bytes)),
           Graphs(ReadPt2(*context, Broken("good_lin_rezipped.pt2").string())));
}

TEST_CASE("what cannot be read is named") {
  struct Case {
    std::string file, what;
  };
  for (const auto& [file, what] : std::initializer_list<Case>{
           // E05
           {"duplicate_model.pt2", "entry a/models/model.json: name occurs twice [zip_c3]"},
           {"duplicate_weight.pt2", "entry a/data/weights/weight_0: name occurs twice [zip_c3]"},
           {"encrypted.pt2", "entry a/models/model.json: flags 2049: encrypted [zip_c6]"},
           {"encrypted_central.pt2", "entry a/models/model.json: flags 2049: encrypted [zip_c6]"},
           {"crc_model.pt2", "entry a/models/model.json: CRC is 7cf85846, the directory says 12345678 [zip_c8]"},
           {"crc_weight.pt2", "entry a/data/weights/weight_0: CRC is e8849d20, the directory says 00000001 [zip_c8]"},
           // E13
           {"aoti_only.pt2",
            "not an exported program: no entry models/*.json; this is a package of compiled code (AOTInductor): "
            "a/archive_format, a/archive_version, a/byteorder, a/.data/version, "
            "a/data/aotinductor/model/x.wrapper.so [pt2_c1]"},
       }) {
    CAPTURE(file);
    const auto context = MakeContext();
    const absl::StatusOr<Program> program = ReadPt2(*context, Broken(file).string());
    REQUIRE_FALSE(program.ok());
    CHECK_MESSAGE(program.status().message().find(what) != std::string::npos, program.status().message());
  }
}

TEST_CASE("the whole table of damaged archives, when it is there") {
  const fs::path folder = SharedPath("corpus/broken");
  if (fs::exists(folder)) CheckFolder(folder);
}

}  // namespace
}  // namespace tare
