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
#include "formats/pt2/archive.h"
#include "formats/pt2/pt2.h"
#include "formats/pt2/zip_records.h"
#include "formats/pt2/zip_writer.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Programs() {
  std::vector<fs::path> files = FilesBelow(SourcePath("tests/data/pt2/features"), ".pt2");
  for (const fs::path& path : FilesBelow(SourcePath("tests/data/nets"), ".pt2")) files.push_back(path);
  REQUIRE(!files.empty());
  return files;
}

// A folder that goes with its last user.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("tare_pt2_" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string File(std::string_view name) const { return (path / std::string(name)).string(); }
};

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
  const Folder folder;
  for (const fs::path& file : Programs()) {
    CAPTURE(file.string());
    const auto context = MakeContext();
    const absl::StatusOr<Program> program = ReadPt2(*context, file.string());
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const absl::Status verified = Verify(*program);
    CHECK_MESSAGE(verified.ok(), verified.message());
    const std::string first = folder.File("first.pt2"), second = folder.File("second.pt2");
    const absl::Status written = WritePt2(*program, first);
    REQUIRE_MESSAGE(written.ok(), written.message());
    const absl::StatusOr<Program> again = ReadPt2(*context, first);
    REQUIRE_MESSAGE(again.ok(), again.status().message());
    CheckSame(*program, *again);
    REQUIRE(WritePt2(*again, second).ok());
    CHECK(ReadFile(first) == ReadFile(second));
  }
}

Program Parsed(Context& context, std::string_view text) {
  absl::StatusOr<Program> program = ParseProgram(context, text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return *std::move(program);
}

// The program's JSON in a file of pt2's layout.
std::string JsonOf(const std::string& file) {
  const absl::StatusOr<pt2::Bytes> bytes = pt2::MapFile(file);
  REQUIRE(bytes.ok());
  absl::StatusOr<pt2::Archive> archive = pt2::Archive::Open(*bytes);
  REQUIRE(archive.ok());
  const auto json = archive->Read(*archive->Find("models/model.json"), pt2::CrcCheck::kVerify);
  REQUIRE(json.ok());
  return std::string(pt2::Text(json->data, 0, json->data.size()));
}

TEST_CASE("E04: infinities and NaN are quoted; in files of the old layout they may stand bare") {
  struct Case {
    std::string value, quoted;
  };
  const Folder folder;
  for (const auto& [value, quoted] :
       std::initializer_list<Case>{{"-inf", "\"-Infinity\""}, {"inf", "\"Infinity\""}, {"nan", "\"NaN\""}}) {
    CAPTURE(value);
    const auto context = MakeContext();
    const Program program = Parsed(*context, "graph main() {\n  %y = aten.full.default(size=[2], fill_value=" + value +
                                                 ") : f32[2]\n  return %y\n}\n");
    const std::string file = folder.File("quoted.pt2"), old = folder.File("bare.pt2");
    REQUIRE(WritePt2(program, file).ok());
    std::string json = JsonOf(file);
    const size_t at = json.find(R"({"as_float":)" + quoted + "}");
    REQUIRE_NE(at, json.npos);
    json.replace(at + 12, quoted.size(), quoted, 1, quoted.size() - 2);
    json.insert(1, R"("note": "\"NaN, Infinity", )");  // not within strings
    CHECK_FALSE(ReadPt2Json(*context, json).ok());
    pt2::ZipWriter zip;
    REQUIRE(zip.Open(old).ok());
    REQUIRE(zip.Add("version", std::string_view("8.2")).ok());
    REQUIRE(zip.Add("serialized_exported_program.json", std::string_view(json)).ok());
    REQUIRE(zip.Close().ok());
    for (const std::string& name : {file, old}) {
      const absl::StatusOr<Program> read = ReadPt2(*context, name);
      REQUIRE_MESSAGE(read.ok(), read.status().message());
      CHECK_EQ(PrintProgram(*context, *read), PrintProgram(*context, program));
      REQUIRE(WritePt2(*read, file).ok());
      CHECK_NE(JsonOf(file).find(R"({"as_float":)" + quoted + "}"), std::string::npos);
    }
  }
}

TEST_CASE("E06: which input is the user's is what the signature says, wherever it stands") {
  const Folder folder;
  for (const std::string inputs :
       {R"(%w1: f32[3,4] = parameter "0.weight", %w2: f32[1,3] = parameter "1.weight", %x: f32[4])",
        R"(%x: f32[4], %w2: f32[1,3] = parameter "1.weight", %w1: f32[3,4] = parameter "0.weight")"}) {
    CAPTURE(inputs);
    const auto context = MakeContext();
    const Program program = Parsed(*context, "graph main(" + inputs + R"() {
  %a = aten.linear.default(%x, %w1) : f32[3]
  %b = aten.relu.default(%a) : f32[3]
  %y = aten.linear.default(%b, %w2) : f32[1]
  return %y
}
)");
    REQUIRE(WritePt2(program, folder.File("mlp.pt2")).ok());
    const absl::StatusOr<Program> read = ReadPt2(*context, folder.File("mlp.pt2"));
    REQUIRE_MESSAGE(read.ok(), read.status().message());
    std::string users;
    for (size_t i = 0; i < read->inputs.size(); ++i)
      if (read->inputs[i].kind == InputKind::kUser) users += read->main().NameOf(read->main().inputs()[i]);
    CHECK_EQ(users, "x");
    const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context);
    CHECK_EQ(CheckProgram(*read, *inferrer).different, 0);
    CHECK(PrintProgram(*context, *read).ends_with(": f32[1]\n  return %y\n}\n"));
  }
}

TEST_CASE("E14: a constant in channels-last order keeps the order of its elements") {
  const Folder folder;
  const auto context = MakeContext();
  Program program = Parsed(*context, R"(graph main(%c: f32[1,2,2,2]{8,1,4,2} = parameter "c") {
  return %c
}
)");
  const float stored[] = {0, 4, 1, 5, 2, 6, 3, 7};
  program.constants[0].payload = {.owner = nullptr, .bytes = std::as_bytes(std::span(stored))};
  const std::string file = folder.File("channels_last.pt2");
  REQUIRE(WritePt2(program, file).ok());
  const absl::StatusOr<Program> read = ReadPt2(*context, file);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(read->constants[0].meta == program.constants[0].meta);
  CHECK(SameReadFile(read->constants[0].payload, program.constants[0].payload));
}

TEST_CASE("a failed write leaves no file and the old one as it was") {
  const Folder folder;
  const std::string target = folder.File("old.pt2");
  std::ofstream(target) << "old";
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = ParseProgram(*context, "graph main(%x: i4[2]) {\n  return %x\n}\n");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  const absl::Status status = WritePt2(*program, target);
  CHECK_FALSE(status.ok());
  CHECK(std::string(status.message()).find("i4") != std::string::npos);
  CHECK_EQ(ReadFile(target), "old");
  CHECK_EQ(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace tare
