// TOSA's convolutions, pooling, reductions, layout, gathering, resizing, transforms and shapes, on tensors small enough
// to work out by hand. Random calls are compared with the reference model by tests/oracle/tosa_ops.py.
#include <string>

#include "check_calls.h"

using namespace tare;

TEST_CASE("convolutions take zero points off and pad with them") {
  Check({
      // One row 1 2 3, kernel 1 1 1, zero point 1: 0 1 2, padding counts as 0.
      {"tosa.CONV2D.default(%a, %b, %c, stride=[1,1], pad=[0,0,1,1], dilation=[1,1]) : i32[1,1,3,1] "
       "quant(i8(scale=[1.0], "
       "zero=[1], min=-128, max=127))",
       {"i8[1,1,3,1] 1 2 3", "i8[1,1,3,1] 1", "i32[1] 10"},
       "i32[1,1,3,1] 11 13 13"},
      {"tosa.CONV2D.default(%a, %b, %c, stride=[1,2], pad=[0,0,0,0], dilation=[1,2])",
       {"f32[1,1,5,1] 1.0 2.0 3.0 4.0 5.0", "f32[1,1,2,1] 1.0 10.0", "f32[1] 0.5"},
       "f32[1,1,2,1] 31.5 53.5"},
      // 48-bit accumulators: 32767 * 127 * 1000 exceeds 32 bits.
      {"tosa.CONV2D.default(%a, %b, %c, stride=[1,1], pad=[0,0,0,0], dilation=[1,1])",
       {"i16[1,1,1,1000] 32767", "i8[1,1,1,1000] 127", "i48[1] -1"},
       "i48[1,1,1,1] 4161408999"},
      {"tosa.CONV2D.default(%a, %b, %c, stride=[1,2], pad=[0,0,0,0], dilation=[1,1]) : f32[1,1,2,1]",
       {"f32[1,1,4,1] 1.0", "f32[1,1,1,1] 1.0", "f32[1] 0.0"},
       "error: eval_c16"},
      {"tosa.DEPTHWISE_CONV2D.default(%a, %b, %c, stride=[1,1], pad=[0,0,0,0], dialation=[1,1])",
       {"i8[1,1,2,2] 1 2 3 4", "i8[1,2,2,2] 1 2 3 4 5 6 7 8", "i32[4] 0 100 200 300"},
       "i32[1,1,1,4] 16 120 234 340"},
      // Stride 2 spreads the input, negative out_pad cuts the border.
      {"tosa.TRANSPOSE_CONV2D.default(%a, %b, %c, out_pad=[0,0,-1,0], stride=[1,2])",
       {"f32[1,1,2,1] 1.0 10.0", "f32[1,1,3,1] 1.0 2.0 3.0", "f32[1] 0.0"},
       "f32[1,1,4,1] 2 13 20 30"},
      {"tosa.CONV3D.default(%a, %b, %c, stride=[1,1,1], pad=[0,0,0,0,0,0], dilation=[1,1,1])",
       {"i8[1,2,1,1,1] 3 4", "i8[1,2,1,1,1] 5 6", "i32[1] 0"},
       "i32[1,1,1,1,1] 39"},
      {"tosa.MATMUL.default(%a, %b) : i32[1,1,1] quant(i8(scale=[1.0], zero=[1], min=-128, max=127), i8(scale=[1.0], "
       "zero=[-2], min=-128, max=127))",
       {"i8[1,1,2] 1 3", "i8[1,2,1] 5 -4"},
       "i32[1,1,1] -4"},
      {"tosa.MATMUL.default(%a, %b, out_dtype=i48)",
       {"i16[1,1,4] -32768", "i16[1,4,1] -32768"},
       "i48[1,1,1] 4294967296"},
  });
}

TEST_CASE("pooling counts only what lies inside") {
  Check({
      // Windows of 3 with padding 1: (1 + 2) / 2 = 1.5 rounds up, (1 + 2 + 4) / 3 = 2.33.
      {"tosa.AVG_POOL2D.default(%a, %b, %c, kernel=[1,3], stride=[1,1], pad=[0,0,1,1], acc_type=i32)",
       {"i8[1,1,3,1] 1 2 4", "i8[1] 0", "i8[1] 0"},
       "i8[1,1,3,1] 2 2 3"},
      {"tosa.AVG_POOL2D.default(%a, %b, %c, kernel=[1,2], stride=[1,2], pad=[0,0,0,0], acc_type=i32)",
       {"i8[1,1,4,1] -3 -4 127 127", "i8[1] -10", "i8[1] 5"},
       "i8[1,1,2,1] 12 127"},
      {"tosa.AVG_POOL2D.default(%a, %b, %c, kernel=[1,2], stride=[1,1], pad=[0,0,1,0], acc_type=f32)",
       {"f32[1,1,2,1] 1.0 2.0", "f32[1] 0.0", "f32[1] 0.0"},
       "f32[1,1,2,1] 1 1.5"},
      {"tosa.MAX_POOL2D.default(%a, kernel=[1,2], stride=[1,1], pad=[0,0,1,0])",
       {"f32[1,1,4,1] -1.0 nan -3.0 -2.0"},
       "f32[1,1,4,1] -1 nan nan -2"},
      {"tosa.MAX_POOL2D.default(%a, kernel=[1,2], stride=[1,1], pad=[0,0,0,0], nan_mode=\"IGNORE\")",
       {"f32[1,1,4,1] -1.0 nan nan -2.0"},
       "f32[1,1,3,1] -1 nan -2"},
      {"tosa.MAX_POOL2D.default(%a, kernel=[1,2], stride=[1,1], pad=[0,0,2,0]) : i8[1,1,3,1]",
       {"i8[1,1,2,1] 1 2"},
       "error: eval_c16"},
  });
}

TEST_CASE("reductions keep the axis; the first maximum wins") {
  Check({
      {"tosa.REDUCE_SUM.default(%a, axis=0)", {"i32[2,2] 1 2 3 4"}, "i32[1,2] 4 6"},
      {"tosa.REDUCE_SUM.default(%a, axis=0)", {"i32[2] 2147483647 1"}, "error: eval_c15"},
      {"tosa.REDUCE_PRODUCT.default(%a, axis=1)", {"f32[1,3] 2.0 3.0 4.0"}, "f32[1,1] 24"},
      {"tosa.REDUCE_MAX.default(%a, axis=0)", {"f32[3] 1.0 nan 2.0"}, "f32[1] nan"},
      {"tosa.REDUCE_MIN.default(%a, axis=0, nan_mode=\"IGNORE\")", {"f32[3] 1.0 nan 0.5"}, "f32[1] 0.5"},
      {"tosa.REDUCE_MAX.default(%a, axis=0, nan_mode=\"IGNORE\")", {"f32[2] nan nan"}, "f32[1] nan"},
      {"tosa.REDUCE_MAX.default(%a, axis=1)", {"i8[2,2] -128 -127 5 3"}, "i8[2,1] -127 5"},
      {"tosa.REDUCE_ALL.default(%a, axis=0)", {"bool[2] true false"}, "bool[1] false"},
      {"tosa.REDUCE_ANY.default(%a, axis=0)", {"bool[2] true false"}, "bool[1] true"},
      {"tosa.ARGMAX.default(%a, axis=1)", {"i8[2,3] 1 5 5 -1 -1 -2"}, "i32[2] 1 0"},
      {"tosa.ARGMAX.default(%a, axis=0, nan_mode=\"IGNORE\")", {"f32[3] nan 1.0 0.0"}, "i32[] 1"},
  });
}

TEST_CASE("layout") {
  Check({
      {"tosa.CONCAT.default([%a, %b], axis=1)", {"i8[2,1] 1 2", "i8[2,2] 3 4 5 6"}, "i8[2,3] 1 3 4 2 5 6"},
      {"tosa.PAD.default(%a, padding=[1,0,0,2], value=9)", {"i8[1,2] 1 2"}, "i8[2,4] 9 9 9 9 1 2 9 9"},
      {"tosa.RESHAPE.default(%a, shape=[3,2])", {"i8[2,3] 1 2 3 4 5 6"}, "i8[3,2] 1 2 3 4 5 6"},
      {"tosa.REVERSE.default(%a, axis=1)", {"i16[2,2] 1 2 3 4"}, "i16[2,2] 2 1 4 3"},
      {"tosa.SLICE.default(%a, start=[0,1], size=[2,2])", {"i8[2,3] 1 2 3 4 5 6"}, "i8[2,2] 2 3 5 6"},
      {"tosa.TILE.default(%a, multiples=[2,2])", {"i8[1,2] 1 2"}, "i8[2,4] 1 2 1 2 1 2 1 2"},
      {"tosa.TRANSPOSE.default(%a, perms=[1,0])", {"bool[1,2] true false"}, "bool[2,1] true false"},
      {"tosa.TRANSPOSE.default(%a, perms=[2,0,1])", {"i32[1,2,2] 1 2 3 4"}, "i32[2,1,2] 1 3 2 4"},
      {"tosa.GATHER.default(%a, %b)", {"i8[1,2,2] 1 2 3 4", "i32[1,3] 1 0 1"}, "i8[1,3,2] 3 4 1 2 3 4"},
      {"tosa.GATHER.default(%a, %b)", {"i8[1,2,2] 1 2 3 4", "i32[1,1] 2"}, "error: eval_c15"},
      {"tosa.SCATTER.default(%a, %b, %c)", {"i8[1,3,1] 1 2 3", "i32[1,2] 2 0", "i8[1,2,1] 8 9"}, "i8[1,3,1] 9 2 8"},
      {"tosa.SCATTER.default(%a, %b, %c)", {"i8[1,3,1] 1 2 3", "i32[1,2] 2 2", "i8[1,2,1] 8 9"}, "error: eval_c15"},
  });
}

TEST_CASE("resizing") {
  Check({
      {"tosa.RESIZE.default(%a, scale_factors=[1,1,2,1], offset=[0,0], border=[0,1], resize_mode=\"nearest\")",
       {"i8[1,1,2,1] 1 3"},
       "i8[1,1,4,1] 1 3 3 3"},
      // Integers stay scaled by the numerators: 2 * 1.
      {"tosa.RESIZE.default(%a, scale_factors=[1,1,2,1], offset=[0,0], border=[0,0], resize_mode=\"bilinear\")",
       {"i8[1,1,2,1] 1 4"},
       "i32[1,1,3,1] 2 5 8"},
      {"tosa.RESIZE.default(%a, scale_factors=[1,1,4,2], offset=[0,-1], border=[0,1], resize_mode=\"bilinear\")",
       {"f32[1,1,2,1] 1.0 3.0"},
       "f32[1,1,4,1] 1 1.5 2.5 3"},
      {"tosa.RESIZE.default(%a, scale_factors=[1,1,2,1], offset=[0,0], border=[0,0], resize_mode=\"bilinear\", "
       "out_dtype=i48)",
       {"i16[1,1,2,1] -32768 32767"},
       "i48[1,1,3,1] -65536 -1 65534"},
  });
}

TEST_CASE("Fourier transforms are not normalised") {
  Check({
      {"tosa.RFFT2D.default(%a)", {"f32[1,1,4] 1.0 2.0 3.0 4.0"}, "f32[1,1,3] 10 -2 -2; f32[1,1,3] 0 2 -7.34788e-16"},
  });
}

TEST_CASE("shapes are lists of integers") {
  CHECK_EQ(RunProgram(R"(graph main(%x: i8[2,3]) {
  %s = tosa.CONST_SHAPE.default(shape=[3])
  %t = tosa.CONCAT_SHAPE.default(shape_list=[[2], [3]])
  %u = tosa.MUL_SHAPE.default(shape1=[2], shape2=[3])
  %y = tosa.RESHAPE.default(%x, shape=[3,2])
  return %y
})",
                      {"i8[2,3] 1 2 3 4 5 6"}),
           "i8[3,2] 1 2 3 4 5 6");
  CHECK_EQ(RunProgram(R"(graph main(%x: i8[2,3]) {
  %s = tosa.CONST_SHAPE.default(shape=[3,2])
  %y = tosa.RESHAPE.default(%x, shape=%s)
  return %y
})",
                      {"i8[2,3] 1 2 3 4 5 6"}),
           "i8[3,2] 1 2 3 4 5 6");
}
