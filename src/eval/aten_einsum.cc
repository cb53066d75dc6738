// ATen's einsum by its definition: a sum over every assignment of the letters. Source: torch/functional.py, einsum.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "ir/status.h"

namespace tare {
namespace {

// Letters per operand and of the result; a dim behind `...` is named by a digit, the last one 0.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

absl::Status Wrong(const KernelCall& call) {
  return InvalidError("eval_c16", call.op_name(), ": the equation does not fit the tensors");
}

bool Expand(std::string& labels, size_t dots) {
  const size_t at = labels.find("...");
  if (at == std::string::npos) return true;
  if (dots > 10) return false;
  std::string digits;
  for (size_t i = dots; i-- > 0;) digits += static_cast<char>('0' + i);
  labels.replace(at, 3, digits);
  return true;
}

absl::StatusOr<Equation> Parse(const KernelCall& call, std::string_view text, std::span<const Tensor* const> tensors) {
  std::string plain;
  for (const char letter : text)
    if (letter != ' ') plain += letter;
  const size_t arrow = plain.find("->");
  const std::string inputs = plain.substr(0, arrow);
  Equation e;
  size_t at = 0, most = 0;
  for (const Tensor* tensor : tensors) {
    if (tensor == nullptr || at > inputs.size()) return Wrong(call);
    const size_t comma = std::min(inputs.find(',', at), inputs.size());
    std::string labels = inputs.substr(at, comma - at);
    const auto rank = static_cast<size_t>(tensor->rank());
    if (labels.find("...") != std::string::npos) {
      if (rank + 3 < labels.size()) return Wrong(call);
      most = std::max(most, rank + 3 - labels.size());
      if (!Expand(labels, rank + 3 - labels.size())) return Wrong(call);
    }
    if (labels.size() != rank) return Wrong(call);
    for (const char label : labels)
      if (std::isalnum(static_cast<unsigned char>(label)) == 0) return Wrong(call);
    e.operands.push_back(std::move(labels));
    at = comma + 1;
  }
  if (arrow != std::string::npos) {
    e.result = plain.substr(arrow + 2);
    if (!Expand(e.result, most)) return Wrong(call);
  } else {
    std::string all, once;
    for (const std::string& labels : e.operands) all += labels;
    for (const char label : all)
      if (std::isdigit(static_cast<unsigned char>(label)) == 0 && std::count(all.begin(), all.end(), label) == 1)
        once += label;
    std::sort(once.begin(), once.end());
    for (size_t i = most; i-- > 0;) e.result += static_cast<char>('0' + i);
    e.result += once;
  }
  return e;
}

absl::StatusOr<Value> Einsum(KernelCall& call) {
  const std::vector<const Tensor*> tensors = call.tensors("tensors");
  const std::string_view text = call.text("equation");
  TARE_RETURN_IF_ERROR(call.status());
  if (tensors.empty()) return Wrong(call);
  TARE_ASSIGN_OR_RETURN(const Equation e, Parse(call, text, tensors));
  std::array<int64_t, 128> extents = {};
  std::string letters = e.result;  // those of the result first, so that they vary slowest
  for (size_t k = 0; k < tensors.size(); ++k)
    for (size_t i = 0; i < e.operands[k].size(); ++i) {
      const auto label = static_cast<unsigned char>(e.operands[k][i]);
      const int64_t extent = tensors[k]->extent(static_cast<int>(i));
      int64_t& known = extents[label];
      if (known > 1 && extent > 1 && known != extent) return Wrong(call);
      known = known <= 1 ? extent : known;
      if (letters.find(e.operands[k][i]) == std::string::npos) letters += e.operands[k][i];
    }
  Extents shape, all;
  for (const char letter : e.result) {
    if (std::count(e.result.begin(), e.result.end(), letter) != 1 || extents[static_cast<unsigned char>(letter)] == 0)
      return Wrong(call);
    shape.push_back(extents[static_cast<unsigned char>(letter)]);
  }
  for (const char letter : letters) all.push_back(extents[static_cast<unsigned char>(letter)]);
  TARE_ASSIGN_OR_RETURN(const int64_t steps, CountElements(all));
  // strides[k][j]: elements of operand k from one value of letter j to the next
  std::vector<Tensor> operands;
  std::vector<Extents> strides;
  const DType dtype = call.result_dtype().value_or(tensors[0]->dtype());
  for (size_t k = 0; k < tensors.size(); ++k) {
    TARE_ASSIGN_OR_RETURN(Tensor operand, Converted(call, *tensors[k], dtype));
    const Extents own = ContiguousStrides(operand.shape());
    Extents by_letter(letters.size(), 0);
    for (size_t i = 0; i < e.operands[k].size(); ++i)
      if (operand.extent(static_cast<int>(i)) > 1) by_letter[letters.find(e.operands[k][i])] += own[i];
    operands.push_back(std::move(operand));
    strides.push_back(std::move(by_letter));
  }
  return AsValue(VisitFloats(dtype, call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(dtype, shape));
    const int64_t inner = result.size() == 0 ? 0 : steps / result.size();
    Extents index(letters.size(), 0), at(operands.size(), 0);
    for (int64_t to = 0; to < result.size(); ++to) {
      double sum = 0;
      for (int64_t i = 0; i < inner; ++i) {
        double product = 1;
        for (size_t k = 0; k < operands.size(); ++k) product *= static_cast<double>(operands[k].data<T>()[at[k]]);
        sum += product;
        for (size_t j = letters.size(); j-- > 0;) {
          for (size_t k = 0; k < operands.size(); ++k) at[k] += strides[k][j];
          if (++index[j] < all[j]) break;
          for (size_t k = 0; k < operands.size(); ++k) at[k] -= strides[k][j] * all[j];
          index[j] = 0;
        }
      }
      result.mutable_data<T>()[to] = static_cast<T>(sum);
    }
    return result;
  }));
}

constexpr KernelRow kRows[] = {
    {"aten.einsum.default", Einsum},
};

}  // namespace

std::span<const KernelRow> AtenEinsumKernels() { return kRows; }

}  // namespace tare
