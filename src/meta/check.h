// Re-derives every value of a program and compares it with what the program states.
//
// Each node is inferred from the *stated* metadata of its operands, so one wrong statement gives one
// difference and not a wave of them. Parameters, buffers and constants are compared with the tensor
// behind them. Symbols that a rule mints are matched with the ones stated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/inferrer.h"
#include "ir/program.h"

namespace tare {

// One value whose derived metadata is not the stated one.
struct ValueDifference {
  GraphId graph;
  NodeId node;
  int element = -1;      // of the leaves of a tuple or list, flattened; -1 = the value is not one
  MetaId stated;         // of this value; no value when only the rule gives this element
  MetaId derived;        // no value when `refusal` says why or the rule gives fewer elements
  absl::Status refusal;  // the rule's answer, when it is an error
};

struct CheckReport {
  int64_t values = 0;     // tensors and symbolic scalars of all graphs; an element of a tuple counts once
  int64_t equal = 0;      // dtype, layout, shape, strides, offset; includes given values, such as user inputs
  int64_t different = 0;  // values - equal - declared
  int64_t declared = 0;   // results of ops without a rule
  std::vector<ValueDifference> differences;  // in program order
  std::vector<Op> declared_ops;              // distinct, in order of first appearance
};

CheckReport CheckProgram(const Program& program, Inferrer& inferrer);

// The first call that a rule refuses as wrong, with its place; OK when there is none. A program with
// such a call is not one whose values differ: it cannot be believed.
absl::Status RefusalOf(const Program& program, const CheckReport& report);

// "%max_1[1] in true_graph_0"; main's values without `in`.
std::string NameOfValue(const Program& program, const ValueDifference& difference);

}  // namespace tare
