#include "tools/op_examples.h"

#include "ir/status.h"

namespace tare {

std::optional<OpExample> ExampleOf(GoldenChecker& checker, std::string_view op) {
  const std::string_view text = OpExamplesText();
  const std::string start = Cat("\n", op, "(");
  const size_t at = text.find(start);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + 1);
  auto line = SplitGoldenLine(rest.substr(0, rest.find('\n')));
  if (!line.ok() || !line->has_value()) return std::nullopt;
  OpExample example;
  example.call = (*line)->call;
  if (!(*line)->spec.empty()) example.call += " | spec=" + (*line)->spec;
  if (!(*line)->facts.empty()) example.call += ((*line)->spec.empty() ? " | " : ", ") + (*line)->facts;
  (*line)->want.clear();
  example.answer = checker.Check(**line).got;
  return example;
}

}  // namespace tare
