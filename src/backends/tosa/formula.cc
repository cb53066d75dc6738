#include "backends/tosa/formula.h"

#include <cmath>

namespace tare {

DType FormulaCall::computed() const {
  const DType to = dtype();
  return IsInteger(to) && to != DType::kI64 ? DType::kI32 : to;
}

Node FormulaCall::In(std::string_view name, std::optional<DType> wanted) const {
  if (!emit.ok()) return Node();
  const DType to = wanted.value_or(computed());
  if (const Node tensor = node.arg(name); tensor.has_value() && tensor.is_tensor()) return m.Convert(tensor, to);
  std::optional<double> number = node.number(name);
  if (const std::optional<bool> flag = node.flag(name); !number.has_value() && flag.has_value()) number = *flag ? 1 : 0;
  if (!number.has_value()) return Refuse("an argument is neither a tensor nor a constant");
  if (!IsFloating(to) && *number != std::floor(*number)) return Refuse("a fraction among integers");
  return emit.Scalar("number", to, result.tensor().shape.size(), *number);
}

int64_t FormulaCall::Axis(std::string_view name, size_t rank) const {
  const std::optional<int64_t> axis = node.integer(name);
  const auto extent = static_cast<int64_t>(rank);
  if (!axis.has_value() || *axis < -extent || *axis >= extent) {
    Refuse("an axis that is not constant or not there");
    return 0;
  }
  return *axis < 0 ? *axis + extent : *axis;
}

}  // namespace tare
