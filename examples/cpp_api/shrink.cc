// shrink IN OUT: checks every value of a program, removes what does nothing from it, writes it.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tare/api.h"

namespace {

// What tare says, with the place in the graph and in the model's source.
int Fail(const absl::Status& status) {
  std::cerr << "shrink: " << status.message() << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return Fail(absl::InvalidArgumentError("usage: shrink IN OUT"));
  const std::unique_ptr<tare::Context> context = tare::MakeContext();
  absl::StatusOr<tare::Program> program = tare::ReadProgramFile(*context, argv[1]);
  if (!program.ok()) return Fail(program.status());

  const std::unique_ptr<tare::Inferrer> inferrer = tare::MakeInferrer(*context);
  const tare::CheckReport report = tare::CheckProgram(*program, *inferrer);
  if (const absl::Status refusal = tare::RefusalOf(*program, report); !refusal.ok()) return Fail(refusal);
  std::cout << report.values << " values, " << report.different << " different\n";

  std::vector<tare::Pass> passes;
  for (const char* name : {"remove-noops", "compose-permutes", "compose-views", "dead-code"}) {
    absl::StatusOr<tare::Pass> pass = tare::MakePass(*context, tare::BuiltinPasses(), name);
    if (!pass.ok()) return Fail(pass.status());
    passes.push_back(*std::move(pass));
  }
  const auto stats = tare::RunPasses(*program, *inferrer, passes);
  if (!stats.ok()) return Fail(stats.status());
  for (const tare::PassStats& pass : *stats) std::cout << pass.name << ": " << tare::StatsLine(pass.counters) << "\n";

  if (const absl::Status written = tare::WriteProgramFile(*program, argv[2]); !written.ok()) return Fail(written);
  return 0;
}
