#include "lower_programs.h"

#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "programs.h"

namespace tare::bench {
namespace {

// Heads of graphs and their lines; "@" stands for the number of the layer, "^" for the one before.
struct LayerText {
  absl::string_view parameters, lines, input, output;
};

constexpr LayerText kTransformer = {
    R"(%nw@: f32[32] = parameter "n@.w", %nb@: f32[32] = parameter "n@.b", %mw@: f32[32] = parameter "m@.w",
%mb@: f32[32] = parameter "m@.b", %qw@: f32[32,32] = parameter "q@.w", %kw@: f32[32,32] = parameter "k@.w",
%vw@: f32[32,32] = parameter "v@.w", %ow@: f32[32,32] = parameter "o@.w", %ob@: f32[32] = parameter "o@.b",
%fw@: f32[128,32] = parameter "f@.w", %fb@: f32[128] = parameter "f@.b", %gw@: f32[32,128] = parameter "g@.w",
%gb@: f32[32] = parameter "g@.b",
)",
    R"(  %n@ = aten.layer_norm.default(%x^, normalized_shape=[32], %nw@, %nb@)
  %q@ = aten.linear.default(%n@, %qw@)
  %k@ = aten.linear.default(%n@, %kw@)
  %v@ = aten.linear.default(%n@, %vw@)
  %qv@ = aten.view.default(%q@, size=[1,16,4,8])
  %kv@ = aten.view.default(%k@, size=[1,16,4,8])
  %vv@ = aten.view.default(%v@, size=[1,16,4,8])
  %qt@ = aten.transpose.int(%qv@, dim0=1, dim1=2)
  %kt@ = aten.transpose.int(%kv@, dim0=1, dim1=2)
  %vt@ = aten.transpose.int(%vv@, dim0=1, dim1=2)
  %ks@ = aten.transpose.int(%kt@, dim0=-2, dim1=-1)
  %s@ = aten.matmul.default(%qt@, %ks@)
  %d@ = aten.div.Tensor(%s@, 2.8284271247461903)
  %p@ = aten.softmax.int(%d@, dim=-1)
  %a@ = aten.matmul.default(%p@, %vt@)
  %at@ = aten.transpose.int(%a@, dim0=1, dim1=2)
  %ar@ = aten.reshape.default(%at@, shape=[1,16,32])
  %o@ = aten.linear.default(%ar@, %ow@, %ob@)
  %r@ = aten.add.Tensor(%x^, %o@)
  %m@ = aten.layer_norm.default(%r@, normalized_shape=[32], %mw@, %mb@)
  %f@ = aten.linear.default(%m@, %fw@, %fb@)
  %h@ = aten.gelu.default(%f@)
  %g@ = aten.linear.default(%h@, %gw@, %gb@)
  %x@ = aten.add.Tensor(%r@, %g@)
)",
    "%x0: f32[1,16,32]", "%x"};

constexpr LayerText kQuantized = {
    R"(%w@: i8[16,16,1,1] = buffer "w@", %b@: i32[16] = buffer "b@",
)",
    R"(  %d@ = quantized_decomposed.dequantize_per_tensor.default(%x^, scale=0.05, zero_point=3, quant_min=-128, quant_max=127, dtype=i8)
  %dw@ = quantized_decomposed.dequantize_per_tensor.default(%w@, scale=0.02, zero_point=0, quant_min=-127, quant_max=127, dtype=i8)
  %db@ = quantized_decomposed.dequantize_per_tensor.default(%b@, scale=0.001, zero_point=0, quant_min=-2147483647, quant_max=2147483647, dtype=i32)
  %c@ = aten.conv2d.default(%d@, %dw@, %db@)
  %r@ = aten.relu.default(%c@)
  %x@ = quantized_decomposed.quantize_per_tensor.default(%r@, scale=0.05, zero_point=3, quant_min=-128, quant_max=127, dtype=i8)
)",
    "%x0: i8[1,16,8,8]", "%x"};

// Distinct bytes for each constant: small integers, floats in (-0.1, 0.1).
void FillConstants(Program& program) {
  uint32_t state = 1;
  for (Constant& constant : program.constants) {
    const TensorMeta& meta = program.context->metas.Get(constant.meta).tensor;
    size_t elements = 1;
    for (const Dim dim : meta.shape) elements *= static_cast<size_t>(dim.value());
    const size_t width = static_cast<size_t>(BytesOf(meta.dtype));
    auto bytes = std::make_shared<std::vector<std::byte>>(elements * width);
    for (size_t i = 0; i < elements; ++i) {
      state = state * 1664525 + 1013904223;
      const int32_t small = static_cast<int32_t>(state >> 24) - 128;
      const float real = static_cast<float>(small) * 7e-4F;
      if (IsFloating(meta.dtype)) {
        std::memcpy(bytes->data() + i * width, &real, width);
      } else {
        std::memcpy(bytes->data() + i * width, &small, width);
      }
    }
    constant.payload.bytes = *bytes;
    constant.payload.owner = std::move(bytes);
  }
}

Program MakeLayers(Context& context, const LayerText& text, int layers) {
  std::string head = "graph main(", body;
  for (int i = 1; i <= layers; ++i) {
    const std::string now = absl::StrCat(i), before = absl::StrCat(i - 1);
    const auto fill = [&](absl::string_view lines) { return absl::StrReplaceAll(lines, {{"@", now}, {"^", before}}); };
    head += fill(text.parameters);
    body += fill(text.lines);
  }
  Program program =
      ParseOrDie(context, absl::StrCat(head, text.input, ") {\n", body, "  return ", text.output, layers, "\n}\n"));
  FillConstants(program);
  return program;
}

}  // namespace

Program MakeTransformer(Context& context, int layers) { return MakeLayers(context, kTransformer, layers); }
Program MakeQuantizedChain(Context& context, int layers) { return MakeLayers(context, kQuantized, layers); }

}  // namespace tare::bench
