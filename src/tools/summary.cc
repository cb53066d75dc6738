#include "tools/summary.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

std::vector<NamedCount> MostFrequentFirst(const std::map<std::string, int64_t>& counts) {
  std::vector<NamedCount> rows;
  for (const auto& [name, count] : counts) rows.push_back({name, count});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const NamedCount& a, const NamedCount& b) { return a.count > b.count; });
  return rows;
}

void CountDTypes(const Context& context, MetaId meta_id, std::map<std::string, int64_t>& counts) {
  if (!meta_id.has_value()) return;
  const Meta& meta = context.metas.Get(meta_id);
  if (meta.kind == MetaKind::kTensor) ++counts[std::string(Name(meta.tensor.dtype))];
  for (MetaId item : meta.items) {  // one level: deeper nesting occurs in no result of an op
    const Meta& element = context.metas.Get(item);
    if (element.kind == MetaKind::kTensor) ++counts[std::string(Name(element.tensor.dtype))];
  }
}

void AddConstant(const Context& context, const Constant& constant, std::set<const void*>& seen, ConstantSummary& sum) {
  ++sum.tensors;
  sum.missing += constant.payload.missing ? 1 : 0;
  if (seen.insert(constant.payload.bytes.data()).second)
    sum.bytes += static_cast<int64_t>(constant.payload.bytes.size());
  if (!constant.meta.has_value()) return;
  const Meta& meta = context.metas.Get(constant.meta);
  if (meta.kind != MetaKind::kTensor) return;
  int64_t elements = 1;
  for (Dim dim : meta.tensor.shape) {
    if (!dim.is_static() || __builtin_mul_overflow(elements, dim.value(), &elements)) return;
  }
  sum.elements += elements;
}

void AddInputs(const Program& program, ProgramSummary& sum) {
  const Context& context = *program.context;
  std::set<const void*> seen;
  const std::span<const NodeId> placeholders = program.main().inputs();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const InputSpec spec = i < program.inputs.size() ? program.inputs[i] : InputSpec{};
    if (spec.kind == InputKind::kUser || spec.kind == InputKind::kConstantInput) {
      sum.user_inputs.push_back(absl::StrCat("%", TextPiece(program.main().NameOf(placeholders[i])), ": ",
                                             PrintMeta(context, program.main().meta(placeholders[i]))));
    }
    if (!spec.constant.has_value()) continue;
    const Constant& constant = program.constants[spec.constant.index];
    AddConstant(context, constant, seen,
                spec.kind == InputKind::kParameter ? sum.parameters
                : spec.kind == InputKind::kBuffer  ? sum.buffers
                                                   : sum.constants);
  }
}

void AddOutputs(const Program& program, ProgramSummary& sum) {
  const Graph& graph = program.main();
  if (!graph.last().has_value() || graph.op(graph.last()) != op::output) return;
  for (NodeId value : graph.operands(graph.last())) {
    sum.user_outputs.push_back(
        absl::StrCat("%", TextPiece(graph.NameOf(value)), ": ", PrintMeta(*program.context, graph.meta(value))));
  }
}

void AddSymbols(const Program& program, ProgramSummary& sum) {
  for (const auto& [name, range] : program.ranges) {
    const std::string min = range.min == INT64_MIN ? "-inf" : absl::StrCat(range.min);
    const std::string max = range.max == INT64_MAX ? "inf" : absl::StrCat(range.max);
    sum.symbols.push_back(absl::StrCat(name, " in [", min, ", ", max, "]"));
  }
}

}  // namespace

ProgramSummary Summarise(const Program& program) {
  const Context& context = *program.context;
  ProgramSummary sum;
  std::map<std::string, int64_t> ops, dtypes, no_rule;
  for (const ProgramGraph& owner : program.graphs) {
    for (NodeId node : owner.graph.nodes()) {
      const Op op = owner.graph.op(node);
      if (op == op::placeholder || op == op::output) continue;
      const std::string name(context.ops.Name(op));
      ++sum.nodes;
      ++ops[name];
      if (context.ops.Has(op, kDeclared)) ++no_rule[name];
      if (name.starts_with("quantized_decomposed.quantize")) ++sum.quantize;
      if (name.starts_with("quantized_decomposed.dequantize")) ++sum.dequantize;
      if (op != op::getitem) CountDTypes(context, owner.graph.meta(node), dtypes);
    }
  }
  sum.ops = MostFrequentFirst(ops);
  sum.dtypes = MostFrequentFirst(dtypes);
  sum.no_rule = MostFrequentFirst(no_rule);
  sum.functional = program.IsFunctional();
  AddInputs(program, sum);
  AddOutputs(program, sum);
  AddSymbols(program, sum);
  return sum;
}

}  // namespace tare
