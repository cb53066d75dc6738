// What a rule function needs to run in a test, and tensors written briefly.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ir/context.h"
#include "meta/context_factory.h"
#include "meta/functions.h"
#include "meta/rule_state.h"

namespace tare {

struct RuleFixture {
  std::unique_ptr<Context> owned = MakeContext();
  Context& context = *owned;
  RuleContext::State state;
  RuleContext rc{state};

  RuleFixture() { state.context = &context; }

  Dim Symbol(std::string_view name) {
    SymbolRow row;
    row.name = name;
    row.min = 2;
    return context.syms.Symbol(row);
  }
  Dim Unbacked(std::string_view name) {
    SymbolRow row;
    row.name = name;
    row.kind = SymbolKind::kUnbacked;
    return context.syms.Symbol(row);
  }
  std::span<const Dim> Dims(std::initializer_list<int64_t> values) {
    const std::span<Dim> dims = rc.NewDims(values.size());
    size_t k = 0;
    for (const int64_t value : values) dims[k++] = context.syms.Int(value);
    return dims;
  }
  std::span<const Dim> DimsOf(std::initializer_list<Dim> values) {
    const std::span<Dim> dims = rc.NewDims(values.size());
    std::copy(values.begin(), values.end(), dims.begin());
    return dims;
  }
  // Contiguous where no strides are given.
  const TensorMeta* Tensor(std::span<const Dim> shape, std::span<const Dim> strides = {}, DType dtype = DType::kF32) {
    TensorMeta tensor;
    tensor.dtype = dtype;
    tensor.shape = shape;
    tensor.strides = strides.empty() ? ContiguousStrides(rc, shape) : strides;
    return rc.NewTensor(tensor);
  }
  std::string Text(std::span<const Dim> dims) {
    std::string text;
    for (const Dim dim : dims) text += (text.empty() ? "" : ",") + context.syms.Print(dim);
    return text;
  }
  std::string Text(const absl::StatusOr<std::span<const Dim>>& dims) {
    return dims.ok() ? Text(*dims) : "error " + CheckIdOf(dims.status());
  }
};

}  // namespace tare
