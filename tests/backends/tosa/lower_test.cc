// Whole programs to TOSA: what is left, in which ops, with which edge.
#include "backends/tosa/lower.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>

#include "../../test_files.h"
#include "absl/strings/str_cat.h"
#include "backends/tosa/factors.h"
#include "backends/tosa/partition.h"
#include "backends/tosa/summary.h"
#include "backends/tosa/write.h"
#include "doctest/doctest.h"
#include "formats/program_file.h"
#include "ir/text.h"
#include "meta/context_factory.h"

namespace tare {
namespace {

struct Lowered {
  std::unique_ptr<Context> context = MakeContext();
  Program program;
  LowerResult result;
  LowerSummary summary;
};

Lowered LowerFile(const std::string& file, std::string_view target) {
  Lowered lowered;
  absl::StatusOr<Program> program = ReadProgramFile(*lowered.context, file);
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  lowered.program = *std::move(program);
  const absl::StatusOr<TosaTarget> found = FindTosaTarget(target);
  REQUIRE_MESSAGE(found.ok(), found.status().ToString());
  RunOptions options;
  options.verify = VerifyWhat::kAll;
  options.check_meta = true;
  absl::StatusOr<LowerResult> result = LowerToTosa(lowered.program, *found, options);
  REQUIRE_MESSAGE(result.ok(), result.status().ToString());
  lowered.result = *std::move(result);
  lowered.summary = Summarize(lowered.program);
  return lowered;
}

std::string OpsText(const LowerSummary& summary) {
  std::string text;
  for (const auto& [kind, count] : summary.ops)
    if (kind != "CONST") absl::StrAppend(&text, kind, " ", count, " ");
  return text;
}

TEST_CASE("quantised networks become whole TOSA programs") {
  struct Case {
    std::string_view file, target, ops;
  };
  for (const auto& [file, target, ops] : std::initializer_list<Case>{
           {"ds_cnn/int8.pt2", "tosa-1.0+int",
            "AVG_POOL2D 1 CONV2D 5 DEPTHWISE_CONV2D 5 RESCALE 10 RESHAPE 2 SLICE 1 "},
           {"ds_cnn/int8_core.pt2", "tosa-1.0+int",
            "AVG_POOL2D 1 CONV2D 5 DEPTHWISE_CONV2D 5 RESCALE 10 RESHAPE 2 SLICE 1 "},
           {"resnet8/int8_core.pt2", "tosa-1.0+int",
            "ADD 3 AVG_POOL2D 1 CLAMP 3 CONV2D 10 RESCALE 19 RESHAPE 1 SLICE 2 TRANSPOSE 1 "},
           {"mobilenet_v2_035/int8.pt2", "tosa-1.0+int",
            "ADD 11 AVG_POOL2D 1 CONV2D 36 DEPTHWISE_CONV2D 17 RESCALE 86 RESHAPE 1 TRANSPOSE 1 "},
       }) {
    CAPTURE(file);
    const Lowered lowered = LowerFile(SourcePath(absl::StrCat("tests/data/nets/", std::string(file))).string(), target);
    for (const Outside& outside : lowered.result.outside)
      MESSAGE(lowered.program.main().NameOf(outside.node) << " " << outside.why);
    CHECK(lowered.result.outside.empty());
    CHECK_EQ(OpsText(lowered.summary), ops);
    REQUIRE_EQ(lowered.summary.inputs.size(), 1);
    REQUIRE_EQ(lowered.summary.outputs.size(), 1);
    CHECK_EQ(lowered.summary.inputs[0].q.size(), 1);
    CHECK_EQ(lowered.summary.outputs[0].q.size(), 1);
  }
}

// A program in text, after lowering.
std::string LoweredText(std::string_view text, std::string_view target) {
  const std::unique_ptr<Context> context = MakeContext();
  absl::StatusOr<Program> program = ParseProgram(*context, text);
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  RunOptions options;
  options.verify = VerifyWhat::kAll;
  options.check_meta = true;
  const absl::StatusOr<LowerResult> result = LowerToTosa(*program, *FindTosaTarget(target), options);
  REQUIRE_MESSAGE(result.ok(), result.status().ToString());
  return PrintProgram(*context, *program);
}

TEST_CASE("calls that are not what the file states of them are left") {
  // Each would lead a pass astray that believes it.
  for (const std::string_view call :
       {"aten.softmax.int(%x, dim=77) : f32[2,4]", "aten.cat.default([%x, %x], dim=50) : f32[4,4]",
        "aten.stack.default([%x, %x], dim=-50) : f32[2,2,4]", "aten.roll.default(%x, shifts=[1], dims=[9]) : f32[2,4]",
        "aten.slice_scatter.default(%x, %x, dim=0, start=0, end=2, step=0) : f32[2,4]",
        "aten.eye.default(n=5) : f32[3]", "aten.sum.dim_IntList(%x, dim=[-99]) : f32[2,1]",
        "aten.add.Tensor(%x, %x) : f32[9,9]"}) {
    const std::string body =
        absl::StrCat("graph main(%x: f32[2,4]) {\n  %y = ", absl::string_view(call.data(), call.size()),
                     "\n  %z = aten.abs.default(%x) : f32[2,4]\n  return %y, %z\n}\n");
    const std::unique_ptr<Context> context = MakeContext();
    absl::StatusOr<Program> program = ParseProgram(*context, body);
    REQUIRE_MESSAGE(program.ok(), program.status().ToString());
    const absl::StatusOr<LowerResult> result = LowerToTosa(*program, *FindTosaTarget("tosa-1.0+fp"));
    REQUIRE_MESSAGE(result.ok(), result.status().ToString());
    CAPTURE(body);
    REQUIRE_EQ(result->outside.size(), 1);
    CHECK_EQ(program->main().NameOf(result->outside[0].node), "y");
    CHECK_EQ(OpsText(Summarize(*program)), "ABS 1 ");
  }
}

TEST_CASE("a range of one code") {
  const std::string text = LoweredText(R"(graph main(%x: i8[2,3]) {
  %d = quantized_decomposed.dequantize_per_tensor.default(%x, scale=0.01, zero_point=0, quant_min=0, quant_max=0, dtype=i8) : f32[2,3]
  %y = aten.sum.dim_IntList(%d, dim=[1]) : f32[2]
  %q = quantized_decomposed.quantize_per_tensor.default(%y, scale=0.05, zero_point=0, quant_min=-128, quant_max=127, dtype=i8) : i8[2]
  return %q
})",
                                       "tosa-1.0+int");
  CHECK_MESSAGE(text.find("REDUCE_SUM") != std::string::npos, text);
}

TEST_CASE("writes to inputs become results") {
  // Each reads what the input is at its place; the last value is written back.
  const std::string text = LoweredText(R"(graph main(%x: f32[2], %y: f32[2]) {
  %a = aten.abs.default(%x) : f32[2]
  %b = aten.mul_.Tensor(%x, %y) : f32[2]
  %c = aten.add_.Tensor(%x, %b) : f32[2]
  %d = aten.add.Tensor(%a, %x) : f32[2]
  return %b, %d
})",
                                       "tosa-1.0+fp");
  CHECK_MESSAGE(text.find("%MUL = tosa.MUL.default(%x, %y)") != std::string::npos, text);
  CHECK_MESSAGE(text.find("%ADD = tosa.ADD.default(%MUL, %MUL)") != std::string::npos, text);
  CHECK_MESSAGE(text.find("return %ADD -> input \"x\", %ADD, %ADD_1") != std::string::npos, text);
  // A view from before a write sees it.
  const std::string viewed = LoweredText(R"(graph main(%x: f32[2]) {
  %v = aten.view.default(%x, size=[2,1]) : f32[2,1]
  %b = aten.mul_.Tensor(%x, %x) : f32[2]
  return %v, %b
})",
                                         "tosa-1.0+fp");
  CHECK_MESSAGE(viewed.find("aten.mul_.Tensor") != std::string::npos, viewed);
  // One that is read before does not, be it for the write.
  const std::string shifted = LoweredText(R"(graph main(%x: f32[4], %y: f32[1]) {
  %v = aten.slice.Tensor(%x, dim=0, start=1) : f32[3]{1}@1
  %b = aten.cat.default([%v, %y]) : f32[4]
  %c = aten.copy_.default(%x, %b) : f32[4]
  %d = aten.abs.default(%x) : f32[4]
  return %d
})",
                                          "tosa-1.0+fp");
  CHECK_MESSAGE(shifted.find("return %CONCAT -> input \"x\", %ABS") != std::string::npos, shifted);
}

TEST_CASE("float networks become whole TOSA programs") {
  struct Case {
    std::string_view file, ops;
  };
  for (const auto& [file, ops] : std::initializer_list<Case>{
           {"ds_cnn/train.pt2", "AVG_POOL2D 1 CLAMP 9 CONV2D 5 DEPTHWISE_CONV2D 5 RESHAPE 2 SLICE 1 "},
           {"ds_cnn/core.pt2", "AVG_POOL2D 1 CLAMP 9 CONV2D 5 DEPTHWISE_CONV2D 5 RESHAPE 2 SLICE 1 "},
           {"gru/train.pt2",
            "ADD 48 CONCAT 2 CONV2D 17 MUL 32 RESHAPE 4 SIGMOID 16 SLICE 93 SUB 16 TANH 16 TRANSPOSE 1 "},
           {"lstm/train.pt2", "ADD 48 CONCAT 2 CONV2D 25 MUL 72 RESHAPE 4 SIGMOID 72 SLICE 121 TANH 48 "},
           {"llama_mini/train.pt2",
            "ADD 22 CONCAT 6 CONV2D 22 EXP 3 GATHER 1 MATMUL 6 MUL 52 NEGATE 6 RECIPROCAL 3 REDUCE_MAX 3 REDUCE_SUM 10 "
            "RESHAPE 56 RSQRT 7 SIGMOID 3 SLICE 12 SUB 3 TILE 6 TRANSPOSE 15 "},
           {"swin/train.pt2",
            "ADD 39 CONCAT 5 CONV2D 27 EQUAL 2 ERF 4 EXP 4 LOGICAL_NOT 2 MATMUL 8 MUL 76 PAD 3 RECIPROCAL 4 REDUCE_ANY "
            "1 REDUCE_MAX 4 REDUCE_SUM 27 RESHAPE 86 RSQRT 11 SELECT 3 SLICE 17 SUB 16 TRANSPOSE 21 "},
           {"super_resolution/train.pt2",
            "ADD 1 CLAMP 1 CONV2D 2 DEPTHWISE_CONV2D 1 GREATER 1 MUL 1 RESHAPE 4 RESIZE 1 SELECT 1 TANH 1 TRANSPOSE "
            "1 "},
           {"tiny_attention/core.pt2",
            "ADD 14 CONV2D 8 ERF 2 EXP 2 MATMUL 4 MUL 30 RECIPROCAL 2 REDUCE_MAX 2 REDUCE_SUM 10 RESHAPE 30 RSQRT 4 "
            "SLICE 6 SUB 6 TRANSPOSE 6 "},
           {"unet/core.pt2",
            "CONCAT 2 CONV2D 11 EXP 1 MAXIMUM 10 MAX_POOL2D 2 MUL 11 RECIPROCAL 1 REDUCE_MAX 1 REDUCE_SUM 1 SUB 1 "
            "TRANSPOSE 2 TRANSPOSE_CONV2D 2 "},
       }) {
    CAPTURE(file);
    const Lowered lowered =
        LowerFile(SourcePath(absl::StrCat("tests/data/nets/", std::string(file))).string(), "tosa-1.0+fp");
    for (const Outside& outside : lowered.result.outside)
      MESSAGE(lowered.program.main().NameOf(outside.node) << " " << outside.why);
    CHECK(lowered.result.outside.empty());
    CHECK_EQ(OpsText(lowered.summary), ops);
  }
}

// Lowers a text whole and gives what is left outside, "%name check_id" a line.
std::string OutsideOf(std::string_view text, std::string_view target) {
  const std::unique_ptr<Context> context = MakeContext();
  absl::StatusOr<Program> program = ParseProgram(*context, text);
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  const absl::StatusOr<LowerResult> result = LowerToTosa(*program, *FindTosaTarget(target));
  REQUIRE_MESSAGE(result.ok(), result.status().ToString());
  std::string lines;
  for (const Outside& outside : result->outside)
    absl::StrAppend(&lines, outside.check_id, " ",
                    std::string(program->context->ops.Name(program->main().op(outside.node))), "\n");
  return lines;
}

TEST_CASE("what cannot be lowered is named") {
  constexpr std::string_view kFloat = R"(graph main(%x: f32[2,3]) {
  %y = aten.relu.default(%x) : f32[2,3]
  return %y
})";
  CHECK_EQ(OutsideOf(kFloat, "tosa-1.0+int"), "tosa_legal_c4 aten.clamp.default\n");
  CHECK_EQ(OutsideOf(kFloat, "tosa-1.0+fp"), "");
  CHECK_EQ(OutsideOf(R"(graph main(%x: f32[s0,3]) {
  %y = aten.relu.default(%x) : f32[s0,3]
  return %y
})",
                     "tosa-1.0+int"),
           "tosa_legal_c2 aten.clamp.default\n");
}

TEST_CASE("what Ethos-U55 cannot run is named") {
  constexpr std::string_view kResize = R"(graph main(%x: i8[1,2,4,4]) {
  %d = quantized_decomposed.dequantize_per_tensor.default(%x, scale=0.5, zero_point=-3, quant_min=-128, quant_max=127, dtype=i8) : f32[1,2,4,4]
  %y = aten.upsample_bilinear2d.vec(%d, output_size=[8,8], align_corners=false, scale_factors=none) : f32[1,2,8,8]
  %q = quantized_decomposed.quantize_per_tensor.default(%y, scale=0.5, zero_point=-3, quant_min=-128, quant_max=127, dtype=i8) : i8[1,2,8,8]
  return %q
})";
  // The op stays with the conversions around it, rather than its lowering without them.
  CHECK_EQ(OutsideOf(kResize, "ethos-u55-128"),
           "tosa_legal_c9 quantized_decomposed.dequantize_per_tensor.default\n"
           "ethos_u_c8 aten.upsample_bilinear2d.vec\n"
           "tosa_legal_c9 quantized_decomposed.quantize_per_tensor.default\n");
  CHECK_EQ(OutsideOf(kResize, "ethos-u85-256"), "");
}

TEST_CASE("regions do not depend on their own results") {
  const std::unique_ptr<Context> context = MakeContext();
  absl::StatusOr<Program> program = ParseProgram(*context, R"(graph main(%x: f32[2,3]) {
  %a = aten.relu.default(%x) : f32[2,3]
  %b = aten.special_bessel_j0.default(%a) : f32[2,3]
  %c = aten.add.Tensor(%a, %b) : f32[2,3]
  return %c, %b
})");
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  const absl::StatusOr<LowerResult> result = LowerToTosa(*program, *FindTosaTarget("tosa-1.0+fp"));
  REQUIRE_MESSAGE(result.ok(), result.status().ToString());
  const absl::StatusOr<std::vector<Part>> parts = PartitionProgram(*program, result->outside);
  REQUIRE_MESSAGE(parts.ok(), parts.status().ToString());
  REQUIRE_EQ(parts->size(), 3);
  CHECK((*parts)[0].tosa);
  CHECK_EQ((*parts)[0].nodes.size(), 1);
  CHECK_EQ((*parts)[0].outputs.size(), 1);
  CHECK_FALSE((*parts)[1].tosa);
  CHECK_EQ((*parts)[1].nodes.size(), 1);
  CHECK_EQ((*parts)[1].inputs.size(), 1);
  CHECK_EQ((*parts)[2].inputs.size(), 2);
  const absl::StatusOr<Program> part = ExtractPart(*program, (*parts)[2]);
  REQUIRE_MESSAGE(part.ok(), part.status().ToString());
  CHECK_EQ(PrintProgram(*context, *part), R"(graph main(%CLAMP: f32[2,3], %b: f32[2,3]) {
  %ADD = tosa.ADD.default(%CLAMP, %b) : f32[2,3]
  return %ADD
}
)");
}

TEST_CASE("C14: the bytes of a lowering depend on program and target alone, whatever thread does it") {
  const std::string file = SourcePath("tests/data/nets/ds_cnn/int8.pt2").string();
  const std::unique_ptr<Context> shared_context = MakeContext();
  constexpr size_t kTimes = 20, kThreads = 8;
  std::vector<std::string> written(kTimes);
  const auto lower = [&](size_t first, size_t step) {
    for (size_t i = first; i < kTimes; i += step) {
      const std::unique_ptr<Context> own_context = MakeContext();
      Context& context = i % 4 == 0 ? *shared_context : *own_context;
      Program program = ReadProgramFile(context, file).value();
      if (LowerToTosa(program, FindTosaTarget("ethos-u55-128").value()).ok()) written[i] = WriteTosa(program).value();
    }
  };
  lower(0, 7);  // alone
  std::vector<std::thread> threads;
  for (size_t k = 0; k < kThreads; ++k) threads.emplace_back([&, k] { lower(k, kThreads); });
  for (std::thread& thread : threads) thread.join();
  CHECK_GT(written[0].size(), 1000);
  for (const std::string& one : written) CHECK(one == written[0]);
}

// Where each element of the source comes to lie: the slow twin of Factors.
std::vector<int64_t> Transposed(const std::vector<int64_t>& elements, const std::vector<int64_t>& shape,
                                const std::vector<int64_t>& perms) {
  std::vector<int64_t> strides(shape.size(), 1), moved;
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t n = 0; n < elements.size(); ++n) {
    int64_t at = 0;
    for (size_t i = 0; i < perms.size(); ++i) at += index[i] * strides[perms[i]];
    moved.push_back(elements[at]);
    for (size_t i = perms.size(); i-- > 0;) {
      if (++index[i] < shape[perms[i]]) break;
      index[i] = 0;
    }
  }
  return moved;
}

TEST_CASE("chains of reshapes and transpositions are followed in shared dims") {
  std::mt19937 random(1);
  const std::vector<int64_t> shapes[] = {{2, 3, 4}, {24},         {6, 4}, {4, 1, 6},
                                         {2, 12},   {3, 2, 2, 2}, {8, 3}, {1, 4, 3, 2, 1}};
  int followed = 0;
  for (int round = 0; round < 600; ++round) {
    std::vector<int64_t> shape = shapes[random() % std::size(shapes)], elements(24);
    std::iota(elements.begin(), elements.end(), 0);
    Factors factors(shape);
    bool fine = true;
    for (int step = 0; step < 5 && fine; ++step) {
      if (random() % 2 == 0) {
        shape = shapes[random() % std::size(shapes)];
        fine = factors.Reshape(shape);
        continue;
      }
      std::vector<int64_t> perms(shape.size()), next;
      std::iota(perms.begin(), perms.end(), 0);
      std::shuffle(perms.begin(), perms.end(), random);
      factors.Transpose(perms);
      elements = Transposed(elements, shape, perms);
      for (const int64_t axis : perms) next.push_back(shape[axis]);
      shape = next;
    }
    if (!fine) continue;
    ++followed;
    const Movement movement = factors.Narrowest();
    std::vector<int64_t> source(24);
    std::iota(source.begin(), source.end(), 0);
    CHECK(Transposed(source, movement.extents, movement.perms) == elements);
  }
  CHECK_GT(followed, 100);
  Factors odd(std::vector<int64_t>{6, 4});
  CHECK_FALSE(odd.Reshape(std::vector<int64_t>{4, 6}));
  CHECK_FALSE(odd.Reshape(std::vector<int64_t>{6, 4, 2}));
  CHECK_FALSE(odd.Reshape(std::vector<int64_t>{0, 4}));
}

TEST_CASE("targets by name") {
  CHECK_EQ(FindTosaTarget("Ethos-U55-128")->spec, "TOSA-1.0+INT+int16+int4+u55");
  CHECK_EQ(FindTosaTarget("tosa-1.0+int+int16")->spec, "TOSA-1.0+INT+int16");
  CHECK_EQ(FindTosaTarget("tosa-1.0+int+int16+int4")->spec, "TOSA-1.0+INT+int16+int4");
  CHECK_EQ(FindTosaTarget("ethos-u99").status().code(), absl::StatusCode::kNotFound);
  for (const std::string_view other : {"tosa-9", "TOSA-9.9+XX", "tosa-1.1+fp+shape"}) {  // C17, F17
    const absl::Status status = FindTosaTarget(other).status();
    CHECK_EQ(CheckIdOf(status), "target_c3");
    for (const TosaTargetRow& row : TosaTargets())
      CHECK(status.message().find(absl::string_view(row.name.data(), row.name.size())) != std::string::npos);
  }
}

}  // namespace
}  // namespace tare
