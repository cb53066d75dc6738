// How each operator of a .tosa file and the node `tosa.NAME.default` correspond: which operands of the
// file are arguments that the node holds as values, and where its attribute fields come from.
//
// Data only; the reader and the writer walk the same rows, so that what one writes the other reads.
// Source: TOSA 1.0 specification and flatbuffer schema; the rows of ops/tosa.toml.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/dtype.h"

namespace tare::tosa {

// One input of a file's operator.
enum class OperandKind : uint8_t {
  kEnd,
  kTensor,      // the argument, a tensor
  kTensors,     // the argument, a list of tensors; always the last
  kShape,       // the argument, ints or a shape made by a node
  kShapes,      // the argument, a list of shapes; always the last
  kZeroPoint,   // [1] constant of the argument's dtype: zero point of that operand in the quant column
  kResultZero,  // likewise of the result
  kByte,        // [1] constant i8: the argument, an int
  kFill,        // [1] constant of the first input's dtype: the argument, a number
  kMultiplier,  // [NC] constants that RESCALE's `scale` becomes
  kShift,
  kInputZero,   // [1] constant of the input's dtype: the argument, an int
  kOutputZero,  // of the result's dtype
};
struct OperandRow {
  OperandKind kind = OperandKind::kEnd;
  std::string_view arg;
};

// One field of an attribute table. A field whose argument is "" has the value the format asks for
// where the node has no say.
enum class FieldKind : uint8_t {
  kEnd,
  kInt,
  kInts,
  kBool,
  kNanMode,       // PROPAGATE or IGNORE
  kAccType,       // the argument, or what goes with input and result
  kInputAccType,  // the argument, always given
  kMinValue,      // one element of the input's dtype, as bytes
  kMaxValue,
  kResizeMode,
  kScale32,
  kRounding,
  kPerChannel,
  kBlockSize,
  kGraph,  // the name of a body
};
struct FieldRow {
  FieldKind kind = FieldKind::kEnd;
  std::string_view arg;
};

// What else the node says with an argument and the file with the type of the result.
enum class ResultArg : uint8_t {
  kNone,
  kDType,     // `dtype`: always
  kOutDType,  // `out_dtype`: where the dialect has another dtype by default
};

struct FileOp {
  uint8_t number = 0;  // Op and tag of the attribute
  std::string_view name;
  std::array<OperandRow, 6> operands;
  std::array<FieldRow, 5> fields;
  ResultArg result = ResultArg::kNone;
  uint8_t results = 1;
  bool makes_shape = false;  // the result is a shape, not a tensor
};

inline constexpr uint8_t kConst = 67, kIdentity = 68, kCustom = 69, kCondIf = 70, kWhileLoop = 71, kVariable = 72,
                         kVariableRead = 74, kConstShape = 75, kRescale = 66;
inline constexpr uint8_t kLastOpOf10 = 75;  // TOSA 1.1 appended the rest

// Operators that correspond to one node each; not CONST, CUSTOM, control flow and variables.
std::span<const FileOp> FileOps();
// Null when the number has no row.
const FileOp* FindFileOp(uint32_t number);
// Of any operator of the schema; "" when there is none.
std::string_view FileOpName(uint32_t number);

// The accumulator of a convolution that does not say one: the result's own type for integers, else the
// widest float that goes. Source: ExecuTorch 1.5.1, backends/arm/operators.
DType DefaultAccType(DType input, DType result);

}  // namespace tare::tosa
