// Arithmetic on plain tensors in TOSA ops: ranks are matched, numbers become constants.
#pragma once

#include <span>
#include <string_view>

#include "backends/tosa/emitter.h"

namespace tare {

// Operands are made before a call that has several: C++ leaves open which argument comes first, and files should not
// depend on the compiler.
class TensorMath {
 public:
  explicit TensorMath(Emitter& emit) : emit_(emit) {}

  Node Number(Node like, double value);  // of the dtype and rank of `like`, each extent 1
  Node Unary(std::string_view tosa_op, Node x);
  Node Binary(std::string_view tosa_op, Node a, Node b);  // the lower rank gets ones in front
  Node Add(Node a, Node b) { return Binary("ADD", a, b); }
  Node Add(Node a, double b) { return Binary("ADD", a, Number(a, b)); }
  Node Sub(Node a, Node b) { return Binary("SUB", a, b); }
  Node Mul(Node a, Node b) { return Binary("MUL", a, b); }
  Node Mul(Node a, double b) { return b == 1.0 ? a : Binary("MUL", a, Number(a, b)); }
  Node Clamp(Node x, double low, double high);
  Node Not(Node x) { return Unary("LOGICAL_NOT", x); }
  Node Less(Node a, Node b) { return Binary("GREATER", b, a); }
  Node Less(Node a, double b) {
    const Node number = Number(a, b);
    return Binary("GREATER", number, a);
  }
  Node Greater(Node a, double b) { return Binary("GREATER", a, Number(a, b)); }
  Node Equal(Node a, double b) { return Binary("EQUAL", a, Number(a, b)); }
  Node Sqrt(Node x) { return Binary("POW", x, Number(x, 0.5)); }
  Node Truncate(Node x);  // of floats, towards 0
  // As ATen converts: floats are cut off, everything but 0 is true. 64-bit integers are refused, but for inputs and
  // constants, which become 32-bit ones.
  Node Convert(Node x, DType dtype);
  Node Select(Node condition, Node a, Node b);
  // Over `axes`, each of which keeps extent 1.
  Node Reduce(std::string_view tosa_op, Node x, std::span<const int64_t> axes);
  Node Mean(Node x, std::span<const int64_t> axes);
  // Mean of squared distances from the mean; `less` elements are taken off the count.
  Node Variance(Node x, Node mean, std::span<const int64_t> axes, double less);
  // [B, M, K] x [B, K, N]
  Node Product(Node a, Node b);
  Node Softmax(Node x, int64_t axis);

 private:
  Emitter& emit_;
};

// Axes of `rank` named by a list argument, from 0 and sorted; all when it names none.
std::vector<int64_t> AxesOf(Node node, std::string_view argument, size_t rank);

}  // namespace tare
