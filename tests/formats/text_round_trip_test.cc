// Real programs as text: they verify, and their text reads back as the same text.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "formats/pt2/pt2.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/context_factory.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Programs() {
  const fs::path root = std::getenv("TARE_SOURCE_ROOT");
  const char* env = std::getenv("TARE_SHARED");
  const fs::path shared = env != nullptr ? fs::path(env) : root / "../shared";
  std::vector<fs::path> files;
  for (const fs::path& folder :
       {root / "tests/data/nets", shared / "corpus/nets", shared / "corpus/dynamic", shared / "corpus/features"}) {
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".pt2") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
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
