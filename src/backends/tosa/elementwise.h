// TOSA ops that work on each element alone, whatever the order of dims.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "backends/tosa/tosa_ops.h"

namespace tare {

// RESCALE is one of them only with one scale: several go along the last axis.
inline constexpr std::string_view kElementwise[] = {
    "ABS",         "ADD",           "ARITHMETIC_RIGHT_SHIFT",
    "BITWISE_AND", "BITWISE_NOT",   "BITWISE_OR",
    "BITWISE_XOR", "CAST",          "CEIL",
    "CLAMP",       "COS",           "EQUAL",
    "ERF",         "EXP",           "FLOOR",
    "GREATER",     "GREATER_EQUAL", "INTDIV",
    "LOG",         "LOGICAL_AND",   "LOGICAL_LEFT_SHIFT",
    "LOGICAL_NOT", "LOGICAL_OR",    "LOGICAL_RIGHT_SHIFT",
    "LOGICAL_XOR", "MAXIMUM",       "MINIMUM",
    "MUL",         "NEGATE",        "POW",
    "RECIPROCAL",  "RESCALE",       "RSQRT",
    "SELECT",      "SIGMOID",       "SIN",
    "SUB",         "TABLE",         "TANH",
};

inline std::vector<Op> ElementwiseOps(const Context& context) {
  std::vector<Op> ops;
  for (const std::string_view name : kElementwise)
    if (const Op op = TosaOps::Find(context, name); op.has_value()) ops.push_back(op);
  if (ops.empty()) ops.push_back(Op{});
  return ops;
}

}  // namespace tare
