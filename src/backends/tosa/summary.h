// What a user wants to know of a lowered program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/tosa/affine.h"
#include "backends/tosa/lower.h"
#include "ir/program.h"

namespace tare {

// An input or output as the file has it.
struct EdgeValue {
  std::string name, type;  // "i8[1,3,32,32]"
  std::string stated;      // type that the program has, "f32[1,3,32,32]"; empty when it is not known
  std::vector<Affine> q;   // one when it is quantised
};

struct LowerSummary {
  std::map<std::string, int64_t> ops;  // by kind, without "tosa."; CONST counts constants
  int64_t nodes = 0;                   // TOSA operators without CONST and CONST_SHAPE
  int64_t macs = 0;
  int64_t parameter_bytes = 0;   // of constants that are used
  int64_t activation_bytes = 0;  // of all values
  int64_t peak_bytes = 0;        // most that is live at once when nodes run in order and reshapes cost nothing
  int64_t transposes = 0, rescales = 0;
  std::vector<EdgeValue> inputs, outputs;
};
LowerSummary Summarize(const Program& program, const StatedEdge& stated = {});

}  // namespace tare
