// Writes TOSA nodes before a place. The first refusal sticks: later calls do nothing, and what was inserted so far
// goes away with the visit, since nobody uses it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/tosa/affine.h"
#include "backends/tosa/tosa_ops.h"
#include "passes/rewriter.h"

namespace tare {

class Emitter {
 public:
  Emitter(Rewriter& rw, const TosaOps& ops, Node place) : rw_(rw), ops_(ops), place_(place) {}

  bool ok() const { return status_.ok(); }
  // Ok after a refusal by a rule: the op stays as it is, and the session keeps why. Else the error.
  absl::Status Finish() const;
  void Refuse(std::string_view check_id, std::string_view why);

  Node Insert(Op op, ArgList args);
  Node Integers(std::string_view name, DType dtype, std::span<const int64_t> shape, std::span<const int64_t> values);
  // f32, f16 or bf16.
  Node Floats(std::string_view name, DType dtype, std::span<const int64_t> shape, std::span<const float> values);
  // One value in a tensor of `rank` dims of extent 1.
  Node Scalar(std::string_view name, DType dtype, size_t rank, double value);

  // These give `x` back when there is nothing to do.
  Node Transpose(Node x, std::span<const int64_t> perms);
  Node Reshape(Node x, std::span<const int64_t> shape);
  Node ToRank(Node x, size_t rank);  // ones in front
  Node Slice(Node x, std::span<const int64_t> start, std::span<const int64_t> size);
  Node Cast(Node x, DType dtype);
  Node Concat(const std::vector<Node>& parts, int64_t axis);  // at least one
  // Also when the bounds are those of the dtype.
  Node Clamp(Node x, int64_t low, int64_t high);

  Node Rescale(Node x, DType dtype, std::span<const double> scales, int64_t in_zp, int64_t out_zp);
  // From accumulator to the integers of `to`, which are then recorded as its quantisation.
  Node RescaleTo(Node x, std::span<const double> scales, int64_t in_zp, const Affine& to);

  // Quantisation of a node just made: of its operands in order (null = none) and of its result.
  void Quantify(Node node, std::span<const Affine* const> operands, const Affine* result);

  // Every use of `old` becomes a use of `value`, unless something was refused.
  void Replace(Node old, Node value);

  std::vector<int64_t> ShapeOf(Node x);  // refuses a symbolic one
  Rewriter& rewriter() { return rw_; }
  const TosaOps& ops() const { return ops_; }

 private:
  Node Take(absl::StatusOr<Node> node);
  bool InMain();  // refuses elsewhere: a node that has bodies stays, so its bodies stay what torch can load
  Rewriter& rw_;
  const TosaOps& ops_;
  Node place_;
  absl::Status status_;
};

// Range of an integer dtype.
std::pair<int64_t, int64_t> RangeOf(DType dtype);

}  // namespace tare
