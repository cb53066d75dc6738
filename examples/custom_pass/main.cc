// custom_pass OPS_FILE GOLDEN: runs fuse-scaled-relu over the program above the line `# expect` and compares.
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "fuse_scaled_relu.h"
#include "tare/api.h"

namespace {

std::string ReadText(const char* path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

int Fail(const absl::Status& status) {
  std::cerr << status << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::unique_ptr<tare::Context> context = tare::MakeContext();
  if (absl::Status status = tare::AddOpsFile(*context, argv[1], ReadText(argv[1])); !status.ok()) return Fail(status);

  const std::string golden = ReadText(argv[2]), mark = "# expect\n";
  const size_t split = golden.find(mark);
  if (split == std::string::npos) return Fail(absl::InvalidArgumentError("no line `# expect`"));
  absl::StatusOr<tare::Program> program = tare::ParseProgram(*context, golden.substr(0, split));
  if (!program.ok()) return Fail(program.status());

  const std::unique_ptr<tare::Inferrer> inferrer = tare::MakeInferrer(*context);
  const tare::Pass pass(std::make_shared<const FuseScaledRelu>(*context));
  const absl::StatusOr<std::vector<tare::PassStats>> stats = tare::RunPasses(*program, *inferrer, {&pass, 1});
  if (!stats.ok()) return Fail(stats.status());

  std::cout << pass.name() << ": " << tare::StatsLine(stats->at(0).counters) << "\n";
  const std::string got = tare::PrintProgram(*context, *program);
  const bool as_expected = got == golden.substr(split + mark.size());
  std::cout << (as_expected ? "as expected\n" : got);
  return as_expected ? 0 : 1;
}
