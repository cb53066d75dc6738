// .tosa files read, checked, written and read again.
#include <thread>

#include "backends/tosa/file_ops.h"
#include "tosa_fixture.h"

namespace tare {
namespace {

// Those of tests/data, then the corpus where it is.
std::vector<std::string> TosaFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(DataFolder())) {
    if (entry.path().extension() == ".tosa") files.push_back(entry.path());
  }
  if (const char* shared = std::getenv("TARE_SHARED")) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(shared) / "corpus/nets")) {
      if (entry.path().extension() == ".tosa") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool SameBytes(const Constant& a, const Constant& b) {
  return a.name == b.name && std::ranges::equal(a.payload.bytes, b.payload.bytes);
}

}  // namespace

TEST_CASE("files read, agree with the rules, and come back from being written") {
  const std::vector<std::string> files = TosaFiles();
  REQUIRE_GE(files.size(), 5);
  const auto context = MakeContext();
  for (const std::string& file : files) {
    CAPTURE(file);
    const absl::StatusOr<Program> program = ReadTosaFile(*context, file);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    REQUIRE_EQ(Verify(*program), absl::OkStatus());
    const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context, {.spec = TosaSpecOf(*program)});
    const CheckReport report = CheckProgram(*program, *inferrer);
    CHECK_EQ(report.different, 0);
    CHECK_EQ(report.declared, 0);
    CHECK_GT(report.equal, 0);

    const absl::StatusOr<std::string> written = WriteTosa(*program);
    REQUIRE_MESSAGE(written.ok(), written.status().message());
    const absl::StatusOr<Program> again = ReadTosa(*context, PayloadOf(*written));
    REQUIRE_MESSAGE(again.ok(), again.status().message());
    CHECK_EQ(PrintProgram(*context, *again), PrintProgram(*context, *program));
    CHECK(std::ranges::equal(again->constants, program->constants, SameBytes));
    CHECK_EQ(WriteTosa(*again).value(), *written);
  }
}

TEST_CASE("the bytes depend on the program alone, whatever thread writes them") {
  const std::vector<std::string> files = TosaFiles();
  const std::string bytes = ReadBytes(files[0]);
  std::vector<std::string> written(8);
  const auto shared_context = MakeContext();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < written.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto own_context = MakeContext();
      Context& context = i % 2 == 0 ? *shared_context : *own_context;
      written[i] = WriteTosa(ReadTosa(context, PayloadOf(bytes)).value()).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : written) CHECK_EQ(one, written[0]);
}

TEST_CASE("every operator comes back as it was") {
  const std::string path = DataFolder() + "operators.txt";
  const char* update = std::getenv("TARE_UPDATE_GOLDEN");
  std::string golden;
  const auto context = MakeContext();
  const auto blocks = TitledBlocks(path);
  CHECK_GT(blocks.size(), 80);
  for (const auto& [title, text] : blocks) {
    CAPTURE(title);
    const absl::StatusOr<Program> program = ParseFilled(*context, text);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const std::string printed = PrintProgram(*context, *program);
    golden += (golden.empty() ? "# " : "\n# ") + title + "\n" + printed;
    if (update == nullptr) CHECK_EQ(printed, text);
    const absl::StatusOr<std::string> written = WriteTosa(*program);
    REQUIRE_MESSAGE(written.ok(), written.status().message());
    const absl::StatusOr<Program> again = ReadTosa(*context, PayloadOf(*written));
    REQUIRE_MESSAGE(again.ok(), again.status().message());
    CHECK_EQ(PrintProgram(*context, *again), printed);
    const std::unique_ptr<Inferrer> inferrer = WidestInferrer(*context);
    CHECK_EQ(CheckProgram(*again, *inferrer).different, 0);
  }
  if (update != nullptr) std::ofstream(path) << golden;
  for (const tosa::FileOp& row : tosa::FileOps()) {
    if (row.number > tosa::kLastOpOf10) continue;
    CAPTURE(row.name);
    CHECK_NE(golden.find(Cat("= tosa.", row.name, ".default(")), std::string::npos);
  }
}

TEST_CASE("operators of 1.1 come back as they were") {
  const auto context = MakeContext();
  const std::string spec(WidestTosaSpec(1));
  for (const auto& [title, text] : TitledBlocks(DataFolder() + "shapes11.txt")) {
    CAPTURE(title);
    const absl::StatusOr<Program> program = ParseProgram(*context, text);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const absl::StatusOr<std::string> written = WriteTosa(*program, {.spec = spec});
    REQUIRE_MESSAGE(written.ok(), written.status().message());
    const absl::StatusOr<Program> again = ReadTosa(*context, PayloadOf(*written));
    REQUIRE_MESSAGE(again.ok(), again.status().message());
    CHECK_EQ(PrintProgram(*context, *again), text);
    const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context, {.spec = spec});
    CHECK_EQ(CheckProgram(*again, *inferrer).different, 0);
    CHECK_EQ(CheckIdOf(WriteTosa(*program).status()).substr(0, 12), "tosa_write_c");
  }
}

}  // namespace tare
