// TOSA's elementwise operators. Expected values from the definitions of TOSA 1.0, worked out by hand.
#include <string>

#include "check_calls.h"

using namespace tare;

TEST_CASE("sums and differences broadcast and must fit") {
  Check({
      {"tosa.ADD.default(%a, %b)", {"i32[2,1] 1 -2", "i32[1,3] 10 20 30"}, "i32[2,3] 11 21 31 8 18 28"},
      {"tosa.ADD.default(%a, %b)", {"i32[2] 2147483647 0", "i32[1] 1"}, "error: eval_c15"},
      {"tosa.SUB.default(%a, %b)", {"i32[2] -2147483648 5", "i32[2] 0 7"}, "i32[2] -2147483648 -2"},
      {"tosa.SUB.default(%a, %b)", {"i32[1] -2147483648", "i32[1] 1"}, "error: eval_c15"},
      {"tosa.ADD.default(%a, %b)", {"f32[2] 1.5 inf", "f32[1] 0.25"}, "f32[2] 1.75 inf"},
      {"tosa.ADD.default(%a, %b)", {"f16[2] 2048.0 1.0", "f16[2] 1.0 0.0001"}, "f16[2] 2048 1"},
      {"tosa.ADD.default(%a, %b)", {"bf16[1] 256.0", "bf16[1] 1.0"}, "bf16[1] 256"},
      {"tosa.SUB.default(%a, %b)", {"f32[] 1.0", "f32[] 3.0"}, "f32[] -2"},
  });
}

TEST_CASE("products of integers are i32; a shift rounds half up") {
  Check({
      {"tosa.MUL.default(%a, %b)", {"i8[2] -128 127", "i8[2] -128 -1"}, "i32[2] 16384 -127"},
      {"tosa.MUL.default(%a, %b)", {"i16[1] -32768", "i16[1] -32768"}, "i32[1] 1073741824"},
      {"tosa.MUL.default(%a, %b)", {"i32[2] 65536 65537", "i32[1] 65536"}, "i32[2] 0 65536"},
      {"tosa.MUL.default(%a, %b, shift=1)", {"i32[4] 1 -1 3 -3", "i32[1] 1"}, "i32[4] 1 0 2 -1"},
      {"tosa.MUL.default(%a, %b, shift=31)", {"i32[1] -2147483648", "i32[1] 2147483647"}, "i32[1] -2147483647"},
      {"tosa.MUL.default(%a, %b, shift=1)", {"i32[1] 2147483647", "i32[1] 4"}, "error: eval_c15"},
      {"tosa.MUL.default(%a, %b, shift=63)", {"i32[2] -2147483648 1", "i32[2] -2147483648 1"}, "i32[2] 1 0"},
      {"tosa.MUL.default(%a, %b)", {"f32[2] 1.5 -0.0", "f32[1] 2.0"}, "f32[2] 3 -0"},
  });
}

TEST_CASE("division and shifts refuse what is not defined") {
  Check({
      {"tosa.INTDIV.default(%a, %b)", {"i32[4] 7 -7 7 -7", "i32[4] 2 2 -2 -2"}, "i32[4] 3 -3 -3 3"},
      {"tosa.INTDIV.default(%a, %b)", {"i32[1] 7", "i32[1] 0"}, "error: eval_c15"},
      {"tosa.INTDIV.default(%a, %b)", {"i32[1] -2147483648", "i32[1] -1"}, "error: eval_c15"},
      {"tosa.ARITHMETIC_RIGHT_SHIFT.default(%a, %b)", {"i8[4] -128 -1 5 5", "i8[4] 7 1 0 1"}, "i8[4] -1 -1 5 2"},
      {"tosa.ARITHMETIC_RIGHT_SHIFT.default(%a, %b, round=true)",
       {"i8[4] -128 -1 5 -3", "i8[4] 7 1 0 1"},
       "i8[4] -1 0 5 -1"},
      {"tosa.ARITHMETIC_RIGHT_SHIFT.default(%a, %b)", {"i8[1] 1", "i8[1] 8"}, "error: eval_c15"},
      {"tosa.ARITHMETIC_RIGHT_SHIFT.default(%a, %b, round=true)", {"i32[1] 2147483647", "i32[1] 31"}, "i32[1] 1"},
      {"tosa.LOGICAL_LEFT_SHIFT.default(%a, %b)", {"i16[3] 1 -1 16384", "i16[3] 15 1 1"}, "i16[3] -32768 -2 -32768"},
      {"tosa.LOGICAL_LEFT_SHIFT.default(%a, %b)", {"i32[1] 1", "i32[1] -1"}, "error: eval_c15"},
      {"tosa.LOGICAL_RIGHT_SHIFT.default(%a, %b)", {"i8[3] -1 -128 64", "i8[3] 1 7 6"}, "i8[3] 127 1 1"},
      {"tosa.LOGICAL_RIGHT_SHIFT.default(%a, %b)", {"i32[1] -1", "i32[1] 31"}, "i32[1] 1"},
  });
}

TEST_CASE("bits and truth values") {
  Check({
      {"tosa.BITWISE_AND.default(%a, %b)", {"i8[2] 12 -1", "i8[2] 10 3"}, "i8[2] 8 3"},
      {"tosa.BITWISE_OR.default(%a, %b)", {"i16[2] 12 -2", "i16[2] 10 1"}, "i16[2] 14 -1"},
      {"tosa.BITWISE_XOR.default(%a, %b)", {"i32[2] 12 -1", "i32[2] 10 3"}, "i32[2] 6 -4"},
      {"tosa.BITWISE_NOT.default(%a)", {"i8[3] 0 -128 127"}, "i8[3] -1 127 -128"},
      {"tosa.LOGICAL_AND.default(%a, %b)", {"bool[2] true true", "bool[2] true false"}, "bool[2] true false"},
      {"tosa.LOGICAL_OR.default(%a, %b)", {"bool[2] false true", "bool[2] false false"}, "bool[2] false true"},
      {"tosa.LOGICAL_XOR.default(%a, %b)", {"bool[2] true true", "bool[2] true false"}, "bool[2] false true"},
      {"tosa.LOGICAL_NOT.default(%a)", {"bool[2] true false"}, "bool[2] false true"},
      {"tosa.CLZ.default(%a)", {"i32[4] 0 1 -1 65536"}, "i32[4] 32 31 0 15"},
  });
}

TEST_CASE("comparisons, extremes and NaN") {
  Check({
      {"tosa.EQUAL.default(%a, %b)", {"i32[2] 1 2", "i32[1] 2"}, "bool[2] false true"},
      {"tosa.EQUAL.default(%a, %b)", {"f32[2] nan 2.0", "f32[2] nan 2.0"}, "bool[2] false true"},
      {"tosa.GREATER.default(%a, %b)", {"f32[3] nan 2.0 3.0", "f32[1] 2.0"}, "bool[3] false false true"},
      {"tosa.GREATER_EQUAL.default(%a, %b)", {"i32[3] 1 2 3", "i32[1] 2"}, "bool[3] false true true"},
      {"tosa.MAXIMUM.default(%a, %b)", {"i32[2] -1 5", "i32[1] 2"}, "i32[2] 2 5"},
      {"tosa.MAXIMUM.default(%a, %b)", {"f32[2] nan 1.0", "f32[2] 1.0 nan"}, "f32[2] nan nan"},
      {"tosa.MAXIMUM.default(%a, %b, nan_mode=\"IGNORE\")",
       {"f32[3] nan 1.0 nan", "f32[3] 1.0 nan nan"},
       "f32[3] 1 1 nan"},
      {"tosa.MINIMUM.default(%a, %b, nan_mode=\"IGNORE\")", {"f32[2] nan 3.0", "f32[1] 2.0"}, "f32[2] 2 2"},
      {"tosa.MINIMUM.default(%a, %b)", {"f32[2] nan 3.0", "f32[1] 2.0"}, "f32[2] nan 2"},
      {"tosa.SELECT.default(%a, %b, %c)", {"bool[2,1] true false", "i8[1,2] 1 2", "i8[1,1] 9"}, "i8[2,2] 1 2 9 9"},
  });
}

TEST_CASE("signs") {
  Check({
      {"tosa.ABS.default(%a)", {"i32[2] -5 5"}, "i32[2] 5 5"},
      {"tosa.ABS.default(%a)", {"i32[1] -2147483648"}, "error: eval_c15"},
      {"tosa.ABS.default(%a)", {"f32[2] -0.5 nan"}, "f32[2] 0.5 nan"},
      {"tosa.NEGATE.default(%a)", {"f32[2] 0.5 -2.0"}, "f32[2] -0.5 2"},
      {"tosa.NEGATE.default(%a)", {"i8[3] -128 127 0"}, "i8[3] 127 -127 0"},
      {"tosa.NEGATE.default(%a) : i8[3] quant(i8(scale=[1.0], zero=[10], min=-128, max=127) -> i8(scale=[1.0], "
       "zero=[-3], min=-128, max=127))",
       {"i8[3] 10 -128 127"},
       "i8[3] -3 127 -120"},
  });
}
