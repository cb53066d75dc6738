// What a program holds, counted: the answer of `tare inspect`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace tare {

struct NamedCount {
  std::string name;
  int64_t count = 0;
};

struct ConstantSummary {
  int64_t tensors = 0, elements = 0, bytes = 0;  // bytes of storages, shared ones once
  int64_t missing = 0;                           // of them without data in the file
};

struct ProgramSummary {
  int64_t nodes = 0;                // of all graphs, without placeholders and outputs
  std::vector<NamedCount> ops;      // most frequent first, then by name
  std::vector<NamedCount> dtypes;   // of node results, likewise
  std::vector<NamedCount> no_rule;  // ops whose metadata is only stated
  ConstantSummary parameters, buffers, constants;
  std::vector<std::string> user_inputs;   // "%x: f32[1,3]"
  std::vector<std::string> user_outputs;  // "f32[1,12]"
  std::vector<std::string> symbols;       // "s0 in [2, 64]"
  int64_t quantize = 0, dequantize = 0;   // nodes of quantized_decomposed
  bool functional = true;
};

ProgramSummary Summarise(const Program& program);

}  // namespace tare
