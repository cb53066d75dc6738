// Functions that expressions' text may call. Only src/ir/sym*.cc include this.
#pragma once

#include <string_view>

#include "ir/sym.h"

namespace tare {

// A function of the text: its name, how many arguments, what it builds.
struct ExprFunction {
  std::string_view name;
  ExprKind kind;
  int min_args, max_args;
  bool swap = false;  // arguments turned around
};
inline constexpr int kAnyArity = 1 << 20;

// The function of this name that builds one node of its arguments, or null.
const ExprFunction* FindExprFunction(std::string_view name);
// The short name ("cos") of a function of one float, alone, after `math.` or after `OpaqueUnaryFn_`; or "".
std::string_view FloatFunction(std::string_view name);

}  // namespace tare
