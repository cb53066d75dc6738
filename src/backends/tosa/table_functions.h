// Functions of one real number that a TABLE may stand for, and of two that a look-up may.
#pragma once

#include <span>
#include <string_view>

#include "passes/node.h"

namespace tare {

// Arguments of the node that matter, read once.
struct TableArgs {
  double number[3] = {0, 0, 0};
  bool tanh_form = false;  // gelu
};

struct TableFunction {
  std::string_view aten;
  float (*evaluate)(float x, const TableArgs& args) = nullptr;  // null: what the reference kernel says
};
std::span<const TableFunction> TableFunctions();
// Functions of two, by the reference kernel. Those that are in the other list too take a number for the second there.
std::span<const std::string_view> PairFunctions();
TableArgs ReadTableArgs(Node node);

}  // namespace tare
