// Every program survives writing and reading: same text, same constants, same kept parts; the same
// bytes when written again.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../test_files.h"
#include "formats/pt2/pt2.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/context_factory.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Programs() {
  std::vector<fs::path> files = FilesBelow(SourcePath("tests/data/pt2/features"), ".pt2");
  for (const fs::path& path : FilesBelow(SourcePath("tests/data/nets"), ".pt2")) files.push_back(path);
  REQUIRE(!files.empty());
  return files;
}

bool SameReadFile(const Payload& a, const Payload& b) {
  return a.missing == b.missing && a.bytes.size() == b.bytes.size() &&
         (a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0);
}

void CheckSame(const Program& a, const Program& b) {
  CHECK_EQ(PrintProgram(*a.context, a), PrintProgram(*b.context, b));
  REQUIRE_EQ(a.constants.size(), b.constants.size());
  for (size_t i = 0; i < a.constants.size(); ++i) {
    CHECK_EQ(a.constants[i].name, b.constants[i].name);
    CHECK(a.constants[i].meta == b.constants[i].meta);
    CHECK_EQ(a.constants[i].file_name, b.constants[i].file_name);
    CHECK(SameReadFile(a.constants[i].payload, b.constants[i].payload));
  }
  CHECK(a.raw_json == b.raw_json);
  CHECK(a.guards_code == b.guards_code);
  CHECK(a.verifiers == b.verifiers);
  CHECK(a.opset_version == b.opset_version);
  CHECK_EQ(a.torch_version, b.torch_version);
  for (const auto& [name, payload] : a.extra_files) {
    CAPTURE(name);
    REQUIRE(b.extra_files.contains(name));
    CHECK(SameReadFile(payload, b.extra_files.at(name)));
  }
}

TEST_CASE("programs survive writing and reading") {
  const fs::path folder = fs::temp_directory_path() / ("tare_round_trip_" + std::to_string(getpid()));
  fs::create_directories(folder);
  for (const fs::path& file : Programs()) {
    CAPTURE(file.string());
    const auto context = MakeContext();
    const absl::StatusOr<Program> program = ReadPt2(*context, file.string());
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const absl::Status verified = Verify(*program);
    CHECK_MESSAGE(verified.ok(), verified.message());
    const fs::path first = folder / "first.pt2", second = folder / "second.pt2";
    const absl::Status written = WritePt2(*program, first.string());
    REQUIRE_MESSAGE(written.ok(), written.message());
    const absl::StatusOr<Program> again = ReadPt2(*context, first.string());
    REQUIRE_MESSAGE(again.ok(), again.status().message());
    CheckSame(*program, *again);
    REQUIRE(WritePt2(*again, second.string()).ok());
    CHECK(ReadFile(first) == ReadFile(second));
  }
  fs::remove_all(folder);
}

TEST_CASE("a failed write leaves no file and the old one as it was") {
  const fs::path folder = fs::temp_directory_path() / ("tare_failed_write_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path target = folder / "old.pt2";
  std::ofstream(target) << "old";
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = ParseProgram(*context, "graph main(%x: i4[2]) {\n  return %x\n}\n");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  const absl::Status status = WritePt2(*program, target.string());
  CHECK_FALSE(status.ok());
  CHECK(std::string(status.message()).find("i4") != std::string::npos);
  CHECK_EQ(ReadFile(target), "old");
  CHECK_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tare
