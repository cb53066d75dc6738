// ATen and quantized_decomposed on small tensors; expected values are what PyTorch 2.13 answers on the CPU.
#include <string>

#include "check_calls.h"

using namespace tare;

namespace {

void CheckAten(std::initializer_list<CallCase> cases) { Check(cases, ""); }

}  // namespace

TEST_CASE("types are promoted, integers wrap, division is true") {
  CheckAten({
      {"aten.add.Tensor(%a, %b, alpha=2)", {"i32[2] 1 2", "i64[2] 10 20"}, "i64[2] 21 42"},
      {"aten.add.Tensor(%a, %b)", {"i8[1] 127", "i8[1] 1"}, "i8[1] -128"},
      {"aten.mul.Tensor(%a, %b)", {"bool[2] true false", "f32[] 2.5"}, "f32[2] 2.5 0"},
      {"aten.div.Tensor(%a, %b)", {"i32[2] 7 -7", "i32[1] 2"}, "f32[2] 3.5 -3.5"},
      {"aten.div.Tensor_mode(%a, %b, rounding_mode=\"floor\")", {"i32[2] 7 -7", "i32[1] 2"}, "i32[2] 3 -4"},
      {"aten.div.Tensor_mode(%a, %b, rounding_mode=\"trunc\")", {"f32[2] 7.0 -7.0", "f32[1] 2.0"}, "f32[2] 3 -3"},
      {"aten.remainder.Scalar(%a, other=3)", {"i64[2] 7 -7"}, "i64[2] 1 2"},
      {"aten.fmod.Scalar(%a, other=3)", {"i64[2] 7 -7"}, "i64[2] 1 -1"},
      {"aten.rsub.Scalar(%a, other=1)", {"f32[2] 3.0 0.5"}, "f32[2] -2 0.5"},
      {"aten.eq.Scalar(%a, other=1.5)", {"i32[2] 1 2"}, "bool[2] false false"},
      {"aten.lt.Tensor(%a, %b)", {"u8[1] 200", "i8[1] -1"}, "bool[1] false"},
      {"aten.maximum.default(%a, %b)", {"f32[2] nan 1.0", "f32[2] 0.0 2.0"}, "f32[2] nan 2"},
      {"aten.pow.Tensor_Scalar(%a, exponent=3)", {"i32[2] -2 3"}, "i32[2] -8 27"},
      {"aten.pow.Scalar(self=2, %a)", {"u8[1] 17"}, "u8[1] 0"},  // B05: 2^17 in 8 bits
      {"aten.pow.Scalar(self=2, %a)", {"u8[] 17"}, "u8[] 0"},
      {"aten.where.ScalarOther(%a, %b, other=0)", {"bool[2] true false", "f32[2] 1.0 2.0"}, "f32[2] 1 0"},
      {"aten.add.Tensor(%a, %b)", {"f16[1] 2048.0", "f16[1] 1.0"}, "f16[1] 2048"},
  });
}

TEST_CASE("functions of one element") {
  CheckAten({
      {"aten.relu.default(%a)", {"f32[3] -1.0 nan 2.0"}, "f32[3] 0 nan 2"},
      {"aten.gelu.default(%a)", {"f32[2] 1.0 -1.0"}, "f32[2] 0.841345 -0.158655"},
      {"aten.gelu.default(%a, approximate=\"tanh\")", {"f32[2] 1.0 -1.0"}, "f32[2] 0.841192 -0.158808"},
      {"aten.clamp.default(%a, min=0)", {"i32[2] -1 5"}, "i32[2] 0 5"},
      {"aten.hardswish.default(%a)", {"f32[3] -4.0 1.0 4.0"}, "f32[3] -0 0.666667 4"},
      {"aten.leaky_relu.default(%a, negative_slope=0.1)", {"f32[2] -1.0 2.0"}, "f32[2] -0.1 2"},
      {"aten.round.default(%a)", {"f32[4] 0.5 1.5 2.5 -0.5"}, "f32[4] 0 2 2 -0"},
      {"aten.softplus.default(%a)", {"f32[2] 0.0 30.0"}, "f32[2] 0.693147 30"},
      {"aten.sqrt.default(%a)", {"i64[1] 2"}, "f32[1] 1.41421"},
      {"aten.to.dtype(%a, dtype=i8)", {"f32[2] -1.7 1.7"}, "i8[2] -1 1"},
      {"aten.bitwise_not.default(%a)", {"bool[2] true false"}, "bool[2] false true"},
      {"aten.dropout.default(%a, p=0.5, train=true)", {"f32[1] 1.0"}, "error: eval_c19"},
  });
}

TEST_CASE("other shapes of the same elements") {
  CheckAten({
      {"aten.view.default(%a, size=[-1,2])", {"i8[4] 1 2 3 4"}, "i8[2,2] 1 2 3 4"},
      {"aten.view_copy.default(%a, size=[2,2])", {"i8[4] 1 2 3 4"}, "i8[2,2] 1 2 3 4"},
      {"aten.permute.default(%a, dims=[-1,0])", {"i8[2,2] 1 2 3 4"}, "i8[2,2] 1 3 2 4"},
      {"aten.slice.Tensor(%a, dim=0, start=-3, end=100, step=2)", {"i8[5] 1 2 3 4 5"}, "i8[2] 3 5"},
      {"aten.select.int(%a, dim=1, index=-1)", {"i8[2,2] 1 2 3 4"}, "i8[2] 2 4"},
      {"aten.split.Tensor(%a, split_size=2)", {"i8[3] 1 2 3"}, "i8[2] 1 2; i8[1] 3"},
      {"aten.chunk.default(%a, chunks=2)", {"i8[3] 1 2 3"}, "i8[2] 1 2; i8[1] 3"},
      {"aten.unbind.int(%a)", {"i8[2,1] 1 2"}, "i8[1] 1; i8[1] 2"},
      {"aten.expand.default(%a, size=[2,-1])", {"i8[1,2] 1 2"}, "i8[2,2] 1 2 1 2"},
      {"aten.repeat.default(%a, repeats=[2,1])", {"i8[2] 1 2"}, "i8[2,2] 1 2 1 2"},
      {"aten.roll.default(%a, shifts=[1], dims=[0])", {"i8[3] 1 2 3"}, "i8[3] 3 1 2"},
      {"aten.flip.default(%a, dims=[0])", {"i8[3] 1 2 3"}, "i8[3] 3 2 1"},
      {"aten.stack.default([%a, %b], dim=1)", {"i8[2] 1 2", "i8[2] 3 4"}, "i8[2,2] 1 3 2 4"},
      {"aten.cat.default([%a, %b])", {"i8[1] 1", "i32[1] 300"}, "i32[2] 1 300"},
      {"aten.im2col.default(%a, kernel_size=[1,2], dilation=[1,1], padding=[0,1], stride=[1,2])",
       {"i8[1,1,1,3] 1 2 3"},
       "i8[1,2,2] 0 2 1 3"},
      {"aten.meshgrid.default([%a, %b])", {"i8[2] 1 2", "i8[1] 3"}, "i8[2,1] 1 2; i8[2,1] 3 3"},
      {"aten.meshgrid.indexing([%a, %b], indexing=\"xy\")", {"i8[2] 1 2", "i8[1] 3"}, "i8[1,2] 1 2; i8[1,2] 3 3"},
      {"aten.constant_pad_nd.default(%a, pad=[1,-1], value=9)", {"i8[3] 1 2 3"}, "i8[3] 9 1 2"},
      {"aten.pad.default(%a, pad=[2,1], mode=\"reflect\")", {"f32[1,3] 1.0 2.0 3.0"}, "f32[1,6] 3 2 1 2 3 2"},
      {"aten.pixel_shuffle.default(%a, upscale_factor=2)", {"i8[4,1,1] 1 2 3 4"}, "i8[1,2,2] 1 2 3 4"},
      {"aten.tril.default(%a, diagonal=-1)", {"i8[2,2] 1 2 3 4"}, "i8[2,2] 0 0 3 0"},
      {"aten.diff.default(%a)", {"i8[3] 1 4 9"}, "i8[2] 3 5"},
      {"aten.as_strided.default(%a, size=[2,2], stride=[1,1])", {"i8[3] 1 2 3"}, "i8[2,2] 1 2 2 3"},
  });
}

TEST_CASE("reductions and scans") {
  CheckAten({
      {"aten.sum.dim_IntList(%a, dim=[-1], keepdim=true)", {"i32[2,2] 1 2 3 4"}, "i64[2,1] 3 7"},
      {"aten.sum.dim_IntList(%a, dim=[])", {"f32[2] 1.0 2.5"}, "f32[] 3.5"},
      {"aten.mean.dim(%a, dim=[0])", {"f32[2,2] 1.0 2.0 3.0 4.0"}, "f32[2] 2 3"},
      {"aten.amax.default(%a, dim=[1])", {"f32[2,2] 1.0 nan 3.0 4.0"}, "f32[2] nan 4"},
      {"aten.max.dim(%a, dim=0)", {"i8[3] 1 5 5"}, "i8[] 5; i64[] 1"},
      {"aten.any.dim(%a, dim=1)", {"i32[2,2] 0 2 0 0"}, "bool[2] true false"},
      {"aten.argmin.default(%a)", {"f32[2,2] 1.0 0.0 3.0 0.0"}, "i64[] 1"},
      {"aten.var.correction(%a, dim=[0], correction=1)", {"f32[3] 1.0 2.0 4.0"}, "f32[] 2.33333"},
      {"aten._softmax.default(%a, dim=0, half_to_float=false)", {"f32[2] 1000.0 1000.0"}, "f32[2] 0.5 0.5"},
      {"aten._log_softmax.default(%a, dim=0, half_to_float=false)", {"f32[2] 0.0 0.0"}, "f32[2] -0.693147 -0.693147"},
      {"aten.cumsum.default(%a, dim=0)", {"i32[3] 1 2 3"}, "i64[3] 1 3 6"},
      {"aten.topk.default(%a, k=2)", {"f32[3] 1.0 3.0 2.0"}, "f32[2] 3 2; i64[2] 1 2"},
      {"aten.sort.default(%a)", {"i8[3] 3 1 2"}, "i8[3] 1 2 3; i64[3] 1 2 0"},
  });
}

TEST_CASE("products and windows") {
  CheckAten({
      {"aten.matmul.default(%a, %b)", {"f32[2] 1.0 2.0", "f32[2] 3.0 4.0"}, "f32[] 11"},
      {"aten.matmul.default(%a, %b)", {"f32[2,1,2] 1.0 2.0 3.0 4.0", "f32[2,1] 1.0 10.0"}, "f32[2,1,1] 21 43"},
      {"aten.mm.default(%a, %b)", {"i64[1,2] 1 2", "i64[2,1] 3 4"}, "i64[1,1] 11"},
      {"aten.mm.default(%a, %b)", {"i8[1,2] 100 2", "i8[2,1] 3 4"}, "i8[1,1] 52"},
      {"aten.linear.default(%a, %b)", {"f32[2,2] 1 2 3 4", "f32[2] 5 6"}, "f32[2] 17 39"},
      {"aten.einsum.default([%a, %b], equation=\"ij,jk\")", {"f32[1,2] 1 2", "f32[2,1] 3 4"}, "f32[1,1] 11"},
      {"aten.einsum.default([%a], equation=\"ii->i\")", {"f32[2,2] 1 2 3 4"}, "f32[2] 1 4"},
      {"aten.outer.default(%a, %b)", {"i32[2] 1 2", "i32[2] 3 4"}, "i32[2,2] 3 4 6 8"},
      {"aten.addmm.default(%a, %b, %c, beta=2)", {"f32[1] 1.0", "f32[1,1] 3.0", "f32[1,1] 4.0"}, "f32[1,1] 14"},
      {"aten.linear.default(%a, %b, %c)",
       {"f32[1,2] 1.0 2.0", "f32[2,2] 1.0 0.0 0.0 1.0", "f32[2] 10.0 20.0"},
       "f32[1,2] 11 22"},
      {"aten.conv2d.default(%a, %b, none, stride=[1,1], padding=[0,1])",
       {"f32[1,1,1,3] 1.0 2.0 3.0", "f32[1,1,1,3] 1.0 1.0 1.0"},
       "f32[1,1,1,3] 3 6 5"},
      {"aten.conv2d.default(%a, %b, groups=2)",
       {"f32[1,2,1,1] 2.0 3.0", "f32[4,1,1,1] 1.0 10.0 100.0 1000.0"},
       "f32[1,4,1,1] 2 20 300 3000"},
      {"aten.conv_transpose2d.input(%a, %b, none, stride=[1,2])",
       {"f32[1,1,1,2] 1.0 10.0", "f32[1,1,1,3] 1.0 2.0 3.0"},
       "f32[1,1,1,5] 1 2 13 20 30"},
      {"aten.avg_pool2d.default(%a, kernel_size=[1,2], stride=[1,1], padding=[0,1])",
       {"f32[1,1,2] 2.0 4.0"},
       "f32[1,1,3] 1 3 2"},
      {"aten.avg_pool2d.default(%a, kernel_size=[1,2], stride=[1,1], padding=[0,1], count_include_pad=false)",
       {"f32[1,1,2] 2.0 4.0"},
       "f32[1,1,3] 2 3 4"},
      {"aten.max_pool2d_with_indices.default(%a, kernel_size=[1,2], stride=[1,2], ceil_mode=true)",
       {"f32[1,1,3] 1.0 5.0 2.0"},
       "f32[1,1,2] 5 2; i64[1,1,2] 1 2"},
      {"aten.adaptive_avg_pool2d.default(%a, output_size=[1,2])", {"f32[1,1,3] 1.0 2.0 6.0"}, "f32[1,1,2] 1.5 4"},
      {"aten.upsample_bilinear2d.vec(%a, output_size=[1,4], align_corners=false, scale_factors=none)",
       {"f32[1,1,1,2] 1.0 3.0"},
       "f32[1,1,1,4] 1 1.5 2.5 3"},
      {"aten.layer_norm.default(%a, normalized_shape=[2], eps=0.0)", {"f32[1,2] 1.0 3.0"}, "f32[1,2] -1 1"},
      {"aten.scaled_dot_product_attention.default(%a, %b, %c, is_causal=true)",
       {"f32[2,1] 1.0 1.0", "f32[2,1] 1.0 1.0", "f32[2,1] 1.0 3.0"},
       "f32[2,1] 1 2"},
  });
}

TEST_CASE("borders, writes, patterns, statistics of a batch") {
  CheckAten({
      {"aten.slice_copy.Tensor(%a, dim=0, start=1, end=9223372036854775807, step=9223372036854775807)",
       {"i8[3,2] 0 1 2 3 4 5"},
       "i8[1,2] 2 3"},
      {"aten.reflection_pad1d.default(%a, padding=[2,1])",
       {"f32[2,3] 0.0 1.0 2.0 3.0 4.0 5.0"},
       "f32[2,6] 2 1 0 1 2 1 5 4 3 4 5 4"},
      {"aten.replication_pad1d.default(%a, padding=[2,1])", {"i8[2,3] 0 1 2 3 4 5"}, "i8[2,6] 0 0 0 1 2 2 3 3 3 4 5 5"},
      {"aten.reflection_pad2d.default(%a, padding=[1,-1,1,1])",
       {"i8[1,2,3] 0 1 2 3 4 5"},
       "i8[1,4,3] 4 3 4 1 0 1 4 3 4 1 0 1"},
      {"aten.diag.default(%a, diagonal=-1)", {"i8[2] 1 2"}, "i8[3,3] 0 0 0 1 0 0 0 2 0"},
      {"aten.diag.default(%a, diagonal=1)", {"i8[2,3] 0 1 2 3 4 5"}, "i8[2] 1 5"},
      {"aten.trace.default(%a)", {"i32[2,3] 0 1 2 3 4 5"}, "i64[] 4"},
      {"aten.numpy_T.default(%a)", {"i8[2,1] 1 2"}, "i8[1,2] 1 2"},
      {"aten.fill.Scalar(%a, value=7)", {"i8[2] 1 2"}, "i8[2] 7 7"},
      {"aten.copy.default(%a, src=%b)", {"i8[2] 1 2", "f32[1] 3.5"}, "i8[2] 3 3"},
      {"aten.zero.default(%a)", {"f32[2] 1.0 2.0"}, "f32[2] 0 0"},
      {"aten.cosine_similarity.default(x1=%a, x2=%b, dim=1)",
       {"f32[2,2] 3.0 4.0 1.0 0.0", "f32[1,2] 4.0 3.0"},
       "f32[2] 0.96 0.8"},
      {"aten._native_batch_norm_legit_functional.default(%a, none, none, %b, %c, training=true, momentum=0.5, eps=0.0)",
       {"f32[2,2] 1.0 2.0 3.0 6.0", "f32[2] 0.0 1.0", "f32[2] 1.0 1.0"},
       "f32[2,2] -1 -1 1 1; f32[2] 2 4; f32[2] 1 0.5; f32[2] 1 2.5; f32[2] 1.5 4.5"},
      {"aten._native_batch_norm_legit_functional.default(%a, none, none, %b, %c, training=false, momentum=0.5, "
       "eps=0.0)",
       {"f32[1,2] 1.0 2.0", "f32[2] 0.0 1.0", "f32[2] 1.0 4.0"},
       "f32[1,2] 1 0.5; f32[0]; f32[0]; f32[2] 0 1; f32[2] 1 4"},
  });
}

TEST_CASE("indices") {
  CheckAten({
      {"aten.embedding.default(%a, %b)", {"f32[2,2] 1.0 2.0 3.0 4.0", "i64[3] 1 0 1"}, "f32[3,2] 3 4 1 2 3 4"},
      {"aten.index.Tensor(%a, [%b, none])", {"i8[2,2] 1 2 3 4", "i64[1] -1"}, "i8[1,2] 3 4"},
      {"aten.index.Tensor(%a, [none, %b])", {"i8[2,2] 1 2 3 4", "i64[3] 0 1 0"}, "i8[2,3] 1 2 1 3 4 3"},
      {"aten.index.Tensor(%a, [%b, %c])", {"i8[2,2] 1 2 3 4", "i64[2,1] 0 1", "i64[2] 1 0"}, "i8[2,2] 2 1 4 3"},
      {"aten.index.Tensor(%a, [%b])", {"i8[2] 1 2", "i64[1] 2"}, "error: eval_c15"},
      {"aten.index_put.default(%a, [%b], %c)", {"i8[3] 1 2 3", "i64[2] 0 2", "i8[1] 9"}, "i8[3] 9 2 9"},
      {"aten.index_put.default(%a, [none, %b], %c, accumulate=true)",
       {"i8[2,2] 1 2 3 4", "i64[2] 0 0", "i8[2] 10 20"},
       "i8[2,2] 31 2 33 4"},
      {"aten.gather.default(%a, dim=1, %b)", {"i8[2,2] 1 2 3 4", "i64[2,1] 1 0"}, "i8[2,1] 2 3"},
      {"aten.gather.default(%a, dim=1, %b)", {"i8[2,2] 1 2 3 4", "i32[2,1] 1 0"}, "i8[2,1] 2 3"},
      {"aten.scatter_add.default(%a, dim=0, %b, %c)",
       {"i32[2] 1 2", "i64[3] 0 0 1", "i32[3] 10 20 30"},
       "i32[2] 31 32"},
      {"aten.masked_fill.Scalar(%a, %b, value=7)", {"i8[2] 1 2", "bool[2] true false"}, "i8[2] 7 2"},
      {"aten.index_select.default(%a, dim=0, %b)", {"i8[2] 1 2", "i64[2] 1 1"}, "i8[2] 2 2"},
  });
}

TEST_CASE("quantisation rounds to even in f32 and keeps within its bounds") {
  CheckAten({
      {"quantized_decomposed.quantize_per_tensor.default(%a, scale=0.5, zero_point=1, quant_min=-128, quant_max=127, "
       "dtype=i8)",
       {"f32[6] 0.25 0.75 -0.25 100.0 -100.0 nan"},
       "i8[6] 1 3 1 127 -128 0"},
      {"quantized_decomposed.quantize_per_tensor.default(%a, scale=0.0078125, zero_point=0, quant_min=-128, "
       "quant_max=127, dtype=i8)",  // G11
       {"f32[7] -1.0 0.0 0.25 1.0 0.00390625 0.01171875 -0.00390625"},
       "i8[7] -128 0 32 127 0 2 0"},
      {"quantized_decomposed.dequantize_per_tensor.default(%a, scale=0.5, zero_point=1, quant_min=-128, quant_max=127, "
       "dtype=i8)",
       {"i8[2] 1 -128"},
       "f32[2] 0 -64.5"},
      {"quantized_decomposed.dequantize_per_channel.default(%a, %b, %c, axis=1, quant_min=-127, quant_max=127, "
       "dtype=i8)",
       {"i8[2,2] 1 2 3 4", "f32[2] 1.0 10.0", "i64[2] 0 1"},
       "f32[2,2] 1 10 3 30"},
      {"quantized_decomposed.quantize_per_channel.default(%a, %b, %c, axis=0, quant_min=-127, quant_max=127, dtype=i8)",
       {"f32[2,1] 10.0 10.0", "f32[2] 1.0 2.0", "i64[2] 0 0"},
       "i8[2,1] 10 5"},
  });
}

TEST_CASE("mutation is seen by all names of a storage, or refused") {
  CHECK_EQ(RunProgram(R"(graph main(%x: f32[2]) {
  %c = aten.clone.default(%x)
  %y = aten.relu_.default(%c)
  %z = aten.add.Tensor(%c, %y)
  return %z
})",
                      {"f32[2] -1.0 2.0"}, ""),
           "f32[2] 0 4");
  CHECK_EQ(RunProgram(R"(graph main(%x: f32[2]) {
  %c = aten.clone.default(%x)
  %v = aten.view.default(%c, size=[2,1])
  %y = aten.relu_.default(%c)
  return %v, %y
})",
                      {"f32[2] -1.0 2.0"}, ""),
           "error: eval_c11");
}

TEST_CASE("what cannot be evaluated is named") {
  CHECK_EQ(RunCall("aten.complex.default(%a, %b)", {"f32[1] 1.0", "f32[1] 1.0"}, ""), "error: eval_c10");
  CHECK_EQ(RunCall("aten.relu.default(%a)", {"f32[2] 1.0 2.0", "f32[1] 1.0"}, ""), "f32[2] 1 2");
}
