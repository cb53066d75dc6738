// `tare run`: what a program computes.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "backends/tosa/program_file.h"
#include "eval/eval.h"
#include "ir/context.h"
#include "ir/status.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/session.h"
#include "tools/tensor_io.h"
#include "tools/verbs.h"

namespace tare {
namespace {

constexpr int kShownElements = 8;

void Put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// Parameters of the result of a placeholder, or of operand `index` of the output node; null when there are none.
const QuantParams* ParamsOf(const Program& program, NodeId node, int index) {
  const QuantId quant = program.main().quant(node);
  if (!quant.has_value() || quant.index == 0) return nullptr;
  const QuantRecord& record = program.context->quants.Get(quant);
  if (index < 0) return record.has_result ? &record.result : nullptr;
  if (index >= static_cast<int>(record.operands.size()) || record.operands[index].storage == DType::kBool)
    return nullptr;
  return &record.operands[index];
}

// A number as a tensor without axes; an empty tensor for what is none.
absl::StatusOr<Tensor> TensorOf(const Value& value) {
  const bool real = value.kind == ValueKind::kFloat, truth = value.kind == ValueKind::kBool;
  if (value.kind == ValueKind::kTensor) return value.tensor;
  if (!real && !truth && value.kind != ValueKind::kInt) return Tensor();
  TARE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Make(real    ? DType::kF64
                                                    : truth ? DType::kBool
                                                            : DType::kI64,
                                                    {}, nullptr));
  if (real) {
    tensor.mutable_data<double>()[0] = value.real;
  } else if (truth) {
    tensor.mutable_data<uint8_t>()[0] = value.integer != 0;
  } else {
    tensor.mutable_data<int64_t>()[0] = value.integer;
  }
  return tensor;
}

// One of the user's outputs.
struct Output {
  size_t index = 0;  // among the user's
  Tensor tensor;
};

std::string ElementText(const Tensor& tensor, int64_t i) {
  const double value = ElementAsReal(tensor, i);
  return IsFloating(tensor.dtype()) ? absl::StrFormat("%.6g", value) : absl::StrFormat("%.0f", value);
}

void PrintOutput(const Output& output) {
  std::string line = absl::StrFormat("output %d  %s ", output.index, Describe(output.tensor));
  for (int64_t i = 0; i < std::min<int64_t>(output.tensor.size(), kShownElements); ++i)
    CatTo(line, " ", ElementText(output.tensor, i));
  Put(line + (output.tensor.size() > kShownElements ? " ...\n" : "\n"));
}

std::string Verdict(const Difference& d, const Tensor& got, const Tensor& want) {
  if (!d.same_type) return Cat(Describe(got), " where ", Describe(want), " was expected");
  return absl::StrFormat("max abs %.3g, max rel %.3g, %d of %d differ, %d by more than 1, %d beyond the tolerance",
                         d.max_abs, d.max_rel, d.differing, d.elements, d.more_than_one, d.beyond);
}

// JSON has no infinity.
void Distance(JsonWriter& json, std::string_view name, double value) {
  json.Key(name);
  if (std::isfinite(value)) {
    json.Value(value);
  } else {
    json.Null();
  }
}

class Running {
 public:
  explicit Running(const RunVerbOptions& options) : options_(options) {}

  int Run() {
    if (const ExitCode code = session_.AddOpsFiles(options_.ops_files); code != kExitOk) return code;
    const absl::StatusOr<Program> program = ReadAnyProgramFile(session_.context(), options_.file);
    if (!program.ok()) return ComplainOfInput(options_.file, program.status());
    std::vector<Value> inputs;
    if (const ExitCode code = ReadInputs(*program, inputs); code != kExitOk) return code;
    EvalOptions eval;
    eval.memory_limit_bytes = options_.memory_mb << 20;
    absl::StatusOr<EvalResult> result = Evaluate(*program, inputs, eval);
    if (!result.ok()) return Complain(options_.file, result.status());
    if (const ExitCode code = CollectOutputs(*program, *result); code != kExitOk) return code;
    if (const ExitCode code = Write(); code != kExitOk) return code;
    return Report();
  }

 private:
  ExitCode ReadInputs(const Program& program, std::vector<Value>& inputs) const {
    // Files may be given for the inputs that are constants of the program, too; those are passed over.
    std::vector<NodeId> placeholders, all;
    for (size_t i = 0; i < program.main().inputs().size(); ++i) {
      const InputKind kind = i < program.inputs.size() ? program.inputs[i].kind : InputKind::kUser;
      if (kind == InputKind::kUser) placeholders.push_back(program.main().inputs()[i]);
      if (kind == InputKind::kUser || kind == InputKind::kConstantInput) all.push_back(program.main().inputs()[i]);
    }
    std::vector<std::string> files;
    for (size_t i = 0, next = 0; i < options_.inputs.size(); ++i) {
      const bool user = next < placeholders.size() && i < all.size() && all[i] == placeholders[next];
      if (options_.inputs.size() == all.size() && !user) continue;
      next += user ? 1 : 0;
      files.push_back(options_.inputs[i]);
    }
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string& file = files[i];
      absl::StatusOr<Tensor> tensor = ReadTensor(file);
      if (!tensor.ok()) return ComplainOfInput(file, tensor.status());
      if (i < placeholders.size()) {
        const Meta& meta = session_.context().metas.Get(program.main().meta(placeholders[i]));
        const QuantParams* params = ParamsOf(program, placeholders[i], -1);
        if (options_.quantize && params != nullptr && tensor->dtype() == DType::kF32 &&
            meta.kind == MetaKind::kTensor && IsInteger(meta.tensor.dtype)) {
          tensor = Quantize(*tensor, *params);
        } else {
          tensor = AsStated(*tensor, meta);
        }
        if (!tensor.ok()) return Complain(file, tensor.status());
        if (meta.kind == MetaKind::kInt && IsInteger(tensor->dtype()) && tensor->size() == 1) {
          inputs.push_back(Value::Int(static_cast<int64_t>(ElementAsReal(*tensor, 0))));
          continue;
        }
      }
      inputs.emplace_back(*std::move(tensor));
    }
    return kExitOk;
  }

  ExitCode CollectOutputs(const Program& program, const EvalResult& result) {
    size_t next = 0;
    for (size_t i = 0; i < result.outputs.size(); ++i) {
      if (i < program.outputs.size() && program.outputs[i].kind != OutputKind::kUser) continue;
      const size_t index = next++;
      absl::StatusOr<Tensor> computed = TensorOf(result.outputs[i]);
      if (!computed.ok()) return Complain(options_.file, computed.status());
      Tensor tensor = *std::move(computed);
      if (result.outputs[i].kind == ValueKind::kNone || result.outputs[i].kind == ValueKind::kList) continue;
      const QuantParams* params = ParamsOf(program, program.main().last(), static_cast<int>(i));
      if (options_.quantize && params != nullptr && IsInteger(tensor.dtype())) {
        absl::StatusOr<Tensor> real = Dequantize(tensor, *params);
        if (!real.ok()) return Complain(options_.file, real.status());
        tensor = *std::move(real);
      }
      outputs_.push_back({index, std::move(tensor)});
    }
    return kExitOk;
  }

  ExitCode Write() const {
    if (options_.output.empty()) return kExitOk;
    for (const Output& output : outputs_) {
      const std::string path = Cat(options_.output, output.index, ".npy");
      if (const absl::Status status = WriteTensor(output.tensor, path); !status.ok())
        return ComplainOfInput(path, status);
    }
    return kExitOk;
  }

  int Report() const {
    ExitCode code = kExitOk;
    std::vector<Difference> differences;
    std::vector<Tensor> wanted;
    Meta narrow;
    narrow.kind = MetaKind::kTensor;
    narrow.tensor.dtype = DType::kI32;
    if (options_.compare.size() > outputs_.size()) {
      return Complain(options_.file, InvalidError("run_c3", options_.compare.size(), " files to compare with, ",
                                                  outputs_.size(), " outputs"));
    }
    for (size_t i = 0; i < options_.compare.size(); ++i) {
      absl::StatusOr<Tensor> want = ReadTensor(options_.compare[i]);
      if (!want.ok()) return ComplainOfInput(options_.compare[i], want.status());
      // As files hold them.
      Tensor got = outputs_[i].tensor;
      if (got.dtype() == DType::kI48) got = got.Viewed(DType::kI64);
      if (got.dtype() == DType::kBF16 && want->dtype() == DType::kU16) got = got.Viewed(DType::kU16);
      // Programs return 64 bits where files return 32.
      if (got.dtype() == DType::kI32 && want->dtype() == DType::kI64)
        if (absl::StatusOr<Tensor> fitting = AsStated(*want, narrow); fitting.ok()) want = *std::move(fitting);
      differences.push_back(Compare(got, *want, options_.tolerance));
      wanted.push_back(*std::move(want));
      if (!differences.back().same_type || differences.back().beyond > 0) code = kExitNo;
    }
    if (options_.json) {
      PrintJson(differences);
      return code;
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (i >= differences.size()) {
        PrintOutput(outputs_[i]);
      } else {
        Put(absl::StrFormat("output %d  %s  %s\n", outputs_[i].index, Describe(outputs_[i].tensor),
                            Verdict(differences[i], outputs_[i].tensor, wanted[i])));
      }
    }
    return code;
  }

  void PrintJson(const std::vector<Difference>& differences) const {
    JsonWriter json;
    json.Object([&] {
      json.Field("file", options_.file);
      json.Key("outputs");
      json.Array([&] {
        for (size_t i = 0; i < outputs_.size(); ++i) {
          json.Object([&] {
            json.Field("index", outputs_[i].index);
            json.Field("type", Describe(outputs_[i].tensor));
            if (i >= differences.size()) return;
            const Difference& d = differences[i];
            json.Field("same_type", d.same_type);
            json.Field("elements", d.elements);
            json.Field("differing", d.differing);
            json.Field("more_than_one", d.more_than_one);
            json.Field("beyond_tolerance", d.beyond);
            Distance(json, "max_abs", d.max_abs);
            Distance(json, "max_rel", d.max_rel);
          });
        }
      });
    });
    json.Print();
  }

  const RunVerbOptions& options_;
  mutable Session session_;
  std::vector<Output> outputs_;
};

}  // namespace

int RunRun(const RunVerbOptions& options) { return Running(options).Run(); }

}  // namespace tare
