#include "run_text.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/strings/str_split.h"
#include "eval/call.h"
#include "eval/eval.h"
#include "eval/half.h"
#include "eval/movement.h"
#include "ir/notation.h"
#include "ir/status.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare {
namespace {

Number ParseNumber(const std::string& word) {
  if (word == "true" || word == "false") return {ValueKind::kBool, word == "true", 0};
  if (word.find_first_of(".eniI") != std::string::npos && !word.starts_with("0x"))
    return {ValueKind::kFloat, 0, std::strtod(word.c_str(), nullptr)};
  return {ValueKind::kInt, static_cast<int64_t>(std::strtoll(word.c_str(), nullptr, 0)), 0};
}

template <typename T>
std::string PrintElements(const Tensor& tensor) {
  std::string text;
  for (const T v : tensor.data<T>()) {
    if constexpr (std::is_floating_point_v<T>) {
      char buffer[32];
      std::snprintf(buffer, sizeof buffer, " %.6g",
                    std::isnan(v) ? std::abs(static_cast<double>(v)) : static_cast<double>(v));
      text += buffer;
    } else if (tensor.dtype() == DType::kBool) {
      text += v != 0 ? " true" : " false";
    } else {
      text += " " + std::to_string(v);
    }
  }
  return text;
}

}  // namespace

absl::StatusOr<Tensor> ParseTensor(std::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  const std::optional<DType> dtype = DTypeByName(text.substr(0, open));
  if (!dtype || close == std::string_view::npos) return absl::InvalidArgumentError("no tensor");
  std::vector<int64_t> shape;
  for (const auto part : absl::StrSplit(std::string(text.substr(open + 1, close - open - 1)), ',', absl::SkipEmpty()))
    shape.push_back(std::strtoll(std::string(part).c_str(), nullptr, 10));
  const bool half = WidenedDType(*dtype) != *dtype;
  TARE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Make(WidenedDType(*dtype), shape, nullptr));
  std::vector<std::string> words = absl::StrSplit(std::string(text.substr(close + 1)), ' ', absl::SkipEmpty());
  if (words.size() == 1) words.resize(tensor.size(), std::string(words[0]));
  if (static_cast<int64_t>(words.size()) != tensor.size())
    return absl::InvalidArgumentError("another number of elements");
  const size_t bytes = ElementBytes(tensor.dtype());
  for (size_t i = 0; i < words.size(); ++i)
    std::memcpy(tensor.mutable_bytes().data() + i * bytes, ElementOf(tensor.dtype(), ParseNumber(words[i])).data(),
                bytes);
  if (!half) return tensor;
  const std::unique_ptr<Context> context = MakeContext();
  Value value(tensor);
  Meta meta;
  meta.kind = MetaKind::kTensor;
  meta.tensor.dtype = *dtype;
  TARE_RETURN_IF_ERROR(NarrowHalves(*context, meta, value, nullptr));
  return value.tensor;
}

std::string PrintTensor(const Tensor& tensor) {
  std::string text = Describe(tensor);
  switch (tensor.dtype()) {
    case DType::kBool:
    case DType::kU8:
      return text + PrintElements<uint8_t>(tensor);
    case DType::kI4:
    case DType::kI8:
      return text + PrintElements<int8_t>(tensor);
    case DType::kI16:
      return text + PrintElements<int16_t>(tensor);
    case DType::kI32:
      return text + PrintElements<int32_t>(tensor);
    case DType::kI48:
    case DType::kI64:
    case DType::kShape:
      return text + PrintElements<int64_t>(tensor);
    case DType::kF32:
      return text + PrintElements<float>(tensor);
    case DType::kF64:
      return text + PrintElements<double>(tensor);
    case DType::kF16:
    case DType::kBF16: {
      const Value value(tensor);
      return text + PrintElements<float>(WidenHalves(std::span(&value, 1), nullptr).value()[0].tensor);
    }
    default:
      return text + " ?";
  }
}

std::string PrintValue(const Value& value) {
  switch (value.kind) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kTensor:
      return PrintTensor(value.tensor);
    case ValueKind::kFloat:
      return PrintDouble(value.real);
    case ValueKind::kInt:
      return std::to_string(value.integer);
    case ValueKind::kBool:
      return value.integer != 0 ? "true" : "false";
    case ValueKind::kList: {
      std::string text;
      for (const Value& item : value.items) CatTo(text, text.empty() ? "" : "; ", PrintValue(item));
      return text;
    }
  }
  return "?";
}

std::string RunProgram(std::string_view text, const std::vector<std::string_view>& inputs, std::string_view spec) {
  const std::unique_ptr<Context> context = MakeContext();
  const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context, {.spec = std::string(spec)});
  const absl::StatusOr<Program> program = ParseProgram(*context, text, inferrer.get());
  if (!program.ok()) return Cat("no program: ", std::string(program.status().message()));
  if (const absl::Status status = Verify(*program); !status.ok())
    return Cat("no program: ", std::string(status.message()));
  std::vector<Value> values;
  for (const std::string_view input : inputs) {
    absl::StatusOr<Tensor> tensor = ParseTensor(input);
    if (!tensor.ok()) return Cat("no input: ", input);
    values.emplace_back(*std::move(tensor));
  }
  const absl::StatusOr<EvalResult> result = Evaluate(*program, values);
  if (!result.ok()) return Cat("error: ", CheckIdOf(result.status()));
  return PrintValue(Value::List(result->outputs));
}

std::string RunCall(std::string_view call, const std::vector<std::string_view>& inputs, std::string_view spec) {
  std::string text = "graph main(";
  for (size_t i = 0; i < inputs.size(); ++i) {
    CatTo(text, i > 0 ? ", " : "", "%", std::string(1, static_cast<char>('a' + i)), ": ",
          inputs[i].substr(0, inputs[i].find(']') + 1));
  }
  return RunProgram(Cat(text, ") {\n %y = ", call, "\n return %y\n}\n"), inputs, spec);
}

}  // namespace tare
