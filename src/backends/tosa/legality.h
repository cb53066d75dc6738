// What of a lowered program is not TOSA, and why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace tare {

// A node left outside, with the reason and what its author can do.
struct Outside {
  NodeId node;
  std::string check_id;  // "tosa_legal_c3"
  std::string why, remedy;
};

// One reason there is, for documents and tests.
struct LegalityRow {
  std::string_view check_id, why, remedy;
};
std::span<const LegalityRow> LegalityRows();

// Nodes of the main graph that are neither TOSA nor inputs, constants or the output, in program order; and outputs
// and inputs with a dtype the specification lacks.
std::vector<Outside> FindOutside(const Program& program, std::string_view spec);

}  // namespace tare
