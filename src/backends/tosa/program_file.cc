#include "backends/tosa/program_file.h"

#include <cstdio>
#include <cstring>

#include "backends/tosa/read.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/write.h"
#include "formats/program_file.h"
#include "ir/status.h"

namespace tare {
namespace {

bool IsTosaFile(const std::string& path) {
  if (path.ends_with(".tosa")) return true;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  std::byte head[8];
  const size_t count = std::fread(head, 1, sizeof head, file);
  std::fclose(file);
  return IsTosa({head, count});
}

}  // namespace

absl::StatusOr<Program> ReadAnyProgramFile(Context& context, std::string_view path) {
  const std::string name(path);
  if (!path.ends_with(".pt2") && IsTosaFile(name)) return ReadTosaFile(context, name);
  return ReadProgramFile(context, path);
}

absl::Status WriteAnyProgramFile(const Program& program, std::string_view path) {
  if (path.ends_with(".pt2") || path.ends_with(".tare")) return WriteProgramFile(program, path);
  if (!path.ends_with(".tosa")) return absl::NotFoundError("the ending of an output file is .pt2, .tosa or .tare");
  return WriteTosaFile(program, path);
}

std::string SpecificationFor(const Program& program) {
  if (std::string stated = TosaSpecOf(program); !stated.empty()) return stated;
  for (const ProgramGraph& owner : program.graphs) {
    const std::vector<uint32_t> counts = owner.graph.CountOps();
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0 && IsTosa(*program.context, Op{static_cast<uint16_t>(i)})) {
        return std::string(WidestTosaSpec(0));
      }
    }
  }
  return "";
}

}  // namespace tare
