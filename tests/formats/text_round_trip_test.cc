// Real programs as text: they verify, and their text reads back as the same text.
#include <doctest/doctest.h>

#include <filesystem>
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
  std::vector<fs::path> files;
  for (const fs::path& folder : {SourcePath("tests/data/nets"), SharedPath("corpus/nets"), SharedPath("corpus/dynamic"),
                                 SharedPath("corpus/features")})
    for (const fs::path& path : FilesBelow(folder, ".pt2")) files.push_back(path);
  REQUIRE(!files.empty());
  return files;
}

TEST_CASE("real programs read back from their text") {
  int count = 0;
  for (const fs::path& file : Programs()) {
    CAPTURE(file.string());
    const std::unique_ptr<Context> context = MakeContext();
    const absl::StatusOr<Program> program = ReadPt2(*context, file.string(), {.verify_weights = false});
    if (!program.ok()) continue;  // what cannot be read is the reader's test
    const absl::Status verified = Verify(*program);
    CHECK_MESSAGE(verified.ok(), verified.ToString());
    const std::string once = PrintProgram(*context, *program);
    const absl::StatusOr<Program> again = ParseProgram(*context, once);
    REQUIRE_MESSAGE(again.ok(), again.status().ToString());
    const absl::Status reverified = Verify(*again);
    CHECK_MESSAGE(reverified.ok(), reverified.ToString());
    CHECK((PrintProgram(*context, *again) == once));
    ++count;
  }
  CHECK(count > 0);
  MESSAGE(count, " programs");
}

}  // namespace
}  // namespace tare
