// ATen ops on plain tensors as formulas of TOSA ops: rows by theme, which passes apply: lower-composite, or those named
// below.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/tosa/math.h"

namespace tare {

// One call to be written. A refusal leaves the op as it is.
struct FormulaCall {
  Emitter& emit;
  TensorMath& m;
  Node node;
  Node result;                // the node, or a getitem of it
  int64_t index = 0;          // of that getitem
  Node first;                 // what stands for the first tensor argument
  Node second;                // kReplaces: integers that stand for what replaces, in the scale of the first
  const Affine* q = nullptr;  // of these integers
  double factor = 1;          // kSums: what comes out is to be multiplied by

  DType dtype() const { return result.tensor().dtype; }
  // What dtype TOSA computes it in: 8- and 16-bit integers in i32.
  DType computed() const;
  // What holds whole numbers of `dtype`: i32 for integers, or f32 for 8 and 16 bits where the profile has no cast from
  // `like`, a tensor, to i32. Only for what does not wrap.
  DType Holding(DType dtype, Node like) const;
  // Whole numbers that fit, in the dtype of the result.
  Node Whole(Node value) const;
  // A tensor argument, `first` for the first.
  Node Arg(std::string_view name) const {
    const Node tensor = node.arg(name);
    return tensor.has_value() && tensor == node.operand(0) ? first : tensor;
  }
  // The sums stay within 32 bits; refuses when `count` of the widest codes do not.
  bool SumsFit(int64_t count) const {
    const bool fit = q == nullptr || count <= INT32_MAX / (int64_t{1} << BitsOf(q->storage));
    if (!fit) Refuse("sums that 32 bits do not hold");
    return fit;
  }
  // What replaces: a tensor or number argument like the first one.
  Node Replacing(std::string_view name) const;
  bool Given(std::string_view name) const { return node.arg(name).has_value() || node.number(name).has_value(); }
  // A tensor or number argument as `dtype`, by default computed().
  Node In(std::string_view name, std::optional<DType> dtype = std::nullopt) const;
  std::vector<int64_t> ShapeOf(std::string_view name) const { return emit.ShapeOf(node.arg(name)); }
  size_t RankOf(std::string_view name) const { return node.arg(name).tensor().shape.size(); }
  // An axis argument from 0; refuses one that is not constant or not there.
  int64_t Axis(std::string_view name, size_t rank) const;
  // In the dtype and shape of the result.
  Node Done(Node value) const;
  Node Refuse(std::string_view why) const {
    emit.Refuse("tosa_lower_c9", why);
    return Node();
  }
};

// What a formula may be given.
enum FormulaInput : uint8_t {
  kPlain,
  kReplaces,  // as kMoves, by others: the integers behind both
  kMoves,     // also the integers behind the quantisation of its first tensor: they come out as they are, or as places
  kSums,      // also these: sums of them less their zero point come out, of i32 or i48, in any shape; see factor
};

struct FormulaRow {
  std::string_view aten;
  Node (*write)(FormulaCall& call);
  FormulaInput input = kPlain;
};

std::span<const FormulaRow> BinaryFormulas();     // of two or three operands, element by element
std::span<const FormulaRow> FunctionFormulas();   // of one operand, element by element
std::span<const FormulaRow> IndexFormulas();      // look-ups and replacements by integers that are known late
std::span<const FormulaRow> MovementFormulas();   // elements in other places
std::span<const FormulaRow> PoolFormulas();       // over windows
std::span<const FormulaRow> ProductFormulas();    // sums of products
std::span<const FormulaRow> ReductionFormulas();  // over dims

// --- rows of passes of their own, earlier than the others: of floats in their own dtype, from `first`
std::span<const FormulaRow> ActivationFormulas();  // lower-function
std::span<const FormulaRow> NormFormulas();        // lower-normalization

// --- what several formulas do
// `x` repeated to `shape`, ones in front where its rank is lower.
Node Broadcast(Emitter& emit, Node x, std::span<const int64_t> shape);
// GATHER and SCATTER take no booleans: those travel as numbers.
Node Carried(Emitter& emit, Node x);
// Of values [batch, places, row] those at rows [batch, count].
Node GatherRows(Emitter& emit, Node values, Node rows);
// Elements `indices` of dim `axis`, in that order: GATHER.
Node Take(Emitter& emit, Node x, size_t axis, std::span<const int64_t> indices);

}  // namespace tare
