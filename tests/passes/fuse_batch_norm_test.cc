// Folded weights give the numbers of convolution and norm one after the other.
#include <cmath>

#include "meta/op_names.h"
#include "passes/constant_values.h"
#include "passes_fixture.h"

namespace tare {
namespace {

std::vector<float> Fill(size_t count, float seed) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = 0.5f + std::sin(seed + static_cast<float>(i) * 1.7f) * 0.4f;
  return values;
}

// y[o] = sum over i, k of w[o, i / groups' share, k] * x[i, k]: one output pixel of a convolution whose
// kernel covers its input; transposed ones sum over the inputs of the pixel likewise.
TEST_CASE("a folded convolution equals convolution and norm") {
  struct Case {
    std::string_view conv;
    int outputs, inputs_per_group, groups;
    bool transposed;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"aten.conv2d.default(%x, %w, groups=1)", 4, 3, 1, false},
           {"aten.conv2d.default(%x, %w, groups=2)", 4, 3, 2, false},
           {"aten.conv_transpose2d.input(%x, %w, groups=2)", 4, 3, 2, true},
       }) {
    PassesFixture fixture;
    const int inputs = c.inputs_per_group * c.groups, kernel = 4;
    const int first = c.transposed ? inputs : c.outputs,
              second = c.transposed ? c.outputs / c.groups : c.inputs_per_group;
    const std::string spatial = c.transposed ? "1,1" : "2,2", result = c.transposed ? "2,2" : "1,1";
    const std::string o = std::to_string(c.outputs);
    const std::string text = "graph main(%w: f32[" + std::to_string(first) + "," + std::to_string(second) +
                             ",2,2] = parameter \"w\", %g: f32[" + o + "] = parameter \"g\", %b: f32[" + o +
                             "] = parameter \"b\", %m: f32[" + o + "] = buffer \"m\", %v: f32[" + o +
                             "] = buffer \"v\", %x: f32[1," + std::to_string(inputs) + "," + spatial +
                             "]) {\n  %c = " + std::string(c.conv) + " : f32[1," + o + "," + result +
                             "]\n  %n = aten.batch_norm.default(%c, %g, %b, %m, %v, training=false, momentum=0.1, "
                             "eps=0.001, cudnn_enabled=true) : f32[1," +
                             o + "," + result + "]\n  return %n\n}\n";
    Program program = fixture.Parse(text);
    std::vector<std::vector<float>> values;
    for (size_t i = 0; i < program.constants.size(); ++i) {
      int64_t count = 1;
      for (const Dim dim : fixture.context->metas.Get(program.constants[i].meta).tensor.shape) count *= dim.value();
      auto owner = std::make_shared<std::vector<float>>(Fill(static_cast<size_t>(count), static_cast<float>(i)));
      values.push_back(*owner);
      program.constants[i].payload.bytes = std::as_bytes(std::span<const float>(*owner));
      program.constants[i].payload.owner = owner;
      program.constants[i].payload.missing = false;
    }
    const auto inferrer = fixture.NewInferrer(program);
    const Pass pass = fixture.Make("fuse-batch-norm");
    const auto stats = RunPasses(program, *inferrer, {&pass, 1});
    REQUIRE_MESSAGE(stats.ok(), stats.status().ToString());
    REQUIRE_EQ(program.constants.size(), 7);
    const auto weight = ReadFloats(*fixture.context, program.constants[5]);
    const auto bias = ReadFloats(*fixture.context, program.constants[6]);
    REQUIRE((weight.has_value() && bias.has_value()));

    const std::vector<float> x = Fill(static_cast<size_t>(inputs * kernel), 9);
    const int outputs_per_group = c.outputs / c.groups;
    for (int out = 0; out < c.outputs; ++out) {
      const int group = out / outputs_per_group;
      double before = 0, after = (*bias)[static_cast<size_t>(out)];
      for (int i = 0; i < c.inputs_per_group; ++i) {
        const int in = group * c.inputs_per_group + i;
        for (int k = 0; k < kernel; ++k) {
          const int at =
              c.transposed ? (in * second + out % outputs_per_group) * kernel + k : (out * second + i) * kernel + k;
          before += static_cast<double>(values[0][static_cast<size_t>(at)]) * x[static_cast<size_t>(in * kernel + k)];
          after += (*weight)[static_cast<size_t>(at)] * x[static_cast<size_t>(in * kernel + k)];
        }
      }
      const size_t channel = static_cast<size_t>(out);
      const double want = (before - values[3][channel]) / std::sqrt(values[4][channel] + 0.001) * values[1][channel] +
                          values[2][channel];
      CHECK(std::abs(after - want) <= 1e-5 * std::max(1.0, std::abs(want)));
    }
  }
}

}  // namespace
}  // namespace tare
