// What the writer makes of programs, and what it refuses.
#include "backends/tosa/write.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/container/flat_hash_set.h"
#include "backends/tosa/tosa_generated.h"
#include "tosa_fixture.h"

namespace tare {
namespace {

std::string WrittenAndRead(Context& context, std::string_view text) {
  const absl::StatusOr<Program> program = ParseFilled(context, text);
  if (!program.ok()) return Answer(program.status());
  const absl::StatusOr<std::string> written = WriteTosa(*program);
  if (!written.ok()) return Answer(written.status());
  const absl::StatusOr<Program> again = ReadTosa(context, PayloadOf(*written));
  return again.ok() ? PrintProgram(context, *again) : Answer(again.status());
}

struct Written {
  std::string title, before, after;
};

std::vector<Written> WrittenCases() {
  std::vector<Written> cases;
  for (auto& [title, text] : TitledBlocks(DataFolder() + "written.txt")) {
    if (title == "expect") {
      cases.back().after = text;
    } else {
      cases.push_back({title, text, ""});
    }
  }
  return cases;
}

std::string FileText(const flatbuffers::String* text) { return text == nullptr ? "" : text->str(); }

// Faults that the format's readers do not forgive: see the list of a safe writer in the folder's README.
std::vector<std::string> FaultsOf(const std::string& bytes) {
  std::vector<std::string> faults;
  const tosafile::TosaGraph& graph = *tosafile::GetTosaGraph(bytes.data());
  const auto fault = [&](const auto&... what) { faults.push_back(Cat(what...)); };
  if (graph.version()->major() != 1 || graph.version()->minor() != 0 || graph.version()->patch() != 0 ||
      graph.version()->draft()) {
    fault("version");
  }
  absl::flat_hash_set<std::string> names;
  for (const tosafile::Region* region : *graph.regions()) {
    if (FileText(region->name()).empty() || region->blocks()->size() != 1) fault("region without name or block");
    const tosafile::BasicBlock& block = *region->blocks()->Get(0);
    if (region == graph.regions()->Get(0) && FileText(block.name()) != "main") fault("the first block is not main");
    if (block.inputs() == nullptr || block.outputs() == nullptr || block.shapes() == nullptr) fault("a list is absent");
    absl::flat_hash_set<std::string> made, used;
    for (const auto* input : *block.inputs()) made.insert(input->str());
    for (const tosafile::Operator* op : *block.operators()) {
      if (static_cast<uint32_t>(op->attribute_type()) != op->op() || op->attribute() == nullptr) fault("attribute tag");
      for (const auto* input : *op->inputs()) {
        if (!made.contains(input->str())) fault(input->str(), " is used before it is made");
        used.insert(input->str());
      }
      for (const auto* output : *op->outputs()) {
        if (!made.insert(output->str()).second) fault(output->str(), " is made twice");
        if (op->outputs()->size() > 1) used.insert(output->str());  // one of several may have no use
      }
    }
    for (const auto* output : *block.outputs()) used.insert(output->str());
    for (const auto* input : *block.inputs()) used.insert(input->str());
    for (const tosafile::Tensor* tensor : *block.tensors()) {
      if (!names.insert(FileText(tensor->name())).second) fault(FileText(tensor->name()), " is there twice");
      if (!used.contains(FileText(tensor->name()))) fault(FileText(tensor->name()), " is not used");
      if (tensor->shape() == nullptr) fault(FileText(tensor->name()), " has no shape");
      if (tensor->data() != nullptr &&
          (tensor->data()->Data() - reinterpret_cast<const uint8_t*>(bytes.data())) % 8 != 0) {
        fault(FileText(tensor->name()), " is not aligned");
      }
    }
    for (const tosafile::Shape* shape : *block.shapes()) {
      if (!names.insert(FileText(shape->name())).second) fault(FileText(shape->name()), " is there twice");
      if (!used.contains(FileText(shape->name()))) fault(FileText(shape->name()), " is not used");
      if (shape->data() == nullptr || shape->data()->size() != 8 * shape->rank()) fault("bytes of a shape");
    }
  }
  return faults;
}

}  // namespace

TEST_CASE("programs are written as files that read as expected") {
  const auto context = MakeContext();
  const char* update = std::getenv("TARE_UPDATE_GOLDEN");
  std::string golden;
  for (const auto& [title, before, after] : WrittenCases()) {
    CAPTURE(title);
    const std::string got = WrittenAndRead(*context, before);
    golden += (golden.empty() ? "# " : "\n# ") + title + "\n" + before + "# expect\n" + got;
    if (update == nullptr) CHECK_EQ(got, after);
    const absl::StatusOr<Program> program = ParseFilled(*context, before);
    REQUIRE(program.ok());
    const absl::StatusOr<std::string> written = WriteTosa(*program);
    REQUIRE_MESSAGE(written.ok(), written.status().message());
    for (const std::string& fault : FaultsOf(*written)) FAIL_CHECK(fault);
  }
  if (update != nullptr) std::ofstream(DataFolder() + "written.txt") << golden;
}

TEST_CASE("every operator is written as readers want it") {
  const auto context = MakeContext();
  for (const auto& [title, text] : TitledBlocks(DataFolder() + "operators.txt")) {
    CAPTURE(title);
    const absl::StatusOr<Program> program = ParseFilled(*context, text);
    REQUIRE(program.ok());
    for (const std::string& fault : FaultsOf(WriteTosa(*program).value())) FAIL_CHECK(fault);
  }
}

TEST_CASE("what a file cannot hold is refused, with the check's name and the node") {
  const auto context = MakeContext();
  for (const auto& [title, text] : TitledBlocks(DataFolder() + "refused.txt")) {
    CAPTURE(title);
    absl::StatusOr<Program> program = ParseProgram(*context, text);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    for (Constant& constant : program->constants) {
      constant.payload.missing = constant.name == "missing";
      if (!constant.payload.missing) constant.payload = PayloadOf(std::string(4096, '\0'));
    }
    const absl::Status status = WriteTosa(*program).status();
    CHECK_EQ(CheckIdOf(status), title.substr(0, title.find(' ')));
    if (CheckIdOf(status) != "tosa_write_c13" || title.find("number") != std::string::npos) {
      CHECK_MESSAGE(NodeOf(status).has_value(), status.message());
    }
  }
}

TEST_CASE("refusals read like the other errors") {
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = ParseProgram(*context,
                                                       "graph main(%x: f32[2,3], %y: f32[3]) {\n"
                                                       "  %v = tosa.ADD.default(%x, %y) : f32[2,3]\n"
                                                       "  return %v\n}\n");
  REQUIRE(program.ok());
  CHECK_EQ(WriteTosa(*program).status().message(),
           "tosa.ADD.default: %y has rank 1, the result 2: reshape it, TOSA broadcasts extents of 1 only "
           "[tosa_write_c10]\n"
           "  at %v\n"
           "  input1 = %x : f32[2,3]\n"
           "  input2 = %y : f32[3]");
}

TEST_CASE("the version is that of the specification") {
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = ParseProgram(*context,
                                                       "graph main(%x: i64[2,3]) {\n"
                                                       "  %v = tosa.IDENTITY.default(%x) : i64[2,3]\n"
                                                       "  return %v\n}\n");
  REQUIRE(program.ok());
  CHECK_EQ(CheckIdOf(WriteTosa(*program, {.spec = "TOSA-1.0+INT"}).status()), "tosa_write_c2");
  CHECK_EQ(CheckIdOf(WriteTosa(*program, {.spec = "TOSA-1.0+XINT"}).status()), "tosa_spec_c1");
  const absl::StatusOr<std::string> written = WriteTosa(*program, {.spec = "TOSA-1.1+INT+int64"});
  REQUIRE(written.ok());
  const tosafile::Version& version = *tosafile::GetTosaGraph(written->data())->version();
  CHECK_EQ(version.minor(), 1);
  CHECK(version.draft());
  CHECK_EQ(ReadTosa(*context, PayloadOf(*written)).value().verifiers[0], WidestTosaSpec(1));
}

TEST_CASE("constants that are views are written as their elements") {
  const auto context = MakeContext();
  absl::StatusOr<Program> program = ParseProgram(*context,
                                                 "graph main(%x: i8[3,2], %w: i8[3,2]{1,3}@1 = constant \"w\") {\n"
                                                 "  %v = tosa.BITWISE_AND.default(%x, %w) : i8[3,2]\n"
                                                 "  return %v\n}\n");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  program->constants[0].payload = PayloadOf(std::string("\0\1\2\3\4\5\6", 7));
  const absl::StatusOr<Program> again = ReadTosa(*context, PayloadOf(WriteTosa(*program).value()));
  REQUIRE(again.ok());
  const std::span<const std::byte> bytes = again->constants[0].payload.bytes;
  CHECK_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "\1\4\2\5\3\6");
  program->constants[0].payload = PayloadOf(std::string(6, '\0'));
  CHECK_EQ(CheckIdOf(WriteTosa(*program).status()), "tosa_const_c3");
}

TEST_CASE("a file that cannot be written whole leaves nothing, and an old one as it was") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("tare_tosa_write_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "old.tosa") << "old";
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = ParseFilled(*context,
                                                      "graph main(%x: i32[4096], %w: i32[4096] = constant \"w\") {\n"
                                                      "  %v = tosa.ADD.default(%x, %w) : i32[4096]\n"
                                                      "  return %v\n}\n");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  // A full disk, as far as this process can tell.
  rlimit before{};
  REQUIRE_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  REQUIRE_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status no_room = WriteTosaFile(*program, (folder / "old.tosa").string());
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK_FALSE(no_room.ok());
  CHECK_FALSE(WriteTosaFile(*program, (folder / "none" / "new.tosa").string()).ok());
  std::ifstream old(folder / "old.tosa");
  std::string text;
  old >> text;
  CHECK_EQ(text, "old");
  CHECK_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  CHECK(WriteTosaFile(*program, (folder / "old.tosa").string()).ok());
  CHECK_GT(fs::file_size(folder / "old.tosa"), 4096 * 4);
  fs::remove_all(folder);
}

}  // namespace tare
