// Uses tare from C++: loads a program and prints how many nodes it has.
#include <cstdio>

#include "tare/api.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::unique_ptr<tare::Context> context = tare::MakeContext();
  const absl::StatusOr<tare::Program> program = tare::ReadProgramFile(*context, argv[1]);
  if (!program.ok()) return 3;
  std::printf("nodes %u\n", program->main().num_nodes());
  return 0;
}
