// How two versions of a program, or two programs, differ: value by value, matched by name.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace tare {

struct DiffRow {
  std::string graph;
  std::string name;    // of a value "%x", an input, output or constant
  std::string before;  // as text; "" = not there
  std::string after;
};

// In the order of `after`, what is gone at the place where it was. Values equal in op, arguments and
// metadata do not occur, wherever they stand. Constants are compared with their bytes.
std::vector<DiffRow> DiffPrograms(const Program& before, const Program& after);

// `- before` and `+ after` lines; graphs other than main are headed by their name.
std::string DiffText(const std::vector<DiffRow>& rows);

}  // namespace tare
