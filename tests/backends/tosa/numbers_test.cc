// Programs of one call keep their numbers: evaluated as ATen and as what lowering makes of them. numbers.txt has a line
// for each.
#include "absl/strings/numbers.h"

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "../../test_files.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/tosa/lower.h"
#include "backends/tosa/pass_list.h"
#include "doctest/doctest.h"
#include "eval/eval.h"
#include "ir/status.h"
#include "ir/text.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "passes/pipeline.h"

namespace tare {
namespace {

// `f32[2,3]`, `f32[2]+` (positive), `f32[2]~` (within -1 and 1), `i8[2]@0.5,3` (scale and zero point).
struct Input {
  std::string type;
  char range = ' ';
  std::string scale, zero_point;
};

Input ParseInput(const std::string& word) {
  const size_t close = word.find(']');
  Input input{word.substr(0, close + 1)};
  const std::string rest = word.substr(close + 1);
  if (rest.empty()) return input;
  input.range = rest[0];
  if (rest[0] != '@') return input;
  const std::vector<std::string> parts = absl::StrSplit(rest.substr(1), ',');
  input.scale = parts[0];
  input.zero_point = parts[1];
  return input;
}

std::string Quantisation(const Input& q) {
  const std::string dtype = q.type.substr(0, q.type.find('['));
  const bool wide = dtype == "i16";
  return absl::StrCat("scale=", q.scale, ", zero_point=", q.zero_point, ", quant_min=", wide ? -32768 : -128,
                      ", quant_max=", wide ? 32767 : 127, ", dtype=", dtype, ")\n");
}

// The program of `call` on inputs %a, %b, …, dequantised where they are integers with a scale.
std::string ProgramOf(const std::vector<Input>& inputs, std::string call, const std::optional<Input>& result) {
  std::string head, body;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    const bool quantised = !inputs[i].scale.empty();
    absl::StrAppend(&head, i > 0 ? ", " : "", "%", quantised ? "q" : "", name, ": ", inputs[i].type);
    if (quantised)
      absl::StrAppend(&body, " %", name, " = quantized_decomposed.dequantize_per_tensor.default(%q", name, ", ",
                      Quantisation(inputs[i]));
  }
  const size_t last = call.rfind("; ");
  const std::string before = last == std::string::npos ? "" : call.substr(0, last);
  if (!before.empty())
    for (const absl::string_view step : absl::StrSplit(before, "; ")) absl::StrAppend(&body, " ", step, "\n");
  absl::StrAppend(&body, " %y = ", last == std::string::npos ? call : call.substr(last + 2), "\n");
  if (result.has_value())
    absl::StrAppend(&body, " %z = quantized_decomposed.quantize_per_tensor.default(%y, ", Quantisation(*result));
  return absl::StrCat("graph main(", head, ") {\n", body, " return ", result.has_value() ? "%z" : "%y", "\n}\n");
}

// The same in every run; small integers, so that they may be places.
Value ValueOf(const TensorMeta& meta, const Input& input, uint64_t& state) {
  std::vector<int64_t> shape;
  for (const Dim dim : meta.shape) shape.push_back(dim.value());
  Tensor tensor = *Tensor::Make(meta.dtype, shape, nullptr);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<int64_t>(state >> 40);  // 24 bits
    const double unit = static_cast<double>(bits) / 16777216.0;
    switch (meta.dtype) {
      case DType::kF32:
        tensor.mutable_data<float>()[i] = static_cast<float>(input.range == '+'   ? 0.1 + 2 * unit
                                                             : input.range == '~' ? 1.8 * unit - 0.9
                                                                                  : 4 * unit - 2);
        break;
      case DType::kI8:
        tensor.mutable_data<int8_t>()[i] = static_cast<int8_t>(bits);
        break;
      case DType::kI16:
        tensor.mutable_data<int16_t>()[i] = static_cast<int16_t>(bits);
        break;
      case DType::kI32:
        tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(bits % 3) - (input.range == '~' ? 1 : 0);
        break;
      case DType::kI64:
        tensor.mutable_data<int64_t>()[i] = bits % 3;
        break;
      default:
        tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(bits & 1);
    }
  }
  return Value(std::move(tensor));
}

Value Narrowed(const Value& value) {
  if (value.tensor.dtype() != DType::kI64) return value;
  Tensor narrow = *Tensor::Make(DType::kI32, value.tensor.shape(), nullptr);
  for (int64_t i = 0; i < narrow.size(); ++i)
    narrow.mutable_data<int32_t>()[i] = static_cast<int32_t>(value.tensor.data<int64_t>()[i]);
  return Value(std::move(narrow));
}

double ElementOf(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return static_cast<double>(tensor.data<float>()[i]);
    case DType::kI8:
      return tensor.data<int8_t>()[i];
    case DType::kI16:
      return tensor.data<int16_t>()[i];
    case DType::kI32:
      return tensor.data<int32_t>()[i];
    case DType::kI64:
      return static_cast<double>(tensor.data<int64_t>()[i]);
    default:
      return tensor.data<uint8_t>()[i];
  }
}

// Where both differ by more than the dtype of the wanted one allows; empty when nowhere.
std::string Difference(const Tensor& got, const Tensor& want, bool quantised) {
  if (got.size() != want.size()) return "sizes differ";
  const bool floats = want.dtype() == DType::kF32;
  for (int64_t i = 0; i < want.size(); ++i) {
    const double a = ElementOf(got, i), b = ElementOf(want, i);
    const double allowed = floats ? 1e-4 * std::max(1.0, std::abs(b)) : quantised ? 1 : 0;
    if (std::abs(a - b) <= allowed || a == b || (std::isnan(a) && std::isnan(b))) continue;
    return absl::StrCat("element ", i, " is ", a, ", not ", b);
  }
  return "";
}

// One line of the file: a program, inputs for it, and whether its results stand for reals.
struct Line {
  std::unique_ptr<Context> context = MakeContext();
  Program program;
  std::vector<Value> values;
  bool quantised = false;
};

// What is wrong with the line, if anything.
std::string Read(const std::string& text, Line& line) {
  const std::vector<std::string> parts = absl::StrSplit(text, " | ");
  if (parts.size() != 2) return "no line of two parts";
  std::vector<Input> inputs;
  for (const absl::string_view word : absl::StrSplit(parts[0], ' ')) inputs.push_back(ParseInput(std::string(word)));
  const size_t arrow = parts[1].find(" -> ");
  std::optional<Input> result;
  if (arrow != std::string::npos) {
    const std::string type = parts[1].substr(arrow + 4);
    result = ParseInput(type.substr(0, type.find('@')) + "[]" + type.substr(type.find('@')));
  }
  line.quantised = result.has_value();
  const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*line.context, {});
  absl::StatusOr<Program> program =
      ParseProgram(*line.context, ProgramOf(inputs, parts[1].substr(0, arrow), result), inferrer.get());
  if (!program.ok()) return absl::StrCat("no program: ", program.status().message());
  line.program = *std::move(program);
  uint64_t state = 1;
  const Graph& graph = line.program.main();
  for (size_t i = 0; i < inputs.size(); ++i)
    line.values.push_back(ValueOf(line.context->metas.Get(graph.meta(graph.inputs()[i])).tensor, inputs[i], state));
  return "";
}

// Where the lowered program differs from `want`.
std::string Compare(Line& line, const EvalResult& want) {
  // 64-bit integers that only become 32-bit ones are given as those. Constants come before the inputs.
  std::vector<Value>& values = line.values;
  const Graph& graph = line.program.main();
  const std::span<const NodeId> nodes = graph.inputs();
  for (size_t i = 0; i < values.size(); ++i) {
    const MetaId meta = graph.meta(nodes[nodes.size() - values.size() + i]);
    if (line.context->metas.Get(meta).tensor.dtype == DType::kI32) values[i] = Narrowed(values[i]);
  }
  const absl::StatusOr<EvalResult> got = Evaluate(line.program, values);
  if (!got.ok()) return absl::StrCat("after: ", got.status().message());
  return Difference(got->outputs[0].tensor, want.outputs[0].tensor, line.quantised);
}

std::string Check(const std::string& text, std::string_view target) {
  Line line;
  if (const std::string wrong = Read(text, line); !wrong.empty()) return wrong;
  const absl::StatusOr<EvalResult> want = Evaluate(line.program, line.values);
  if (!want.ok()) return absl::StrCat("before: ", want.status().message());
  const absl::StatusOr<TosaTarget> found = FindTosaTarget(target);
  if (!found.ok()) return "no target";
  const absl::StatusOr<LowerResult> lowered = LowerToTosa(line.program, *found);
  if (!lowered.ok()) return absl::StrCat("lowering: ", lowered.status().message());
  if (!lowered->outside.empty())
    return absl::StrCat("outside: ", lowered->outside[0].check_id, " ", lowered->outside[0].why);
  return Compare(line, *want);
}

// Refuses the TOSA op that is asked about for the `at`th time.
class Refusing final : public Inferrer {
 public:
  Refusing(const Context& context, Inferrer& rules, int at) : context_(context), rules_(rules), left_(at) {}
  absl::StatusOr<InferResult> Infer(Op op, AttrsId attrs, std::span<const MetaId> operands, QuantId quant,
                                    NodePlace place) override {
    if (context_.ops.Name(op).starts_with("tosa.") && left_-- == 0)
      return UnimplementedError("test_c1", "a target that lacks it");
    return rules_.Infer(op, attrs, operands, quant, place);
  }
  bool refused() const { return left_ < 0; }

 private:
  const Context& context_;
  Inferrer& rules_;
  int left_;
};

// A lowering whose `at`th TOSA op is refused, in a text; `refused` says whether there are that many.
std::string CheckRefusal(const std::string& text, const TosaTarget& target, int at, bool& refused) {
  Line line;
  if (const std::string wrong = Read(text, line); !wrong.empty()) return wrong;
  const absl::StatusOr<EvalResult> want = Evaluate(line.program, line.values);
  if (!want.ok()) return absl::StrCat("before: ", want.status().message());
  const absl::StatusOr<Pipeline> pipeline = [&]() -> absl::StatusOr<Pipeline> {
    for (const PipelineText& row : BuiltinPipelines())
      if (row.name == target.pipeline) return ParsePipeline(*line.context, AllPasses(), row.name, row.text);
    return absl::NotFoundError("no pipeline");
  }();
  InferrerOptions options;
  options.spec = target.spec;
  const std::unique_ptr<Inferrer> rules = MakeInferrer(*line.context, options);
  Refusing refusing(*line.context, *rules, at);
  RunOptions verify;
  verify.verify = VerifyWhat::kAll;
  const auto passes = RunPipeline(line.program, refusing, *pipeline, verify);
  refused = refusing.refused();
  // A refusal where a pass only rewrites what is TOSA is an error, which says so.
  if (!passes.ok()) return CheckIdOf(passes.status()) == "test_c1" ? "" : std::string(passes.status().message());
  return Compare(line, *want);
}

TEST_CASE("one call keeps its numbers") {
  std::ifstream file(SourcePath("tests/backends/tosa/numbers.txt"));
  REQUIRE(file.good());
  std::string line, target;
  int checked = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    constexpr std::string_view kTarget = "target ";
    if (line.starts_with(kTarget)) {
      target = line.substr(kTarget.size());
      continue;
    }
    CAPTURE(line);
    CHECK_EQ(Check(line, target), "");
    ++checked;
  }
  CHECK(checked > 100);
}

TEST_CASE("an operator refused anywhere within a formula leaves the op, and its numbers") {
  std::ifstream file(SourcePath("tests/backends/tosa/numbers.txt"));
  REQUIRE(file.good());
  const bool all = std::getenv("TARE_ALL_REFUSALS") != nullptr;  // else one of each line, another for each
  std::string line;
  std::optional<TosaTarget> target;
  for (int number = 0; std::getline(file, line); ++number) {
    constexpr std::string_view kTarget = "target ";
    if (line.starts_with(kTarget)) target = *FindTosaTarget(line.substr(kTarget.size()));
    if (line.empty() || line[0] == '#' || line.starts_with(kTarget)) continue;
    bool refused = true;
    for (int at = all ? 0 : number % 7; refused; ++at) {
      CAPTURE(line);
      CAPTURE(at);
      CHECK_EQ(CheckRefusal(line, *target, at, refused), "");
      if (!all) break;
    }
  }
}

}  // namespace
}  // namespace tare
