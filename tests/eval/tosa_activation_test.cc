// TOSA's CLAMP, TABLE, CAST, RESCALE and functions of floating point.
#include <string>

#include "check_calls.h"

using namespace tare;

namespace {

// 256 entries 3 * i mod 256 - 128, and 513 entries 100 * i - 25600.
std::string Table(int entries) {
  std::string text = entries == 256 ? "i8[256]" : "i16[513]";
  for (int i = 0; i < entries; ++i)
    text += " " + std::to_string(entries == 256 ? (3 * i) % 256 - 128 : 100 * i - 25600);
  return text;
}

}  // namespace

TEST_CASE("CLAMP") {
  Check({
      {"tosa.CLAMP.default(%a, min_val=-5, max_val=100)", {"i8[3] -128 0 127"}, "i8[3] -5 0 100"},
      {"tosa.CLAMP.default(%a, min_val=-5, max_val=1000)", {"i16[3] -128 0 32767"}, "i16[3] -5 0 1000"},
      {"tosa.CLAMP.default(%a, min_val=0.0, max_val=6.0)", {"f32[4] -1.0 nan 7.0 inf"}, "f32[4] 0 nan 6 6"},
      {"tosa.CLAMP.default(%a, min_val=0.0, max_val=6.0, nan_mode=\"IGNORE\")", {"f32[2] nan -0.5"}, "f32[2] 0 0"},
  });
}

TEST_CASE("TABLE looks up and interpolates") {
  const std::string small = Table(256), large = Table(513);
  Check({
      {"tosa.TABLE.default(%a, %b)", {"i8[3] -128 0 127", small}, "i8[3] -128 0 125"},
      // 128 * (100 * i - 25600) + 100 * fraction.
      {"tosa.TABLE.default(%a, %b)", {"i16[4] -32768 32767 0 65", large}, "i32[4] -3276800 3276700 0 6500"},
  });
}

TEST_CASE("CAST rounds to nearest even and saturates; integers lose high bits") {
  Check({
      {"tosa.CAST.default(%a, dtype=i8)",
       {"f32[8] 0.5 1.5 2.5 -0.5 -1.5 300.0 -300.0 nan"},
       "i8[8] 0 2 2 0 -2 127 -128 0"},
      {"tosa.CAST.default(%a, dtype=i32)", {"f32[3] 3e9 -3e9 16777217.0"}, "i32[3] 2147483647 -2147483648 16777216"},
      {"tosa.CAST.default(%a, dtype=i8)", {"i32[3] 257 -129 128"}, "i8[3] 1 127 -128"},
      {"tosa.CAST.default(%a, dtype=bool)", {"i32[3] 256 0 -1"}, "bool[3] true false true"},
      {"tosa.CAST.default(%a, dtype=i16)", {"bool[2] true false"}, "i16[2] 1 0"},
      {"tosa.CAST.default(%a, dtype=f16)", {"f32[3] 65520.0 2049.0 0.00006"}, "f16[3] inf 2048 6.00219e-05"},
      {"tosa.CAST.default(%a, dtype=f32)", {"f16[2] 0.1 -2.5"}, "f32[2] 0.0999756 -2.5"},
  });
}

TEST_CASE("RESCALE: zero points, rounding of ties upwards, clipping, widths") {
  Check({
      {"tosa.RESCALE.default(%a, dtype=i8, scale=[0.5], in_zp=0, out_zp=0)",
       {"i32[6] 1 -1 3 -3 1000 -1000"},
       "i8[6] 1 0 2 -1 127 -128"},
      {"tosa.RESCALE.default(%a, dtype=i32, scale=[1.0], in_zp=-3, out_zp=0)",
       {"i8[3] -128 0 127"},
       "i32[3] -125 3 130"},
      {"tosa.RESCALE.default(%a, dtype=i8, scale=[1.0], in_zp=0, out_zp=5)",
       {"i32[3] 122 123 -134"},
       "i8[3] 127 127 -128"},
      {"tosa.RESCALE.default(%a, dtype=i8, scale=[1.0,0.5], in_zp=0, out_zp=0)",
       {"i32[2,2] 10 10 -7 -7"},
       "i8[2,2] 10 5 -7 -3"},
      {"tosa.RESCALE.default(%a, dtype=i8, scale=[1.0], in_zp=128, out_zp=0, input_unsigned=true)",
       {"i8[3] -1 0 -128"},
       "i8[3] 127 -128 0"},
      {"tosa.RESCALE.default(%a, dtype=i8, scale=[1.0], in_zp=-128, out_zp=0, output_unsigned=true)",
       {"i8[3] -128 0 127"},
       "i8[3] 0 -128 -1"},
      // A 16-bit scale keeps 15 bits: 0.7 is 22938 * 2^-15.
      {"tosa.RESCALE.default(%a, dtype=i32, scale=[0.7], in_zp=0, out_zp=0)",
       {"i48[2] 1000000000 -1000000000"},
       "i32[2] 700012207 -700012207"},
      {"tosa.RESCALE.default(%a, dtype=i32, scale=[0.7], in_zp=0, out_zp=0)",
       {"i32[2] 1000000000 -1000000000"},
       "i32[2] 700000000 -700000000"},
      {"tosa.RESCALE.default(%a, dtype=i32, scale=[0.7], in_zp=0, out_zp=0, scale32=false)",
       {"i32[2] 1000000000 -1000000000"},
       "i32[2] 700012207 -700012207"},
      {"tosa.RESCALE.default(%a, dtype=i16, scale=[0.00001], in_zp=0, out_zp=0)",
       {"i48[3] 140737488355327 -140737488355328 150000"},
       "i16[3] 32767 -32768 2"},
      {"tosa.RESCALE.default(%a, dtype=i16, scale=[0.0001], in_zp=0, out_zp=0)",
       {"i48[1] 140737488355327"},
       "error: rescale_c3"},
      // DOUBLE_ROUND differs where the shift exceeds 31: 3 * 2^-3 = 0.375 is rounded to 0.5 first.
      {"tosa.RESCALE.default(%a, dtype=i32, scale=[0.125], in_zp=0, out_zp=0)",
       {"i32[4] 4 -4 12 -12"},
       "i32[4] 1 0 2 -1"},
      {"tosa.RESCALE.default(%a, dtype=i32, scale=[0.125], in_zp=0, out_zp=0, rounding_mode=\"DOUBLE_ROUND\")",
       {"i32[4] 4 -4 12 -12"},
       "i32[4] 1 -1 2 -2"},
      {"tosa.RESCALE.default(%a, dtype=i32, scale=[2.0], in_zp=0, out_zp=0)",
       {"i32[1] 1073741824"},
       "error: rescale_c2"},
  });
}

TEST_CASE("functions of floating point") {
  Check({
      {"tosa.CEIL.default(%a)", {"f32[3] 0.2 -0.2 nan"}, "f32[3] 1 -0 nan"},
      {"tosa.FLOOR.default(%a)", {"f32[3] 0.2 -0.2 inf"}, "f32[3] 0 -1 inf"},
      {"tosa.EXP.default(%a)", {"f32[3] 0.0 1.0 -inf"}, "f32[3] 1 2.71828 0"},
      {"tosa.LOG.default(%a)", {"f32[3] 1.0 0.0 -1.0"}, "f32[3] 0 -inf nan"},
      {"tosa.RECIPROCAL.default(%a)", {"f32[3] 4.0 0.0 -0.0"}, "f32[3] 0.25 inf -inf"},
      {"tosa.RSQRT.default(%a)", {"f32[3] 4.0 0.0 -1.0"}, "f32[3] 0.5 inf nan"},
      {"tosa.SIGMOID.default(%a)", {"f32[3] 0.0 100.0 -100.0"}, "f32[3] 0.5 1 3.78351e-44"},
      {"tosa.TANH.default(%a)", {"f32[3] 0.0 1.0 -100.0"}, "f32[3] 0 0.761594 -1"},
      {"tosa.ERF.default(%a)", {"f32[2] 0.5 -inf"}, "f32[2] 0.5205 -1"},
      {"tosa.SIN.default(%a)", {"f32[2] 1.0 inf"}, "f32[2] 0.841471 nan"},
      {"tosa.COS.default(%a)", {"f32[2] 1.0 0.0"}, "f32[2] 0.540302 1"},
      {"tosa.POW.default(%a, %b)", {"f32[2] 2.0 0.0", "f32[1] 3.0"}, "f32[2] 8 0"},
      {"tosa.EXP.default(%a)", {"f16[1] 1.0"}, "f16[1] 2.71875"},
  });
}
