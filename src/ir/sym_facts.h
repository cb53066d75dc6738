// What a list of axioms says, ready for use. Only src/ir/sym*.cc include this.
//
// `forward` maps the program's symbols (and a few other nodes) to refined expressions: a symbol of
// the same name with a tighter range or divisor, or an expression that eliminates it. In refined
// terms the canonicaliser does most of the work. `backward` maps refined symbols back.
#pragma once

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "ir/sym_impl.h"

namespace tare {

struct Facts {
  uint64_t id = 0;
  std::vector<ExprId> axioms;                    // as given
  absl::flat_hash_map<ExprId, ExprId> forward;   // original or refined node -> refined expression
  absl::flat_hash_map<ExprId, ExprId> backward;  // refined symbol -> original expression
  std::vector<Sum> nonnegative;                  // sums of refined terms known to be >= 0
  absl::flat_hash_set<ExprId> known;             // refined conditions that hold
};

}  // namespace tare
