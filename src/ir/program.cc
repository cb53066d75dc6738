#include "ir/program.h"

#include "ir/context.h"

namespace tare {

bool Program::IsFunctional() const {
  for (const ProgramGraph& body : graphs) {
    const std::vector<uint32_t> counts = body.graph.CountOps();
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != 0 && context->ops.Has(Op{static_cast<uint16_t>(i)}, kMutates)) return false;
    }
  }
  return true;
}

}  // namespace tare
