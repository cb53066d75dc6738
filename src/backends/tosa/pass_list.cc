#include "backends/tosa/pass_list.h"

#include <algorithm>
#include <vector>

#include "backends/tosa/tosa_passes.h"

namespace tare {
namespace {

constexpr PassRow kTosaPasses[] = {
    {"canonicalize-clamp", "Writes relu, relu6, hardtanh, clamp_min and clamp_max as clamp.", MakeCanonicalizeClamp},
    {"fold-constants", "Moves elements of constants ahead of time: RESHAPE, TRANSPOSE, SLICE and the like.",
     MakeFoldConstants},
    {"fold-factories", "Makes constants of full, arange, zeros and ones, and quantises constants.", MakeFoldFactories},
    {"functionalize", "Writes ops in place as ops with a result, where nobody sees the difference.", MakeFunctionalize},
    {"fuse-rescales", "Joins a RESCALE of a RESCALE where the result is the same.", MakeFuseRescales},
    {"lower-attention", "Writes attention of floats as two products around a softmax.", MakeLowerAttention},
    {"lower-batch-norm", "Writes a batch norm of quantised values as a line for each channel.", MakeLowerBatchNorm},
    {"lower-cast", "Writes conversions between dtypes as CAST.", MakeLowerCast},
    {"lower-clamp", "Writes clamp as CLAMP, with quantised bounds.", MakeLowerClamp},
    {"lower-composite", "Writes ops that TOSA has not as formulas of those it has.", MakeLowerComposite},
    {"lower-concat", "Writes cat and stack as CONCAT.", MakeLowerConcat},
    {"lower-convolution", "Writes convolutions in channels-last order, with a rescale of the sum.",
     MakeLowerConvolution},
    {"lower-divide", "Writes quotients of floats as products.", MakeLowerDivide},
    {"lower-elementwise", "Writes arithmetic and comparisons, integers in int32 with a common scale.",
     MakeLowerElementwise},
    {"lower-function", "Writes functions of one plain tensor: sigmoid, tanh, gelu and the like.", MakeLowerFunction},
    {"lower-gather", "Writes embedding, index and gather as GATHER.", MakeLowerGather},
    {"lower-linear", "Writes products with a weight as CONV2D of a 1x1 kernel.", MakeLowerLinear},
    {"lower-matmul", "Writes products of activations as MATMUL.", MakeLowerMatmul},
    {"lower-movement", "Writes views, permutations, slices and repeats.", MakeLowerMovement},
    {"lower-normalization", "Writes means, softmax and norms of plain tensors as reductions and arithmetic.",
     MakeLowerNormalization},
    {"lower-pad", "Writes a constant border as PAD.", MakeLowerPad},
    {"lower-pool", "Writes pooling in channels-last order.", MakeLowerPool},
    {"lower-prelu", "Writes prelu of quantised values as the sum of both sides of 0.", MakeLowerPrelu},
    {"lower-quantised-norm", "Writes norms of quantised values that a quantiser left whole.", MakeLowerQuantisedNorm},
    {"lower-quantization", "Writes quantize and dequantize within a program of codes and floats as arithmetic.",
     MakeLowerQuantization},
    {"lower-recurrent", "Writes lstm, gru and rnn step by step.", MakeLowerRecurrent},
    {"lower-reduce", "Writes reductions as one REDUCE per axis.", MakeLowerReduce},
    {"lower-requantize", "Writes a quantize of a dequantize as RESCALE.", MakeLowerRequantize},
    {"lower-resize", "Writes upsampling as RESIZE in channels-last order.", MakeLowerResize},
    {"lower-roll", "Writes a roll as slices that change places.", MakeLowerRoll},
    {"lower-select", "Writes where and masked_fill as SELECT.", MakeLowerSelect},
    {"lower-split", "Writes each part of a split as SLICE.", MakeLowerSplit},
    {"lower-strides", "Writes as_strided as what it picks out of the tensor behind it.", MakeLowerStrides},
    {"lower-table", "Writes functions of one quantised value as TABLE.", MakeLowerTable},
    {"merge-duplicates", "Merges nodes with the same op and arguments.", MakeMergeDuplicates},
    {"move-qdq", "Moves integers rather than the reals they stand for.", MakeMoveQdq},
    {"narrow-integers", "Writes 64-bit integers as 32-bit ones where they fit.", MakeNarrowIntegers},
    {"narrow-movement", "Moves elements where they have the fewest bits.", MakeNarrowMovement},
    {"narrow-transposes", "Gives TRANSPOSE of more than four dims as few as say what it moves.", MakeNarrowTransposes},
    {"propagate-layout", "Moves whole regions into the order of dims that needs the fewest transpositions.",
     MakePropagateLayout},
    {"simplify-movement", "Joins and drops RESHAPE and TRANSPOSE.", MakeSimplifyMovement},
    {"sink-reshapes", "Moves reshapes below elementwise ops, where they meet other reshapes.", MakeSinkReshapes},
    {"slice-first", "Slices before a TRANSPOSE that then has nothing left to move.", MakeSliceFirst},
    {"unshare-rescales", "Gives each user of a rescale to int32 a rescale of its own.", MakeUnshareRescales},
    {"widen-sums", "Takes arithmetic behind a convolution of 16 bits from its sum of 48.", MakeWidenSums},
};

}  // namespace

std::span<const PassRow> TosaPasses() { return kTosaPasses; }

std::span<const PassRow> AllPasses() {
  static const std::vector<PassRow> all = [] {
    std::vector<PassRow> rows(BuiltinPasses().begin(), BuiltinPasses().end());
    rows.insert(rows.end(), std::begin(kTosaPasses), std::end(kTosaPasses));
    std::sort(rows.begin(), rows.end(), [](const PassRow& a, const PassRow& b) { return a.name < b.name; });
    return rows;
  }();
  return all;
}

}  // namespace tare
